package files_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// project is a directory and the tools on it.
type project struct {
	testing.TB
	dir   string
	set   *files.Set
	tools map[string]tool.Tool
}

func newProject(t testing.TB, content map[string]string) *project {
	t.Helper()
	p := &project{TB: t, dir: t.TempDir()}
	for name, text := range content {
		p.put(name, text)
	}
	ws, err := workspace.Open(p.dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	p.use(files.NewSet(ws))
	return p
}

// use takes the tools of a set.
func (p *project) use(set *files.Set) {
	p.set, p.tools = set, map[string]tool.Tool{}
	for _, one := range p.set.Tools() {
		p.tools[one.Spec().Name] = one
	}
}

func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func (p *project) put(name, text string) {
	p.Helper()
	full := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666)); err != nil {
		p.Fatal(err)
	}
}

func (p *project) get(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, filepath.FromSlash(name)))
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}

// call runs a tool and returns its text, or its error.
func (p *project) call(name, arguments string) (string, tool.Result, error) {
	p.Helper()
	call, err := p.tools[name].Prepare(p.Context(), arguments)
	if err != nil {
		return "", tool.Result{}, err
	}
	result, err := call.Run(p.Context(), nil)
	return result.Content.Text(), result, err
}

func (p *project) ok(name, arguments, want string) tool.Result {
	p.Helper()
	text, result, err := p.call(name, arguments)
	if err != nil {
		p.Errorf("%s %s: %v", name, arguments, err)
	} else if text != want {
		p.Errorf("%s %s\n got %q\nwant %q", name, arguments, text, want)
	}
	return result
}

// fails expects an error with texts, or with a code in brackets.
func (p *project) fails(name, arguments string, want ...string) {
	p.Helper()
	text, _, err := p.call(name, arguments)
	if err == nil {
		p.Errorf("%s %s: no error but %q", name, arguments, text)
		return
	}
	said := err.Error()
	if coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		said += " [" + coded.Code() + "]"
	}
	for _, w := range want {
		if !strings.Contains(said, w) {
			p.Errorf("%s %s: the error %q does not have %q", name, arguments, said, w)
		}
	}
}

func TestRead(t *testing.T) {
	p := newProject(t, map[string]string{
		"three": "one\ntwo\nthree\n", "open": "one\ntwo", "empty": "", "bom": "\ufeffone\n", "crlf": "one\r\ntwo\r\n", "latin": "caf\xe9\n", "odd": "caf\x81\xff\n",
		"long": strings.Repeat("é", 1500) + "\nshort\n", "program": "\x7fELF\x00\x00", "image": "\x89PNG\r\n\x1a\n\x00\x00", "src/config.go": "x\n",
		"wide": strings.Repeat(strings.Repeat("x", 999)+"\n", 100), "mixed": "one\r\ntwo\n", "utf16": "\xff\xfea\x00b\x00\n\x00",
	})
	if err := os.Mkdir(filepath.Join(p.dir, "dir"), 0o777); err != nil {
		t.Fatal(err)
	}
	p.ok("read", `{"path":"three"}`, "1\tone\n2\ttwo\n3\tthree\n[lines 1-3 of 3]")
	p.ok("read", `{"path":"three","offset":2,"limit":1}`, "2\ttwo\n[lines 2-2 of 3; continue with offset 3]")
	details := p.ok("read", `{"path":"three","offset":0,"limit":2}`, "1\tone\n2\ttwo\n[lines 1-2 of 3; continue with offset 3]")
	if want := (files.Shown{Path: "three", First: 1, Last: 2, Lines: 3, Bytes: 14, Hash: hashOf("one\ntwo\nthree\n"), Whole: true}); details.Details != want {
		t.Errorf("details %+v, want %+v", details.Details, want)
	}
	p.ok("read", `{"path":"three","offset":9}`, "[the file has 3 lines; line 9 is past its end]")
	p.ok("read", `{"path":"three","offset":3,"limit":9223372036854775807}`, "3\tthree\n[lines 3-3 of 3]")
	p.ok("read", `{"path":"open"}`, "1\tone\n2\ttwo\n[lines 1-2 of 2; no newline at the end]")
	p.ok("read", `{"path":"empty"}`, "[the file is empty]")
	p.ok("read", `{"path":"bom"}`, "1\tone\n[lines 1-1 of 1; starts with a byte order mark]")
	p.ok("read", `{"path":"crlf"}`, "1\tone\n2\ttwo\n[lines 1-2 of 2; lines end in CRLF]")
	p.ok("read", `{"path":"mixed"}`, "1\tone\n2\ttwo\n[lines 1-2 of 2; some lines end in CRLF, others in LF]")
	p.ok("read", `{"path":"latin"}`, "1\tcafé\n[lines 1-1 of 1; encoding Windows-1252]")
	p.ok("read", `{"path":"odd"}`, "1\tcaf\ufffd\n[lines 1-1 of 1; not UTF-8: 2 bytes shown as \ufffd]")
	p.ok("read", `{"path":"long"}`, "1\t"+strings.Repeat("é", 1000)+"… [1000 more bytes]\n2\tshort\n[lines 1-2 of 2; 1 long line cut at 2000 bytes]")
	p.ok("read", `{"path":"program"}`, "[binary file, application/octet-stream, 6 bytes, not shown]")
	p.ok("read", `{"path":"image"}`, "[binary file, image/png, 10 bytes, not shown: unexpected EOF]")
	p.ok("read", `{"path":"utf16"}`, "1\tab\n[lines 1-1 of 1; encoding UTF-16LE; starts with a byte order mark]")
	if text, _, err := p.call("read", `{"path":"wide"}`); err != nil || len(text) > 51<<10 || !strings.HasSuffix(text, "[lines 1-51 of 100; continue with offset 52]") {
		t.Errorf("a wide file gives %d bytes, ending in %q, %v", len(text), text[max(0, len(text)-60):], err)
	}
	p.fails("read", `{"path":"dir"}`, "is a directory", "list")
	p.fails("read", `{"path":"src/confg.go"}`, "src/confg.go not found; did you mean src/config.go?")
	p.fails("read", `{"path":"config.go"}`, "did you mean src/config.go?")
	p.fails("read", `{"path":"zzzzzz"}`, "zzzzzz not found")
	p.fails("read", `{"path":"../x"}`, "outside the workspace")
	p.fails("read", `{"path":""}`, "path: must not be empty")
}

func TestReadOfAHugeFile(t *testing.T) {
	p := newProject(t, nil)
	f, err := os.Create(filepath.Join(p.dir, "huge"))
	if err != nil {
		t.Fatal(err)
	}
	block := []byte(strings.Repeat(strings.Repeat("x", 63)+"\n", 1<<14)) // 1 MiB
	for range 40 {                                                       // more than a read keeps in memory
		if _, err := f.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var text string
	allocated := testing.AllocsPerRun(1, func() { text, _, err = p.call("read", `{"path":"huge","limit":2}`) })
	if err != nil || !strings.HasSuffix(text, "[lines 1-2 of 655360; continue with offset 3]") {
		t.Errorf("%q, %v", text, err)
	}
	if allocated > 1000 {
		t.Errorf("%v allocations for two lines", allocated)
	}
	if err := os.Truncate(filepath.Join(p.dir, "huge"), 2<<30); err != nil {
		t.Fatal(err)
	}
	p.fails("read", `{"path":"huge"}`, "too many to read", "grep")
	p.fails("edit", `{"path":"huge","old_text":"a","new_text":"b"}`, "at most")
}

func TestWrite(t *testing.T) {
	p := newProject(t, map[string]string{"old": "one\ntwo\n", "crlf": "\ufeffone\r\ntwo\r\n", "program": "\x00\x01"})
	t.Run("a new file, with directories", func(t *testing.T) {
		result := p.ok("write", `{"path":"a/b/new","content":"x\ny\n"}`, "created a/b/new: 2 lines added, 0 removed")
		want := tool.FileDiff{Path: "a/b/new", Created: true, Added: 2, Text: "--- /dev/null\n+++ b/a/b/new\n@@ -0,0 +1,2 @@\n+x\n+y\n"}
		if p.get("a/b/new") != "x\ny\n" || !slices.Equal(result.Diffs, []tool.FileDiff{want}) {
			t.Errorf("diffs %+v, want %+v", result.Diffs, want)
		}
		p.ok("write", `{"path":"a/b/new","content":"z\n"}`, "replaced a/b/new: 1 line added, 2 removed") // the tool has seen its own content
	})
	t.Run("an existing file only when it was read", func(t *testing.T) {
		p.fails("write", `{"path":"old","content":"x"}`, "old exists and was not read yet; read it first")
		p.call("read", `{"path":"old"}`)
		p.put("old", "changed\n")
		p.fails("write", `{"path":"old","content":"x"}`, "old has changed since it was read; read it again")
		p.call("read", `{"path":"old"}`)
		result := p.ok("write", `{"path":"old","content":"new\n"}`, "replaced old: 1 line added, 1 removed")
		if text := result.Diffs[0].Text; text != "--- a/old\n+++ b/old\n@@ -1 +1 @@\n-changed\n+new\n" {
			t.Errorf("diff %q", text)
		}
		p.ok("write", `{"path":"old","content":"new\n"}`, "old already has this content; nothing was changed")
	})
	t.Run("without content", func(t *testing.T) {
		p.ok("write", `{"path":"none"}`, "created none: 0 lines added, 0 removed\ncontent was missing, so the file is empty")
		p.fails("write", `{"path":"old"}`, "old exists and content is missing")
		p.ok("write", `{"path":"old","content":""}`, "replaced old: 0 lines added, 1 removed")
	})
	t.Run("keeps line ends and mark", func(t *testing.T) {
		p.call("read", `{"path":"crlf"}`)
		p.ok("write", `{"path":"crlf","content":"1\n2\n3\n"}`, "replaced crlf: 3 lines added, 2 removed\n"+
			"the file keeps its byte order mark\nthe file keeps its CRLF line endings")
		if got := p.get("crlf"); got != "\ufeff1\r\n2\r\n3\r\n" {
			t.Errorf("content %q", got)
		}
	})
	t.Run("over binary data", func(t *testing.T) {
		p.call("read", `{"path":"program"}`)
		p.ok("write", `{"path":"program","content":"text\n"}`, "replaced program: 0 lines added, 0 removed")
	})
	p.fails("write", `{"path":"../x","content":""}`, "outside the workspace")
	p.fails("write", `{"path":"a","content":""}`, "is a directory")
}

func TestList(t *testing.T) {
	p := newProject(t, map[string]string{"b.go": "", "a/x": "", "a/deep/y": "", "x.o": "", ".gitignore": "*.o\nall\n", "all/z": ""})
	p.ok("list", `{}`, ".gitignore\na/\nb.go")
	p.ok("list", `{"depth":3}`, ".gitignore\na/\n  deep/\n    y\n  x\nb.go")
	p.ok("list", `{"path":"a"}`, "deep/\nx")
	if err := os.Mkdir(filepath.Join(p.dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	p.ok("list", `{"path":"empty"}`, "[no entries, or all are ignored]")
	p.fails("list", `{"path":"b.go"}`, "b.go is a file", "read")
	p.put("\u202ex", "1\n") // a name that is not what it looks like
	p.fails("list", "{\"path\":\"\u202ex\"}", `"\u202ex" is a file`)
	p.fails("write", "{\"path\":\"\u202ex\"}", `"\u202ex" exists and was not read`)
	p.call("read", "{\"path\":\"\u202ex\"}")
	p.fails("write", "{\"path\":\"\u202ex\"}", `"\u202ex" exists and content is missing`)
	p.fails("list", `{"path":"aa/deep"}`, "did you mean a/deep?")
	p.fails("list", `{"path":"/"}`, "outside the workspace")
	for i := range 600 {
		p.put("many/"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26), "")
	}
	text, result, err := p.call("list", `{"path":"many"}`)
	if err != nil || result.Brief != "more than 500 entries" || strings.Count(text, "\n") != 500 || !strings.HasSuffix(text, "[more than 500 entries; list a directory below, or use glob]") {
		t.Errorf("%q, %v, %q", result.Brief, err, text[len(text)-100:])
	}
}

func TestEffects(t *testing.T) {
	p := newProject(t, map[string]string{"real": ""})
	dir, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(p.dir, "link")); err != nil {
		t.Skip("no links here")
	}
	file := []tool.Path{tool.File(filepath.Join(dir, "real"))}
	tests := []struct {
		tool, arguments string
		want            tool.Effects
	}{
		{"read", `{"path":"link"}`, tool.Effects{Reads: file, Idempotent: true}},
		{"write", `{"path":"link"}`, tool.Effects{Writes: file}},
		{"edit", `{"path":"link","old_text":"a","new_text":"b"}`, tool.Effects{Writes: file}},
		{"list", `{}`, tool.Effects{Reads: []tool.Path{tool.Tree(dir)}, Idempotent: true}},
	}
	for _, test := range tests {
		call, err := p.tools[test.tool].Prepare(t.Context(), test.arguments)
		if err != nil {
			t.Fatal(err)
		}
		got := call.Effects
		if got.Idempotent != test.want.Idempotent || len(got.Reads) != len(test.want.Reads) || len(got.Writes) != len(test.want.Writes) ||
			!got.Collides(tool.Effects{Writes: append(test.want.Writes, test.want.Reads...)}) {
			t.Errorf("%s: %+v, want %+v", test.tool, got, test.want)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	p := newProject(b, map[string]string{"src/f": strings.Repeat("a line of some text\n", 500)})
	for b.Loop() {
		if _, _, err := p.call("read", `{"path":"src/f"}`); err != nil {
			b.Fatal(err)
		}
	}
}
