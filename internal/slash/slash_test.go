package slash_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/frontmatter"
	"github.com/tenon-agent/tenon/internal/slash"
)

func TestParse(t *testing.T) {
	c, err := slash.Parse("fix", "---\ndescription: Fix an issue\nargument-hint: [number] [priority]\nmodel: sonnet\nallowed-tools: Read, Bash(git add:*), Edit\n---\n\nFix $1.\n")
	want := slash.Command{
		Name: "fix", Description: "Fix an issue", Hint: "[number] [priority]", Model: "sonnet",
		Tools: []string{"Read", "Bash(git add:*)", "Edit"}, Body: "Fix $1.",
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = slash.Parse("a", "# Look at it\r\n\r\nand say more"); err != nil || c.Description != "Look at it" {
		t.Errorf("%+v, %v", c, err)
	}
	for name, text := range map[string]string{"a b": "x", "": "x", "-a": "x", "a": "", "b": "---\ndescription: open\n"} {
		if _, err := slash.Parse(name, text); err == nil {
			t.Errorf("%q, %q: no error", name, text)
		}
	}
}

func TestExpand(t *testing.T) {
	for _, c := range []struct {
		body, arguments string
		want            []slash.Part
	}{
		{"Say it.", "", []slash.Part{{slash.Text, "Say it."}}},
		{"Say it.", "loud", []slash.Part{{slash.Text, "Say it."}, {slash.Text, "\n\nARGUMENTS: loud"}}},
		{"Say $ARGUMENTS, $2 of $1$3.", `"a b" c`, []slash.Part{{slash.Text, `Say "a b" c, c of a b.`}}},
		{"$ARGUMENTS[0]-$ARGUMENTS[1]", "x y", []slash.Part{{slash.Text, "x-y"}}},
		{"See !`git log -$1` and @docs/$2.md.", "3 a", []slash.Part{
			{slash.Text, "See "}, {slash.Shell, "git log -3"}, {slash.Text, " and "}, {slash.File, "docs/a.md"}, {slash.Text, "."},
		}},
		{"mail me@example.com, not!`this`", "", []slash.Part{{slash.Text, "mail me@example.com, not!`this`"}}},
		{"Do $ARGUMENTS", "!`rm -rf x` @secret", []slash.Part{{slash.Text, "Do !`rm -rf x` @secret"}}},
	} {
		if got := (slash.Command{Body: c.body}).Expand(c.arguments); !slices.Equal(got, c.want) {
			t.Errorf("%q with %q: %v, want %v", c.body, c.arguments, got, c.want)
		}
	}
}

func TestNamed(t *testing.T) {
	for prompt, want := range map[string][]string{
		"/a": {"a", ""}, " /db:up  now \n then": {"db:up", "now \n then"}, "/a\nb": {"a", "b"},
		"a": nil, "/": nil, "//a": nil, "/etc/hosts": nil, "/x.md is": nil, "": nil,
	} {
		name, arguments, ok := slash.Named(prompt)
		if ok != (want != nil) || ok && (name != want[0] || arguments != want[1]) {
			t.Errorf("%q: %q, %q, %v", prompt, name, arguments, ok)
		}
	}
}

func TestFind(t *testing.T) {
	own, project, outside := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(own, "review.md", "own")
	put(own, "notes.txt", "no command")
	put(project, "review.md", "of the project")
	put(project, "db/up.md", "up")
	put(project, "with blank.md", "x")
	put(project, "large.md", strings.Repeat("x", 100<<10))
	put(outside, "evil.md", "x")
	if err := os.Symlink(filepath.Join(outside, "evil.md"), filepath.Join(project, "evil.md")); err != nil {
		t.Skip("no links here:", err)
	}
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	found := slash.Find([]frontmatter.Folder{{Dir: filepath.Join(own, "none")}, {Dir: own}, {Dir: project, Within: project}})
	var names []string
	for _, c := range found.Commands {
		names = append(names, c.Name+"="+c.Body)
	}
	if !slices.Equal(names, []string{"db:up=up", "review=of the project"}) || len(found.Problems) != 3 {
		t.Errorf("%q, %v", names, found.Problems)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("---\nallowed-tools: [a, b(c]\n---\nSee !`x $1` @a/$2 $ARGUMENTS[1]", "a 'b c")
	f.Fuzz(func(t *testing.T, text, arguments string) {
		c, err := slash.Parse("a", text)
		if err != nil {
			return
		}
		count := func(arguments string) (n [3]int) {
			for _, p := range c.Expand(arguments) {
				n[p.Kind]++
			}
			return n
		}
		some, more := count("x"), count(arguments)
		if more[slash.Shell] > some[slash.Shell] || more[slash.File] > some[slash.File] {
			t.Errorf("arguments %q make a part: %v, %v", arguments, some, more)
		}
	})
}
