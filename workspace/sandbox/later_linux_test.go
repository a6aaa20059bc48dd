package sandbox_test

import (
	"os"
	"strings"
	"testing"
)

// A hidden path that appears between two commands is hidden from the second under every name.
func TestHiddenPlacesThatComeLater(t *testing.T) {
	g := newGround(t)
	g.policy.Hidden = append(g.policy.Hidden, g.work+"/secrets")
	look := `cat "$HOME/.kube/config" "$HOME/.vault-token" secrets/key; ls secrets; mkdir -p secrets && echo mine >secrets/key`
	if got := g.run(look); got.closed != nil || got.exit != 0 || strings.Contains(got.out, secretText) {
		t.Fatal(got)
	}
	g.write("home/.kube/config", secretText)
	g.write("home/elsewhere", secretText)
	g.write("work/secrets/key", secretText)
	if err := os.Symlink(g.home+"/elsewhere", g.home+"/.vault-token"); err != nil {
		t.Fatal(err)
	}
	got := g.run(look + `; cat "$HOME/elsewhere"`)
	if got.closed != nil || got.exit == 0 || strings.Contains(got.out, secretText) || strings.Contains(got.out, "\nkey\n") {
		t.Error(got)
	}
	if text, err := os.ReadFile(g.work + "/secrets/key"); string(text) != secretText {
		t.Errorf("it was changed to %q, %v", text, err)
	}
	if len(got.blocked) == 0 {
		t.Errorf("nothing is reported: %v", got)
	}
}

// A command cannot rename the parents of a hidden path in the project: under another name the next command would read it.
func TestHiddenPlacesKeepTheirNames(t *testing.T) {
	g := newGround(t)
	g.write("work/secrets/key", secretText)
	g.write("work/deep/er/key", secretText)
	g.write("work/real/key", secretText)
	if err := os.Symlink("real", g.work+"/link"); err != nil {
		t.Fatal(err)
	}
	g.policy.Hidden = append(g.policy.Hidden, g.work+"/secrets/key", g.work+"/deep/er", g.work+"/link/key")
	for _, script := range []string{
		`mv secrets s2; mv deep d2; mv deep/er e2; rm link; mv link l2; ln -sfn out link; mv real r2`,
		`cat s2/key d2/er/key e2/key real/key r2/key secrets/key deep/er/key link/key`,
	} {
		if got := g.run(script); got.closed != nil || got.exit == 0 || strings.Contains(got.out, secretText) {
			t.Error(got)
		}
	}
}

// A link that a command made in the place of something writable gives the next command nothing to write.
func TestLinksInTheProjectOpenNothing(t *testing.T) {
	g := newGround(t)
	g.policy.Writable = append(g.policy.Writable, g.work+"/build", g.work+"/a/b", g.dir+"/elsewhere")
	g.policy.Readable = append(g.policy.Readable, g.work+"/shown")
	covered, err := os.MkdirTemp("/dev/shm", "covered")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(covered) })
	if err := os.WriteFile(covered+"/file", []byte(secretText), 0o644); err != nil {
		t.Fatal(err)
	}
	g.works(`ln -s ../out build; ln -s .. a; ln -s ` + covered + ` shown`)
	if err := os.Symlink("work/file", g.dir+"/elsewhere"); err != nil { // one of the person
		t.Fatal(err)
	}
	got := g.run(`echo x >build/victim; echo x >build/new; cat shown/file; echo changed >"$OUT/../elsewhere"`)
	if got.closed != nil || len(got.blocked) == 0 || strings.Contains(got.out, secretText) {
		t.Error(got)
	}
	if text, err := os.ReadFile(g.work + "/file"); string(text) != "changed\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(g.dir + "/elsewhere"); err != nil {
		t.Fatal(err)
	}
	g.whole()
}

// What must not stay goes also when the command takes the rights to remove it away; the rest is as it was.
func TestWhatMustNotStay(t *testing.T) {
	for name, script := range map[string]string{
		"a file in a directory that cannot be written": `echo {} >tenon.json; echo ../c >.git/commondir; chmod 555 . .git`,
		"a directory that cannot be read":              `mkdir -p tenon.json/a/b; touch tenon.json/a/b/c; chmod 000 tenon.json/a/b tenon.json/a tenon.json`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			t.Cleanup(func() { _ = os.Chmod(g.work, 0o755); _ = os.Chmod(g.work+"/.git", 0o755) })
			got := g.works(script)
			for _, path := range []string{"/tenon.json", "/.git/commondir"} {
				if _, err := os.Lstat(g.work + path); !os.IsNotExist(err) {
					t.Errorf("%s: %v, %v", path, err, got)
				}
			}
			if len(got.blocked) == 0 {
				t.Error("nothing is reported")
			}
		})
	}
}

// A crash inside feeds no program of the machine that takes core dumps, which a limit of zero would not keep from it.
func TestNoCoreDumps(t *testing.T) {
	g := newGround(t)
	got := g.works(`grep core /proc/self/limits`)
	if fields := strings.Fields(got.out); len(fields) < 6 || fields[4] != "1" || fields[5] != "1" {
		t.Error(got)
	}
}
