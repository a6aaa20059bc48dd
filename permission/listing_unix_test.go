//go:build unix

package permission

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// lists are command lines that read the names of files as words. CMD stands for a program that gets the words.
var lists = strings.Split(strings.TrimSpace(`
git ls-files | xargs CMD
git ls-files -z | xargs -0 CMD
git ls-files | xargs -d '\n' CMD
git ls-files --others | xargs CMD
git ls-files | xargs -I{} CMD {}
git ls-files | sort | head -50 | xargs CMD
find . -type f | xargs CMD
find . -print0 | xargs -0 CMD
find * | xargs CMD
CMD $(find . -print0)
find . | xargs -0 CMD
find . -print0 | sort -z | xargs -0 CMD
find . -print0 | head -5 | xargs -0 CMD
find . -print0 | while read -r f; do CMD "$f"; done
CMD $(git ls-files -z)
grep -rlZ x . | xargs -0 CMD
CMD $(grep -rlZ x .)
git ls-files | tac | xargs CMD
git diff --name-only | xargs CMD
cd d && git ls-files | xargs CMD
cd d && CMD $(git diff --name-only)
ls | xargs CMD
ls -A | xargs -n1 CMD
ls d | xargs CMD
CMD $(git ls-files)
CMD $(find . -type f)
CMD $(find .)
CMD $(ls)
CMD $(ls d)
CMD $(grep -rl x .)
CMD "$(ls)"
for f in $(git ls-files); do CMD $f; done
for f in $(find .); do CMD "$f"; done
for f in *; do CMD $f; done
for f in d/*; do CMD $f; done
git ls-files | while read -r f; do CMD "$f"; done
find . -type f | while read f; do CMD $f; done
while read -r f; do CMD $f; done < <(find d)
x=$(git ls-files); CMD $x
x=$(find . -type f); for f in $x; do CMD $f; done
git grep -l x | xargs CMD
grep -l x * | xargs CMD`), "\n")

// tree is a line, and the names and targets of files.
type tree struct {
	line  string
	files []file
}

type file struct {
	name, to string // to is the target of a link
	gone     bool   // git tracks it, and it is not on disk
}

// draw draws a tree whose names confuse shells, git and xargs.
func draw(t *rapid.T) (all tree) {
	name := rapid.StringMatching(`[a-]{1,2}|[a /*'"\\\n.~$-]{1,6}|a|b|a|b|c| /etc|d/ \.\./x|\.\./|é |"-a"|\\-a| -a`)
	for range rapid.IntRange(1, 3).Draw(t, "files") {
		one := file{name: filepath.Clean("/" + rapid.SampledFrom([]string{"", "d/", "d/e/"}).Draw(t, "in") + name.Draw(t, "name"))}
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 1:
			one.gone = true
		case 0:
			one.to = rapid.SampledFrom([]string{"/etc/passwd", "a", "/home/me/.ssh/id", "../.."}).Draw(t, "to")
		}
		all.files = append(all.files, one)
	}
	all.line = rapid.SampledFrom(lists).Draw(t, "line")
	return all
}

// make makes the files, in a repository of git.
func (all tree) make(t *testing.T, bin string) (dir string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(all.files, file{name: "/d/a"}) {
		at := filepath.Join(dir, f.name)
		_ = os.MkdirAll(filepath.Dir(at), 0o700) // a part of it may be a file
		if f.to != "" {
			_ = os.Symlink(f.to, at)
		} else {
			// Not os.WriteFile: a link with the same name may be there, and it leads out.
			if f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
				_, _ = f.WriteString("x\n")
				_ = f.Close()
			}
		}
	}
	git := exec.Command("sh", "-c", "git init -q && git add -A .")
	git.Dir, git.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + bin, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range all.files {
		if f.gone {
			_ = os.Remove(filepath.Join(dir, f.name))
		}
	}
	return dir
}

// Where Tenon allows a command whose words are names of files, no real program gets an option or a path out of the workspace, whatever the
// names are.
func TestNamesLeadNowhere(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "words"), []byte("#!/bin/sh\nfor w; do printf '%s\\0' \"$w\"; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	trees := rapid.Custom(draw)
	judged, allowed := 0, 0
	for i := range 2000 {
		if !sample.Takes(i, 40, 200) {
			continue
		}
		all := trees.Example(i)
		dir := all.make(t, bin)
		p, err := New(Options{Mode: AskMode, Root: dir, Home: "/home/me", Sandboxed: true, Hidden: []string{"/home/me/.ssh"}})
		if err != nil {
			t.Fatal(err)
		}
		if judged++; p.Judge(p.Command(strings.Replace(all.line, "CMD", "cat", 1))).Action != Allow {
			continue
		}
		allowed++
		c := exec.Command("bash", "-c", strings.Replace(all.line, "CMD", "words", 1))
		c.Dir, c.Env = dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin, "LC_ALL=C.UTF-8"}
		out, _ := c.Output() // xargs and grep fail for some names
		for word := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if leads(dir, word) {
				t.Errorf("%s: gets %q; the files are %+v", all.line, word, all.files)
			}
		}
	}
	if t.Logf("%d judged, %d allowed", judged, allowed); allowed*10 < judged {
		t.Error("too few are allowed to mean something")
	}
}

// leads reports whether a word is an option, or a path out of a directory.
func leads(dir, word string) bool {
	at := filepath.Join(dir, word)
	if filepath.IsAbs(word) {
		at = word
	}
	if real, err := filepath.EvalSymlinks(at); err == nil {
		at = real
	}
	return len(word) > 1 && word[0] == '-' || at != dir && !strings.HasPrefix(at, dir+"/")
}

// Each of these names makes a list of files something else.
func TestOddNames(t *testing.T) {
	for _, name := range []string{
		"-rf", "a -rf", "a\n-rf", "x /etc/passwd", " /etc/passwd", `"/etc/passwd"`, `\-rf`, `'-rf'`, "d/a ../x", "out -> /etc/passwd",
		"key -> /home/me/.ssh/id", "d/x *", "a 'b", "up -> ..", "d/-rf", "a\t-o/etc/x", "secret .env",
	} {
		p, _ := project(t, AskMode, "a.go", "d/b.go", name)
		for _, line := range []string{"git ls-files | xargs cat", "cat $(find . -type f)", "find . | while read -r f; do cat $f; done", "for f in $(git ls-files); do cat $f; done"} {
			if v := p.Judge(p.Command(line)); v.Action == Allow {
				t.Errorf("%q: %s", name, v)
			}
			if v := p.InMode(Inspect).Judge(p.Command(line)); v.Action == Allow {
				t.Errorf("%q: %s", name, v)
			}
		}
	}
}

// A command can make a pipe in the place of .git. Reading it would never end.
func TestAPipeInThePlaceOfARepository(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "a"), 0o700), os.MkdirAll(filepath.Join(dir, "b/.git"), 0o700),
		syscall.Mkfifo(filepath.Join(dir, "a/.git"), 0o600), syscall.Mkfifo(filepath.Join(dir, "b/.git/index"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{Mode: AskMode, Root: dir, Home: "/home/me", Sandboxed: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"cd a && git ls-files | xargs cat", "cd b && git ls-files | xargs cat"} {
		if v := p.Judge(p.Command(line)); v.Action != Ask {
			t.Errorf("%s: %+v", line, v)
		}
	}
}
