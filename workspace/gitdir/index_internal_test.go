package gitdir

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const someLinks = `
	git init -q $FORMAT . && mkdir -p a/b long && git init -q $FORMAT a/b/link && git init -q $FORMAT z
	for d in a/b/link z; do git -C $d -c user.name=a -c user.email=b commit -q --allow-empty -m x; done
	for i in 1 2 3 4 5 6 7 8 9 10; do echo x >a/file$i; echo x >long/$(printf "%0${i}d" 0); done
	git add .
`

// index makes an index with two repositories in it, as git has them, and returns what is in its git directory.
func index(t *testing.T, script string, env ...string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", someLinks+script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "GIT_CONFIG_GLOBAL=/dev/null")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := os.OpenRoot(filepath.Join(dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func TestGitlinks(t *testing.T) {
	for name, c := range map[string]struct {
		script, env string
		rest        int // files that hold the rest
	}{
		"version 2":   {script: `git update-index --index-version 2`},
		"version 3":   {script: `git update-index --index-version 3; echo x >more; git add -N more; git update-index --skip-worktree a/file1`},
		"version 4":   {script: `git update-index --index-version 4`},
		"SHA-256":     {script: `true`, env: "FORMAT=--object-format=sha256"},
		"split":       {script: `git update-index --split-index`, rest: 1},
		"split later": {script: `git rm -q -f --cached z; git update-index --split-index; git add z`, rest: 1},
		"with more":   {script: `git update-index --force-untracked-cache; git status >/dev/null; git update-index --force-write-index`},
	} {
		t.Run(name, func(t *testing.T) {
			root := index(t, c.script, c.env)
			var links []string
			names := []string{"index"}
			for i := 0; i < len(names); i++ {
				data, err := root.ReadFile(names[i])
				if err != nil {
					t.Fatal(err)
				}
				paths, shared, bad, err := gitlinks(data)
				if err != nil || bad {
					t.Fatal(bad, err)
				}
				links, names = append(links, paths...), append(names, shared...)
			}
			slices.Sort(links)
			if links = slices.Compact(links); !slices.Equal(links, []string{"a/b/link", "z"}) || len(names) != c.rest+1 {
				t.Errorf("links %q, files %q", links, names)
			}
		})
	}
}

func TestAnIndexThatCannotBeRead(t *testing.T) {
	root := index(t, "true")
	data, err := root.ReadFile("index")
	if err != nil {
		t.Fatal(err)
	}
	changed := func(at int, to byte) string {
		other := slices.Clone(data)
		other[at] = to
		return string(other)
	}
	extended := func(name string) string {
		return string(data[:len(data)-20]) + name + "\x00\x00\x00\x00" + strings.Repeat("x", 20)
	}
	for name, text := range map[string]string{
		"nothing": "", "something else": strings.Repeat("x", 100), "an older one": changed(7, 1), "a newer one": changed(7, 5),
		"a part": string(data[:len(data)/2]), "more entries": changed(11, 200), "an extension that must be known": extended("next"),
		"a long extension": string(data[:len(data)-20]) + "NEXT\xff\xff\xff\xff" + strings.Repeat("x", 20),
	} {
		if links, _, _, err := gitlinks([]byte(text)); !errors.Is(err, errIndex) {
			t.Errorf("%s: %q, %v", name, links, err)
		}
	}
	if _, _, _, err := gitlinks([]byte(extended("NEXT"))); err != nil {
		t.Error(err)
	}
}

// Git can begin to read an index at other offsets than its start: an index with such offsets is not plain unless they lead to the same entries.
func TestAnIndexWithOffsets(t *testing.T) {
	const files = `git update-index --index-version $VERSION; rm -rf .git/index; for i in $(seq 25000); do echo "100644 $(git hash-object -w a/file1) 0	d/f$i"; done |
		git -c index.threads=4 update-index --index-info; git -c index.threads=4 update-index --force-write-index`
	for _, version := range []string{"2", "4"} {
		data, err := index(t, strings.ReplaceAll(files, "$(git hash-object -w a/file1)", "587be6b4c3f93f93c489c0111bba5596147a26cb"), "VERSION="+version).ReadFile("index")
		table, end := bytes.LastIndex(data, []byte("IEOT")), bytes.LastIndex(data, []byte("EOIE"))
		if err != nil || table < 0 || end < 0 || !plainIndex(data, sha1.Size) {
			t.Fatalf("version %s: it is not plain, table at %d, end at %d, %v", version, table, end, err)
		}
		for _, at := range []int{table + 12 + 3, table + 12 + 7, end + 8 + 3} { // an offset, a number of entries, the end
			other := slices.Clone(data)
			other[at]++
			if plainIndex(other, sha1.Size) {
				t.Errorf("version %s: plain with another byte %d", version, at-table)
			}
		}
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("x", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" +
		strings.Repeat("\x00", 24) + "\x00\x00\xe0\x00" + strings.Repeat("\x00", 34) + "\x00\x00ab\x00" + strings.Repeat("x", 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		paths, shared, _, err := gitlinks(data)
		if err != nil && (paths != nil || shared != nil) {
			t.Error("an error, and an answer")
		}
		for _, name := range shared {
			if strings.ContainsAny(name, "/\\") {
				t.Errorf("the rest is in %q", name)
			}
		}
	})
}
