package sandbox_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// A directory with a private top level: programs outside that replace files in it uncover nothing, and nothing comes back by itself.
func TestAViewOfADirectory(t *testing.T) {
	g := newGround(t)
	private := t.TempDir()
	if err := errors.Join(
		os.Chmod(private, 0o755), os.WriteFile(private+"/HEAD", []byte("ref: refs/heads/main\n"), 0o644), os.WriteFile(private+"/config", []byte("[core]\n\tbare = false\n"), 0o644),
		os.Symlink(sandbox.LivePlace+"/0/objects", private+"/objects"), os.Symlink(sandbox.LivePlace+"/0/refs", private+"/refs"), os.Mkdir(private+"/hooks", 0o755),
	); err != nil {
		t.Fatal(err)
	}
	dot := g.work + "/.git"
	view := sandbox.View{Path: dot, Private: private, Place: sandbox.LivePlace + "/0", Live: []string{"objects", "refs"}, Fixed: []string{"hooks"}}
	g.policy = g.policy.See([]sandbox.View{view}, nil)
	got := g.during(`git add file && git -c user.name=T -c user.email=t@example.com commit -qm one; echo x >>.git/config; echo x >.git/hooks/pre-commit; mv .git g`, func() {
		g.git("config", "branch.main.z", "y")
	}, `echo fsmonitor >>.git/config; git rev-parse main 2>&1 | grep -v fatal; echo fsmonitor >.git/commondir; mkdir -p .git/info; echo x >.git/info/attributes`)
	if got.closed != nil || strings.Contains(got.out, "fatal") {
		t.Error(got)
	}
	config, err := os.ReadFile(dot + "/config")
	if err != nil || strings.Contains(string(config), "fsmonitor") || !strings.Contains(string(config), "z = y") {
		t.Errorf("%s, %v", config, err)
	}
	for _, name := range []string{"/commondir", "/info/attributes", "/hooks/pre-commit", "/index"} {
		if _, err := os.Lstat(dot + name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	if _, err := os.Lstat(private + "/commondir"); err != nil {
		t.Error("it is not in the private directory either")
	}
	if _, err := os.Lstat(dot + "/refs/heads/main"); err != nil {
		t.Errorf("the commit is not there: %v, %v", err, got)
	}
}

// A protected file in a directory that commands write cannot be kept when a program outside replaces it. The result says so, also where the
// command wrote nothing.
func TestProtectedFilesThatAreReplaced(t *testing.T) {
	g := newGround(t)
	g.write("work/tenon.json", "{}")
	g.write("work/kept.yaml", "a: b")
	g.policy.Protected = append(g.policy.Protected, g.work+"/kept.yaml")
	got := g.during(`echo x >>tenon.json`, func() {
		g.write("work/new", "{}")
		if err := errors.Join(os.Rename(g.work+"/new", g.work+"/tenon.json"), os.WriteFile(g.work+"/kept.yaml", []byte("a: c"), 0o644)); err != nil {
			t.Error(err)
		}
	}, `echo x >>tenon.json; echo x >>kept.yaml`)
	replaced := ""
	for _, b := range got.blocked {
		if b.Replaced {
			replaced += b.String()
		}
	}
	if !strings.Contains(replaced, "could not protect "+g.work+"/tenon.json to the end") || strings.Contains(replaced, "kept.yaml") {
		t.Error(got)
	}
	if text, err := os.ReadFile(g.work + "/kept.yaml"); string(text) != "a: c" {
		t.Errorf("%q, %v", text, err)
	}
}

// No file that stays gives rights to others.
func TestAttributesThatStay(t *testing.T) {
	g := newGround(t)
	for _, script := range []string{
		`cp /usr/bin/id suidid; chmod 4755 suidid`, `cp /usr/bin/id suidid; chmod 2755 suidid`, `cp /usr/bin/id s; chmod u+s s`, `chown 1:1 file`, `chgrp 12 file`,
		`python3 -c 'import os; os.open("s", os.O_CREAT|os.O_WRONLY, 0o4755)' || exit 1`,
		`python3 -c 'import os; os.mknod("s", 0o104755)' || exit 1`, `python3 -c 'import os; os.setxattr("file", "user.x", b"y")' || exit 1`,
	} {
		if got := g.run(script); got.exit == 0 {
			t.Errorf("%s: %v", script, got)
		}
	}
	g.works(`cp -a file copy; chmod 755 copy; install -m 700 file other; mkdir -m 1777 d; touch -r file copy; chown "$(id -u):$(id -g)" copy; tar cf - file | (cd d && tar xpf -); sed -i s/m/n/ copy; python3 -c 'import shutil; shutil.copy2("file", "third")' || ! command -v python3`)
	entries, err := os.ReadDir(g.work)
	for _, e := range entries {
		info, failed := e.Info()
		if err = errors.Join(err, failed); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("%s has the mode %v", e.Name(), info.Mode())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// All temporary files have one size together.
func TestTemporaryFilesAreBounded(t *testing.T) {
	if info, err := os.Stat(bwrap); os.Getenv("WAY") == "bubblewrap" && err == nil && info.Mode()&os.ModeSetuid != 0 {
		return // it refuses to bound them
	}
	g := newGround(t)
	g.policy.Limits.Temporary = 24 << 20
	got := g.run(`for dir in /tmp /var/tmp /dev/shm; do head -c 4000000 /dev/zero >$dir/x || exit 3; done; for dir in /tmp /var/tmp /dev/shm; do head -c 9000000 /dev/zero >$dir/y; done; cat /tmp/[xy] /var/tmp/[xy] /dev/shm/[xy] | wc -c >size; echo x >/dev/.temporary/x; test ! -e /dev/.temporary/x`)
	text, err := os.ReadFile(g.work + "/size")
	if err != nil || len(strings.TrimSpace(string(text))) != 8 || string(text) > "26" {
		t.Errorf("%s, %v, %v", text, err, got)
	}
	named(t, got, "temporary files")
}
