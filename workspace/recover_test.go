//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

// unreported lets a script change a project without a report, as if the process had died. If wait is set, it returns only after the heartbeat
// shows that the process lived after the changes.
func (r *recorder) unreported(t *testing.T, text string, wait bool) {
	t.Helper()
	r.refuse = errors.New("the journal is full")
	_, err := r.WatchChanges(t.Context(), func() error {
		err := script(r.Dir(), text)
		// The sign of life has a time of its own, which can be long before the write of it. The next one is after that.
		var sign time.Time
		for done := time.Now(); wait && err == nil; runtime.Gosched() {
			last := r.alive()
			if !sign.IsZero() && last.After(sign) {
				return nil
			}
			if sign.IsZero() && last.Sub(done) > 30*time.Millisecond {
				sign = last
			}
		}
		return err
	})
	if !errors.Is(err, r.refuse) {
		t.Fatal(err)
	}
	r.told, r.refuse = nil, nil
}

func (r *recorder) found(t *testing.T, known map[string]*workspace.State) (found []workspace.Interrupted) {
	t.Helper()
	if err := workspace.Recover(
		t.Context(), r.baselines, "", r.store, func(time.Time) (map[string]*workspace.State, error) { return known, nil },
		func(_ context.Context, i workspace.Interrupted) error {
			found = append(found, i)
			return r.refuse
		},
	); !errors.Is(err, r.refuse) {
		t.Fatal(err)
	}
	return found
}

// Recover finds unreported changes by the same rules: it does not follow ignored or hidden files.
func TestFoundLater(t *testing.T) {
	dir, more := realDir(t), realDir(t)
	write(t, dir, map[string]string{
		"a": "a", "b": "b", "sub/c": "c", "secret/x": "s", ".gitignore": "*.log\n!keep.log\n/out/\n", "x.log": "", "keep.log": "k", "out/y": "",
		"venv/.gitignore": "*", "venv/lib/z": "z", "same": "same",
	})
	write(t, more, map[string]string{"m": "m"})
	link(t, "a", filepath.Join(dir, "link"))
	r := record(t, dir, workspace.Options{
		Roots: []string{more}, Hidden: []string{"secret"}, Label: func(context.Context) string { return "the call" },
	})
	if got := r.sh(t, "echo x >earlier; rm b"); got == "" {
		t.Fatal("nothing was reported")
	}
	r.unreported(t, "printf 2 >a; rm sub/c; echo x >secret/x; echo x >secret/new; echo >.gitignore; echo x >x.log; echo x >keep.log; echo x >venv/lib/z; echo x >venv/new; echo same | tr -d '\\n' >same; ln -sf same link; printf 2 >"+more+"/m", true)
	r.refuse = errors.New("the journal is full")
	r.found(t, nil)
	r.refuse = nil
	found := r.found(t, nil)
	if len(found) != 1 || found[0].Label != "the call" || len(found[0].Labels) != 1 || found[0].Note != "" {
		t.Fatalf("%+v", found)
	}
	for _, c := range found[0].Changes {
		if c.Unsure != "" || !c.Done {
			t.Errorf("%+v", c)
		}
	}
	want := fmt.Sprintf(
		".gitignore: -rw-r--r-- %.6s, -rw-r--r-- %.6s\na: -rw-r--r-- %.6s, -rw-r--r-- %.6s\nkeep.log: -rw-r--r-- %.6s, -rw-r--r-- %.6s\n"+
			"link: link to a, link to same\nsub/c: -rw-r--r-- %.6s, nothing",
		hashOf("*.log\n!keep.log\n/out/\n"), hashOf("\n"), hashOf("a"), hashOf("2"), hashOf("k"), hashOf("x\n"), hashOf("c"))
	var inside, others []workspace.Change
	for _, c := range found[0].Changes {
		if strings.HasPrefix(c.Path, dir) {
			inside = append(inside, c)
		} else {
			others = append(others, c)
		}
	}
	if got := words(dir, inside); got != want {
		t.Errorf("found\n%s\nwant\n%s", got, want)
	}
	if got, want := words(more, others), fmt.Sprintf("m: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("m"), hashOf("2")); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if len(r.found(t, nil)) != 0 {
		t.Error("it was found again")
	}
}

// Changes of the last moments have no certain author. Recover omits changes that the journal knows.
func TestFoundLaterUnsure(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a", "gone": "g", "known": "k", "removed": "r"})
	r := record(t, dir, workspace.Options{})
	r.unreported(t, "sleep 0.2; printf 2 >a; rm gone; printf 2 >known; rm removed", false)
	found := r.found(t, map[string]*workspace.State{
		filepath.Join(dir, "known"): {Hash: hashOf("2"), Size: 1, Mode: 0o644}, filepath.Join(dir, "removed"): nil,
	})
	if len(found) != 1 || len(found[0].Changes) != 2 {
		t.Fatalf("%+v", found)
	}
	for _, c := range found[0].Changes {
		if !strings.Contains(c.Unsure, "may have been dead already") {
			t.Errorf("%s: %q", c.Path, c.Unsure)
		}
	}
}

// A tree that is gone was not emptied by the command.
func TestFoundLaterWithoutATree(t *testing.T) {
	dir, more := realDir(t), filepath.Join(realDir(t), "more")
	write(t, dir, map[string]string{"a": "a"})
	write(t, more, map[string]string{"m": "m"})
	r := record(t, dir, workspace.Options{Roots: []string{more}})
	r.unreported(t, "rm a", true)
	if err := os.Rename(more, more+"2"); err != nil {
		t.Fatal(err)
	}
	found := r.found(t, nil)
	if len(found) != 1 || len(found[0].Changes) != 1 || !strings.Contains(found[0].Note, more) {
		t.Errorf("%+v", found)
	}
	if err := os.Rename(more+"2", more); err != nil {
		t.Fatal(err)
	}
}

// A workspace that is closed in peace leaves nothing but the changes that could not be reported.
func TestNothingIsLeftInPeace(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a"})
	r := record(t, dir, workspace.Options{})
	r.unreported(t, "rm a", false)
	if !workspace.MayRecover(r.baselines, "") {
		t.Error("nothing is left of the changes that could not be reported")
	}
	for i := range 3 {
		if got := r.sh(t, fmt.Sprintf("echo %d >b", i)); !strings.HasPrefix(got, "b: ") {
			t.Errorf("reported %q", got)
		}
	}
	if found := r.found(t, nil); len(found) != 1 || !strings.HasPrefix(words(dir, found[0].Changes), "a: ") {
		t.Errorf("found %+v", found)
	}
	if got := r.sh(t, "rm b"); !strings.HasPrefix(got, "b: ") {
		t.Errorf("reported %q", got)
	}
	if err := r.Close(); err != nil || workspace.MayRecover(r.baselines, "") {
		t.Errorf("records are left: %v", err)
	}
	if left, err := os.ReadDir(r.baselines); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
