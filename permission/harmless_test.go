package permission

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listed reads a list of commands of testdata.
func listed(t testing.TB, file string) (all []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			all = append(all, written.Replace(line))
		}
	}
	return all
}

// project makes a directory with files, and a policy for work in it.
func project(t testing.TB, m Mode, files ...string) (*Policy, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name, target, link := strings.Cut(f, " -> ")
		at := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		switch {
		case err != nil:
		case link:
			err = os.Symlink(target, at)
		default:
			err = os.WriteFile(at, []byte("x\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p, err := New(Options{Mode: m, Root: dir, Home: "/home/me", Sandboxed: true, Hidden: []string{"/home/me/.ssh"}})
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// Of the harmless commands of every day, at most one in twenty needs approval.
func TestHarmless(t *testing.T) {
	p, dir := project(t, AskMode, "main.go", "main_test.go", "go.mod", "package.json", "README.md", "NOTES.md", "a.csv", "a.yml", "a.xml", "cert.pem",
		"src/a.ts", "src/b.ts", "src/[id].tsx", "docs/My notes.md", "docs/Plan - part 2.md", "docs/it's.md", "docs/notes -> ../NOTES.md",
		"node_modules/.bin/tsc -> ../typescript/tsc", "node_modules/typescript/tsc")
	git := exec.Command("git", "init", "-q")
	git.Dir = dir
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := listed(t, "harmless.txt")
	asks := 0
	for _, line := range all {
		if v := p.Judge(p.Command(line)); v.Action != Allow {
			asks++
			t.Logf("%s\n\t%s", line, v.Reason)
		}
	}
	if t.Logf("%d of %d need approval", asks, len(all)); len(all) < 300 || asks*20 > len(all) {
		t.Errorf("%d of %d need approval, want at most one in twenty of at least 300", asks, len(all))
	}
}

// No dangerous command is allowed in mode inspect or ask: neither those of the list, nor those of the corpora.
func TestDangerous(t *testing.T) {
	all := map[string]bool{}
	for _, line := range listed(t, "dangerous.txt") {
		all[line] = true
	}
	own := len(all)
	for _, line := range listed(t, "verdicts.txt") {
		if verdict, command, _ := strings.Cut(line, " "); verdict[0] == '-' && verdict[2] != '+' {
			all[command] = true
		}
	}
	data, err := os.ReadFile("command/testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	section, line := "", ""
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSuffix(l, "\n")
		switch {
		case strings.HasPrefix(l, "# "):
			section = l
		case strings.HasPrefix(l, "\t") && !strings.HasPrefix(section, "# Harmless") && !strings.HasPrefix(section, "# Names of files") && l != "\tqueries":
			all[written.Replace(line)] = true
		default:
			line = l
		}
	}
	p := policy(t, AskMode)
	for line := range all {
		c := p.Command(line)
		for _, m := range []Mode{AskMode, Inspect} {
			if v := p.InMode(m).Judge(c); v.Action == Allow {
				t.Errorf("mode %s allows %s\n%s", m, line, v)
			}
		}
	}
	if t.Logf("%d commands, %d of them in dangerous.txt", len(all), own); len(all) < 1500 {
		t.Errorf("%d commands", len(all))
	}
}
