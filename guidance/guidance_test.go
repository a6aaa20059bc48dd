package guidance_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/session"
)

const room = 100 << 10 // bytes

// place is a repository and a home directory on disk.
type place struct {
	t          *testing.T
	root, home string
}

func newPlace(t *testing.T) *place {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home")}
	p.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	p.write("home/.keep", "")
	return p
}

// write writes a file, with a time long ago so that it counts as settled.
func (p *place) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(filepath.Dir(p.root), name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, at := range []string{name, filepath.Dir(name)} {
		if err := os.Chtimes(at, old, old); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *place) link(target, name string) {
	p.t.Helper()
	name = filepath.Join(filepath.Dir(p.root), name)
	if err := os.Symlink(target, name); err != nil {
		p.t.Skip("no symbolic links here: ", err)
	}
}

func (p *place) guide(dir string, change ...func(*guidance.Options)) *guidance.Guide {
	o := guidance.Options{
		Dir: filepath.Join(p.root, dir), Home: p.home,
		Personal: []string{filepath.Join(p.home, ".config", "tenon"), filepath.Join(p.home, ".claude")},
	}
	for _, c := range change {
		c(&o)
	}
	return guidance.New(o)
}

func names(blocks []session.ContextBlock) string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.Name)
	}
	return strings.Join(out, " ")
}

func TestFilesFromTheHomeDownToTheWorkingDirectory(t *testing.T) {
	p := newPlace(t)
	p.write("AGENTS.md", "above the repository")
	p.write("home/.config/tenon/AGENTS.md", "mine")
	p.write("home/.claude/CLAUDE.md", "mine for another agent")
	p.write("repo/AGENTS.md", "root")
	p.write("repo/AGENTS.local.md", "root, mine alone")
	p.write("repo/TENON.md", "for Tenon")
	p.write("repo/a/CLAUDE.md", "nearer")
	p.write("repo/a/b/AGENTS.md", "not yet")
	p.write("repo/empty/AGENTS.md", " \n")
	p.write("repo/c/AGENTS.md", "beside")
	g := p.guide("a")
	const want = "~/.config/tenon/AGENTS.md AGENTS.md AGENTS.local.md TENON.md a/CLAUDE.md"
	if got := names(g.Blocks(nil, room)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	g.Enter(filepath.Join(p.root, "a", "b", "deep", "x.go"), filepath.Join(p.root, "empty", "x"), "/etc/passwd", p.root)
	g.EnterDir(filepath.Join(p.root, "c"), p.root, filepath.Dir(p.root))
	if got := names(g.Blocks(nil, room)); got != want+" a/b/AGENTS.md c/AGENTS.md" {
		t.Errorf("entered: %s", got)
	}
	// A resumed session knows the entered directories from the blocks that the model has seen.
	if got := names(p.guide("a").Blocks(g.Blocks(nil, room), room)); got != want+" a/b/AGENTS.md c/AGENTS.md" {
		t.Errorf("taken up: %s", got)
	}
	if got := names(p.guide("a").Blocks([]session.ContextBlock{{Name: "../AGENTS.md"}, {Name: "environment"}, {Name: "/etc/AGENTS.md"}}, room)); got != want {
		t.Errorf("names that are none of ours: %s", got)
	}
	if got := names(p.guide("", func(o *guidance.Options) { o.Names = []string{} }).Blocks(nil, room)); got != "" {
		t.Errorf("without names: %s", got)
	}
	if err := os.RemoveAll(filepath.Join(p.home, ".config")); err != nil {
		t.Fatal(err)
	}
	if got := names(p.guide("c").Blocks(nil, room)); !strings.HasPrefix(got, "~/.claude/CLAUDE.md AGENTS.md") {
		t.Errorf("without a file for Tenon: %s", got)
	}
}

func TestWithoutARepositoryTheDirectoryCountsAlone(t *testing.T) {
	p := newPlace(t)
	p.write("AGENTS.md", "anybody's")
	p.write("other/AGENTS.md", "here")
	g := guidance.New(guidance.Options{Dir: filepath.Join(filepath.Dir(p.root), "other")})
	if got := g.Blocks(nil, room); len(got) != 1 || got[0].Text != "here" {
		t.Errorf("got %+v", got)
	}
}

func TestOneFileWithTwoNames(t *testing.T) {
	p := newPlace(t)
	p.write("repo/AGENTS.md", "the same\n")
	p.link("AGENTS.md", "repo/CLAUDE.md")
	p.write("repo/TENON.md", "\nthe same")
	p.write("repo/a/AGENTS.md", "the same")
	if got := names(p.guide("a").Blocks(nil, room)); got != "AGENTS.md" {
		t.Errorf("got %s", got)
	}
}

func TestImports(t *testing.T) {
	p := newPlace(t)
	p.write("repo/CLAUDE.md", "See @docs/style.md, (@docs/build.md) and @nobody.\n```\n@docs/code.md\n```\nNot `@docs/code.md`, me@docs/code.md or @docs/none.md. @docs")
	p.write("repo/docs/style.md", "style @../CLAUDE.md @deep/1.md")
	p.write("repo/docs/build.md", "build")
	p.write("repo/docs/code.md", "code")
	for i := 1; i < 9; i++ {
		p.write(fmt.Sprintf("repo/docs/deep/%d.md", i), fmt.Sprintf("level %d @%d.md", i, i+1))
	}
	want := "CLAUDE.md docs/style.md docs/deep/1.md docs/deep/2.md docs/deep/3.md docs/deep/4.md docs/build.md"
	if got := names(p.guide("").Blocks(nil, room)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The model does not see files that a context file imports from outside. It sees that they are missing.
func TestFilesThatAreNotShown(t *testing.T) {
	p := newPlace(t)
	p.write("home/.ssh/id", "secret")
	p.write("home/.config/tenon/AGENTS.md", "@keys.json @~/.config/tenon/more.md")
	p.write("home/.config/tenon/keys.json", "secret")
	p.write("home/.config/tenon/more.md", "more of mine")
	p.write("repo/.env", "secret")
	p.write("repo/AGENTS.md", "root @~/.ssh/id @.env @~/.config/tenon/keys.json")
	p.write("repo/a/AGENTS.md", "bin\x00ary")
	p.link(filepath.Join(p.home, ".ssh", "id"), "repo/CLAUDE.md")
	p.link("nowhere", "repo/TENON.md")
	refuse := func(name string) error {
		if filepath.Base(name) == ".env" {
			return errors.New("it is hidden")
		}
		return nil
	}
	blocks := p.guide("a", func(o *guidance.Options) { o.Refuse = refuse }).Blocks(nil, room)
	for _, b := range blocks {
		if strings.Contains(b.Text, "secret") {
			t.Errorf("%s shows %q", b.Name, b.Text)
		}
	}
	for name, want := range map[string]string{
		"~/.ssh/id": "", "repo.env": "", ".env": "it is hidden", "~/.config/tenon/keys.json": "not shown",
		"a/AGENTS.md": "not shown", "CLAUDE.md": "outside", "~/.config/tenon/more.md": "more of mine",
	} {
		found := false
		for _, b := range blocks {
			found = found || b.Name == name && strings.Contains(b.Text, want)
		}
		if found != (want != "") {
			t.Errorf("%s: %v in %+v", name, found, blocks)
		}
	}
}

// If there is no room for all files, the model sees the nearest ones, a part of the next, and the names of the others. The order stays.
func TestTheNearestFilesHaveTheRoom(t *testing.T) {
	p := newPlace(t)
	far, near := strings.Repeat("far away\n", 500), strings.Repeat("close by\n", 300)
	p.write("home/.claude/CLAUDE.md", far)
	p.write("repo/AGENTS.md", "@style.md\n"+far)
	p.write("repo/style.md", "style")
	p.write("repo/a/AGENTS.md", strings.Repeat("half way\n", 200))
	p.write("repo/a/b/AGENTS.md", near)
	p.write("repo/a/b/c/CLAUDE.md", "here @more.md")
	p.write("repo/a/b/c/more.md", "more of here")
	g := p.guide("a/b")
	g.EnterDir(filepath.Join(p.root, "a", "b", "c"))
	blocks := g.Blocks(nil, 4000)
	const order = "~/.claude/CLAUDE.md AGENTS.md a/AGENTS.md a/b/AGENTS.md a/b/c/CLAUDE.md a/b/c/more.md context files"
	if got := names(blocks); got != order {
		t.Fatalf("got  %s\nwant %s", got, order)
	}
	for i, want := range []string{
		"[4499 of 4499 bytes", "[4509 of 4509 bytes", "half way", strings.TrimSpace(near), "here @more.md", "more of here", "read those",
	} {
		if !strings.Contains(blocks[i].Text, want) {
			t.Errorf("%s has no %q: %.200q", blocks[i].Name, want, blocks[i].Text)
		}
	}
	if b := blocks[2]; b.Cut == 0 || !strings.Contains(b.Text, fmt.Sprintf("[%d of 1799 bytes are omitted here", b.Cut)) {
		t.Errorf("%s: %d bytes are cut, and it ends with %q", b.Name, b.Cut, b.Text[len(b.Text)-80:])
	}
	if g.Tells(filepath.Join(p.root, "AGENTS.md")) || !g.Tells(filepath.Join(p.root, "a", "AGENTS.md")) {
		t.Error("a file that is left out counts as shown, or one that is cut does not")
	}
	if again := g.Blocks(blocks, 4000); !slices.Equal(again, blocks) {
		t.Errorf("the second time it shows %s", names(again))
	}
}

func TestLongFilesAreCut(t *testing.T) {
	p := newPlace(t)
	line := strings.Repeat("x", 99) + "\n"
	p.write("repo/AGENTS.md", strings.Repeat("y", 3000))
	p.write("repo/CLAUDE.md", strings.Repeat(line, 100))
	p.write("repo/TENON.md", "short")
	blocks := p.guide("", func(o *guidance.Options) { o.MaxFile = 4000 }).Blocks(nil, 5000)
	if len(blocks) != 3 {
		t.Fatalf("got %s", names(blocks))
	}
	total := 0
	for i, cut := range []int64{2100, 6001, 0} {
		b := blocks[i]
		if b.Cut < cut-100 || b.Cut > cut+100 || b.Cut > 0 && !strings.Contains(b.Text, fmt.Sprintf("[%d of ", b.Cut)) {
			t.Errorf("%s: cut %d, want about %d: %.40q…%q", b.Name, b.Cut, cut, b.Text, b.Text[max(0, len(b.Text)-80):])
		}
		total += len(b.Text)
	}
	if total > 5000+300 {
		t.Errorf("the model sees %d bytes", total)
	}
}

// Files that import more and more others have a limit, and so does the text about them.
func TestVeryManyImports(t *testing.T) {
	for name, max := range map[string]int{"small files": 100 << 10, "no room": 3000} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			var all strings.Builder
			for i := range 20 {
				fmt.Fprintf(&all, "@d/%d.md ", i)
				var some strings.Builder
				for j := range 20 {
					fmt.Fprintf(&some, "@%d-%d.md ", i, j)
					p.write(fmt.Sprintf("repo/d/%d-%d.md", i, j), fmt.Sprint("leaf ", i, " ", j))
				}
				p.write(fmt.Sprintf("repo/d/%d.md", i), some.String())
			}
			p.write("repo/AGENTS.md", all.String())
			blocks := p.guide("").Blocks(nil, max)
			size := 0
			for _, b := range blocks {
				size += len(b.Text)
			}
			if last := blocks[len(blocks)-1]; len(blocks) > 151 || size > max+1000 || last.Name != "context files" {
				t.Errorf("%d blocks, %d bytes, the last is %q", len(blocks), size, last.Text)
			}
		})
	}
}

// A change is seen with the next request, and what has not changed is not read again.
func TestChanges(t *testing.T) {
	p := newPlace(t)
	p.write("repo/AGENTS.md", "one")
	cleaned := 0
	g := p.guide("", func(o *guidance.Options) {
		o.Clean = func(s string) string { cleaned++; return strings.ReplaceAll(s, "key", "[hidden]") }
	})
	for range 3 {
		g.Blocks(nil, room)
	}
	if at := filepath.Join(p.root, "AGENTS.md"); !g.Tells(at) || g.Tells(filepath.Join(p.root, "CLAUDE.md")) {
		t.Error("Tells does not match the blocks")
	}
	if cleaned != 1 {
		t.Errorf("it was read %d times", cleaned)
	}
	p.write("repo/AGENTS.md", "a key")
	if got := g.Blocks(nil, room); got[0].Text != "a [hidden]" {
		t.Errorf("changed: %+v", got)
	}
	// A file of the same size, with a time that may be the same, is read again if it was written just now.
	for _, text := range []string{"aaa", "bbb", "ccc"} {
		if err := os.WriteFile(filepath.Join(p.root, "AGENTS.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := g.Blocks(nil, room); got[0].Text != text {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if err := os.Remove(filepath.Join(p.root, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if got := g.Blocks(nil, room); len(got) != 0 {
		t.Errorf("removed: %+v", got)
	}
	if err := os.WriteFile(filepath.Join(p.root, "CLAUDE.md"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := g.Blocks(nil, room); names(got) != "CLAUDE.md" {
		t.Errorf("new: %+v", got)
	}
}

func BenchmarkBlocks(b *testing.B) {
	dir := b.TempDir()
	for i := range 10 {
		at := filepath.Join(dir, "repo", strings.Repeat("d/", i))
		if err := os.MkdirAll(at, 0o700); err != nil {
			b.Fatal(err)
		}
		name := filepath.Join(at, "AGENTS.md")
		if err := os.WriteFile(name, fmt.Appendf(nil, "%d %s", i, strings.Repeat("word ", 1000)), 0o600); err != nil {
			b.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		for _, n := range []string{name, at} {
			if err := os.Chtimes(n, old, old); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "repo", ".git"), 0o700); err != nil {
		b.Fatal(err)
	}
	g := guidance.New(guidance.Options{Dir: filepath.Join(dir, "repo", strings.Repeat("d/", 9))})
	if n := len(g.Blocks(nil, room)); n != 10 {
		b.Fatalf("%d blocks", n)
	}
	b.ReportAllocs()
	for b.Loop() {
		g.Blocks(nil, room)
	}
}
