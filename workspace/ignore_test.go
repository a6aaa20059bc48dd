package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// walked are the paths that a walk comes to; directories end in a slash.
func walked(t testing.TB, w *workspace.Workspace, name string, o workspace.WalkOptions) []string {
	t.Helper()
	var out []string
	for entry, err := range w.Walk(t.Context(), name, o) {
		if err != nil {
			t.Fatal(err)
		}
		path := entry.Path
		if entry.Type.IsDir() {
			path += "/"
		}
		out = append(out, path)
	}
	return out
}

func git(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = strings.NewReader(input)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && args[0] == "check-ignore" && exit.ExitCode() == 1 {
		err = nil // nothing is ignored
	}
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, &problems)
	}
	return out.String()
}

func TestWalk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".gitignore": "*.o\n/build/\n!keep.o\n", ".git/config": "", ".ignore": "*.log\n",
		"a.go": "", "a.o": "", "keep.o": "", "x.log": "", "build/out": "", "sub/build/in": "", "sub/.gitignore": "*.tmp\n!x.log\n",
		"sub/x.tmp": "", "sub/x.log": "", "x.tmp": "", ".hidden": "", "sub-1": "", "empty/": "",
	})
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir)
	tests := []struct {
		name, start string
		options     workspace.WalkOptions
		want        []string
	}{
		{"sorted, ignored left out, links not followed", ".", workspace.WalkOptions{}, []string{
			".gitignore", ".hidden", ".ignore", "a.go", "empty/", "keep.o", "link", "sub/", "sub/.gitignore", "sub/build/", "sub/build/in",
			"sub/x.log", "sub-1", "x.tmp",
		}},
		{"to a depth", ".", workspace.WalkOptions{Depth: 1}, []string{
			".gitignore", ".hidden", ".ignore", "a.go", "empty/", "keep.o", "link", "sub/", "sub-1", "x.tmp",
		}},
		{"below a directory, with the rules above it", "sub", workspace.WalkOptions{}, []string{
			"sub/.gitignore", "sub/build/", "sub/build/in", "sub/x.log",
		}},
		{"below what is ignored, when that is asked for", "build", workspace.WalkOptions{}, []string{"build/out"}},
		{"what is ignored too", "sub", workspace.WalkOptions{Ignored: true}, []string{
			"sub/.gitignore", "sub/build/", "sub/build/in", "sub/x.log", "sub/x.tmp",
		}},
		{"a file", "sub/x.tmp", workspace.WalkOptions{}, []string{"sub/x.tmp"}},
		{"an empty directory", "empty", workspace.WalkOptions{}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// ReadDir sorts sub before sub-1 by name, whatever the slash.
			if got := walked(t, w, test.start, test.options); !slices.Equal(got, test.want) {
				t.Errorf("\n got %q\nwant %q", got, test.want)
			}
		})
	}
	t.Run("a missing directory", func(t *testing.T) {
		for _, err := range w.Walk(t.Context(), "none", workspace.WalkOptions{}) {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error %v", err)
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n, last := 0, error(nil)
		for _, err := range w.Walk(ctx, ".", workspace.WalkOptions{}) {
			n, last = n+1, err
			cancel()
		}
		if n != 2 || !errors.Is(last, context.Canceled) {
			t.Errorf("%d entries, then %v", n, last)
		}
	})
	t.Run("left early", func(t *testing.T) {
		for range w.Walk(t.Context(), ".", workspace.WalkOptions{}) {
			break
		}
	})
}

// A workspace may be a part of a repository: what its upper directories ignore is ignored.
func TestWalkBelowTheTopOfARepository(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".git/info/exclude": "*.secret\n", ".gitignore": "/part/out\n*.o\n", "part/.gitignore": "!keep.o\n", "upper/x": "",
		"part/out": "", "part/x.o": "", "part/keep.o": "", "part/a.secret": "", "part/sub/out": "", "part/sub/y.o": "",
		".gitignored": "",
	})
	w := open(t, filepath.Join(dir, "part"))
	if got, want := walked(t, w, ".", workspace.WalkOptions{}), []string{".gitignore", "keep.o", "sub/", "sub/out"}; !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if got, want := walked(t, w, "sub", workspace.WalkOptions{}), []string{"sub/out"}; !slices.Equal(got, want) {
		t.Errorf("below sub\n got %q\nwant %q", got, want)
	}
	// A workspace that its own repository ignores still works.
	write(t, dir, map[string]string{".gitignore": "part\n"})
	if got, want := walked(t, w, "sub", workspace.WalkOptions{}), []string{"sub/out", "sub/y.o"}; !slices.Equal(got, want) {
		t.Errorf("below what is ignored\n got %q\nwant %q", got, want)
	}
}

// The patterns that people write, and those that they get wrong.
var patterns = []string{
	"*.o", "!*.o", "build/", "/build", "build", "**/deep", "deep/**", "!deep/keep", "a/**/z", "a/*/z", "*.[oa]", "*.[!o]", "x?y", "!b", "/a/b",
	"a/", "!a/", "*", "!*/", "!*.go", "/*", "!/a", `\#x`, `\!x`, "#x", "a b", "trail ", `trail\ `, "[abc]*", "[a-c]z", "[]]x", "[", `a\`, "x**y", "/**", "**",
	"**/", "b/**/", "a/b/", "*.go\r", "é*", "z*.o", `\*`, "*/b", "/a/*", "!/a/z", "[[:digit:]]*", "keep", "a/**", "!a/keep", "*a*z*", "[^a]b", "{a,b}", "a//b", "/",
	"!", "  ", "[a-", `[\]]x`, "**/b/**", "a**", "foo/*", "!foo/b/",
}

var names = []string{
	"a", "b", "z", "deep", "build", "keep", "foo", "x.o", "x.go", "zz.o", "xqy", "x!y", "#x", "!x", "a b", "trail", "trail ", "cz", "]x", "x..y", "élan", "*", "3x", "abz", "{a,b}", "bb",
}

// On generated trees, the walk comes to exactly what git does not ignore.
func TestIgnoreIsAsGitIgnores(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			git(t, dir, "", "init", "-q")
			if err := os.RemoveAll(filepath.Join(dir, ".git", "info")); err != nil {
				t.Fatal(err)
			}
			var rules []string
			grow(t, random, dir, 0, &rules)
			w := open(t, dir)
			all := walked(t, w, ".", workspace.WalkOptions{Ignored: true})
			// With a slash at the end git would ask the ignore file within the directory too.
			out := git(t, dir, strings.ReplaceAll(strings.Join(all, "\x00"), "/\x00", "\x00"), "check-ignore", "--no-index", "--stdin", "-z")
			ignored := map[string]bool{}
			for name := range strings.SplitSeq(out, "\x00") {
				ignored[name] = true
			}
			var want []string
			for _, name := range all {
				if !ignored[strings.TrimSuffix(name, "/")] {
					want = append(want, name)
				}
			}
			got := walked(t, w, ".", workspace.WalkOptions{})
			if !slices.Equal(got, want) {
				for _, name := range all {
					if a, b := slices.Contains(got, name), slices.Contains(want, name); a != b {
						t.Errorf("%q: walked %t, not ignored by git %t", name, a, b)
					}
				}
				t.Logf("rules: %q", rules)
			}
		})
	}
}

// grow fills a directory with files, directories and an ignore file.
func grow(t *testing.T, random *rand.Rand, dir string, depth int, rules *[]string) {
	t.Helper()
	if depth == 0 || random.IntN(4) == 0 {
		var lines []string
		for range 1 + random.IntN(6) {
			lines = append(lines, patterns[random.IntN(len(patterns))])
		}
		*rules = append(*rules, dir[strings.LastIndexByte(dir, '/')+1:]+":"+strings.Join(lines, "|"))
		write(t, dir, map[string]string{".gitignore": strings.Join(lines, "\n") + "\n"})
	}
	for _, name := range names {
		switch full := filepath.Join(dir, name); {
		case random.IntN(3) != 0:
		case depth < 3 && random.IntN(7) == 0:
			if err := os.Mkdir(full, 0o777); err != nil {
				t.Fatal(err)
			}
			grow(t, random, full, depth+1, rules)
		default:
			write(t, dir, map[string]string{name: ""})
		}
	}
}
