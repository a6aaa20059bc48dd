package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// partly is a ground on a machine that has no namespaces for us.
func partly(t *testing.T) *ground {
	t.Helper()
	g := newGround(t)
	look := sandbox.Look()
	if look.Landlock == 0 {
		t.Skipf("this kernel has no Landlock: %+v", look)
	}
	look.Namespaces, look.Trouble = false, "refused for a test"
	g.policy = &sandbox.Policy{Writable: []string{g.work}, Protected: g.policy.Protected, Hidden: g.policy.Hidden, Partial: true}
	g.policy.Pretend(look)
	return g
}

func TestWithoutNamespaces(t *testing.T) {
	g := partly(t)
	g.works(`echo mine >new && cat new && cat "$OUT/victim" && cd / && ls >/dev/null && (sleep 0.01; true) | cat`)
	for name, script := range map[string]string{
		"write":              `echo x >"$OUT/victim"`,
		"write by a link":    `ln -s "$OUT/victim" l; echo x >l`,
		"write by hard link": `ln "$OUT/victim" h && echo x >h`,
		"a secret":           `cat ~/.ssh/id`,
		"another file":       `cat ~/.npmrc`,
		"kill":               `kill -9 "$VICTIM"`,
		"environment":        `cat "/proc/$PPID/environ"`,
		"TCP":                `ATTEMPT="dial tcp" TARGET=192.0.2.1:80 "$TRY"`,
		"UDP":                `ATTEMPT="dial udp" TARGET=192.0.2.1:53 "$TRY"`,
		"a namespace":        `unshare -Ur true`,
		"ptrace":             `ATTEMPT="ptrace attach" TARGET="$VICTIM" "$TRY"`,
		"a daemon on a path": fmt.Sprintf(`ATTEMPT="dial unix" TARGET=%q "$TRY"`, listen(t, "unix", g.out+"/s")),
	} {
		t.Run(name, func(t *testing.T) {
			got := g.run(script)
			if got.exit == 0 || strings.Contains(got.out, secretText) {
				t.Error(got)
			}
		})
	}
	if text, err := os.ReadFile(g.out + "/victim"); string(text) != "whole" || err != nil {
		t.Error(err)
	}
	t.Run("in the background", func(t *testing.T) {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		g.run(`( setsid sleep 1000 >/dev/null 2>&1 & )`, write)
		write.Close()
		if n, _ := read.Read(make([]byte, 1)); n != 0 {
			t.Error("something lives on")
		}
	})
}

// Weaker walls are a decision.
func TestWeakerWallsAreAskedFor(t *testing.T) {
	g := partly(t)
	cmd := exec.Command("true")
	cmd.Dir = g.work
	c, err := g.policy.Wrap(cmd)
	if err != nil || c.Level != sandbox.Partly || len(c.Gaps) == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(){
		func() { g.policy.Network.Hosts = []string{"example.com"} },
		func() { g.policy.Network.Hosts, g.policy.Partial = nil, false },
	} {
		change()
		_, err := g.policy.Wrap(exec.Command("true"))
		if unavailable := (*sandbox.UnavailableError)(nil); !errors.As(err, &unavailable) {
			t.Error(err)
		}
	}
}

// Where a command has no temporary files of its own, caches would lie in the project.
func TestCachesThatCannotBeMadeBehindWeakerWalls(t *testing.T) {
	g := partly(t)
	g.policy.Caches = g.work + "/file/caches"
	cmd := exec.Command("true")
	cmd.Dir = g.work
	if _, err := g.policy.Wrap(cmd); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("error = %v", err)
	}
}
