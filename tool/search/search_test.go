package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type project struct {
	testing.TB
	ws    *workspace.Workspace
	tools map[string]tool.Tool
}

func newProject(t testing.TB, content map[string]string) *project {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return openProject(t, dir)
}

func openProject(t testing.TB, dir string) *project {
	t.Helper()
	return openProjectWith(t, dir, workspace.Options{})
}

func (p *project) call(ctx context.Context, name string, arguments map[string]any) (string, any, error) {
	p.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		p.Fatal(err)
	}
	call, err := p.tools[name].Prepare(ctx, string(text))
	if err != nil {
		return "", nil, err
	}
	if !call.Effects.Idempotent || !call.Effects.ReadOnly() || len(call.Effects.Reads) != 1 || !call.Effects.Reads[0].Tree {
		p.Errorf("effects %+v", call.Effects)
	}
	result, err := call.Run(ctx, nil)
	return result.Content.Text(), result.Details, err
}

type args = map[string]any

var tree = map[string]string{
	"main.go": "package main\n\nfunc main() {\n\tprintln(\"Hello\")\n}\n", "a/a.go": "package a\n", "a/a_test.go": "package a\r\n// hello\r\n", "a/deep/x.ts": "let hello\n",
	"b/notes": "Say hello.\nNo\nhello again\nand\nmore\nhello", ".gitignore": "out/\n", "out/x.go": "hello\n", "bin": "hello\x00\n", "latin": "caf\xe9 hello\n",
	"special(1)": "a.b\naxb\n", ".github/x.yml": "on: push\n",
}

func TestGlob(t *testing.T) {
	p := newProject(t, tree)
	tests := []struct {
		arguments args
		want      string
	}{
		{args{"pattern": "*.go"}, "a/a.go\na/a_test.go\nmain.go"},
		{args{"pattern": "**/*.go"}, "a/a.go\na/a_test.go\nmain.go"},
		{args{"pattern": "./a/*.go"}, "a/a.go\na/a_test.go"},
		{args{"pattern": "*.{ts,yml}"}, ".github/x.yml\na/deep/x.ts"},
		{args{"pattern": "**/*.ts", "path": "a"}, "a/deep/x.ts"},
		{args{"pattern": "deep/*", "path": "a"}, "a/deep/x.ts"},
		{args{"pattern": "a/deep/*", "path": "a"}, "a/deep/x.ts"},
		{args{"pattern": "main.go"}, "main.go"},
		{args{"pattern": "deep"}, "a/deep/"},
		{args{"pattern": "deep/"}, "a/deep/"},
		{args{"pattern": "out/*.go"}, "[no matching file]"},
		{args{"pattern": "*.go", "path": "out"}, "out/x.go"},
		{args{"pattern": "a.go", "path": "a/a.go"}, "a/a.go"},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.arguments), func(t *testing.T) {
			if text, _, err := p.call(t.Context(), "glob", test.arguments); err != nil || text != test.want {
				t.Errorf("%q, %v; want %q", text, err, test.want)
			}
		})
	}
	for want, arguments := range map[string]args{
		"is not valid":           {"pattern": "["},
		"must not be empty":      {"pattern": ""},
		"outside the workspace":  {"pattern": "*", "path": "../x"},
		"did you mean a/deep?":   {"pattern": "*", "path": "deep"},
		"not found":              {"pattern": "*", "path": "zzzzzz"},
		"did you mean \"path\"?": {"pattern": "*", "dir_path": "a"},
	} {
		if text, _, err := p.call(t.Context(), "glob", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q, %v; want %q", arguments, text, err, want)
		}
	}
}

// A name that is not what it looks like stands in quotes.
func TestMissingIsQuoted(t *testing.T) {
	p := newProject(t, map[string]string{"dir/\u202ename/f": ""})
	_, _, err := p.call(t.Context(), "glob", args{"pattern": "*", "path": "\u202enames"})
	if want := `"\u202enames" not found; did you mean "dir/\u202ename"?`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestGlobTellsOverflow(t *testing.T) {
	content := map[string]string{}
	for i := range 300 {
		content[fmt.Sprintf("d%d/f%03d.txt", i%3, i)] = ""
	}
	p := newProject(t, content)
	text, details, err := p.call(t.Context(), "glob", args{"pattern": "*.txt"})
	found, _ := details.(search.Found)
	if err != nil || found.Total != 300 || len(found.Paths) != 250 || !strings.HasSuffix(text, "\n[250 of 300 shown; use a narrower pattern]") {
		t.Errorf("%d of %d, %v: %q", len(found.Paths), found.Total, err, text[len(text)-60:])
	}
	ctx, cancel := context.WithCancel(t.Context())
	call, err := p.tools["glob"].Prepare(ctx, `{"pattern":"*"}`)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := call.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestGrep(t *testing.T) {
	p := newProject(t, tree)
	tests := []struct {
		name      string
		arguments args
		want      string
	}{
		{"in the order of the walk", args{"pattern": "hello"}, "a/a_test.go\n2:// hello\n\na/deep/x.ts\n1:let hello\n\nb/notes\n1:Say hello.\n3:hello again\n6:hello\n\nlatin\n1:caf\ufffd hello"},
		{"case", args{"pattern": "HELLO", "ignore_case": true, "path": "main.go"}, "main.go\n4:\tprintln(\"Hello\")"},
		{"one file", args{"pattern": "hello", "path": "a/deep/x.ts"}, "a/deep/x.ts\n1:let hello"},
		{"one directory", args{"pattern": "package", "path": "a"}, "a/a.go\n1:package a\n\na/a_test.go\n1:package a"},
		{"some files", args{"pattern": "hello", "include": "*.{go,ts}"}, "a/a_test.go\n2:// hello\n\na/deep/x.ts\n1:let hello"},
		{"some files by path", args{"pattern": "package", "include": "a/*_test.go"}, "a/a_test.go\n1:package a"},
		{"end of a line, whatever its end", args{"pattern": "^package a$"}, "a/a.go\n1:package a\n\na/a_test.go\n1:package a"},
		{"expression", args{"pattern": `a.b`, "path": "special(1)"}, "special(1)\n1:a.b\n2:axb"},
		{"literal", args{"pattern": `a.b`, "literal": true}, "special(1)\n1:a.b"},
		{"invalid expression", args{"pattern": `println("Hello"`}, "main.go\n4:\tprintln(\"Hello\")\n[the pattern was read as plain text: error parsing regexp: missing closing ): `println(\"Hello\"`]"},
		{"alternatives", args{"pattern": "(func|let) \\w+"}, "a/deep/x.ts\n1:let hello\n\nmain.go\n3:func main() {"},
		{"context", args{"pattern": "hello", "path": "b", "context": 1}, "b/notes\n1:Say hello.\n2-No\n3:hello again\n4-and\n5-more\n6:hello"},
		{"context with a gap", args{"pattern": "Say|more", "path": "b", "context": 1}, "b/notes\n1:Say hello.\n2-No\n--\n4-and\n5:more\n6-hello"},
		{"context within context", args{"pattern": "No|hello", "path": "b", "context": 3}, "b/notes\n1:Say hello.\n2:No\n3:hello again\n4-and\n5-more\n6:hello"},
		{"nothing", args{"pattern": "zzz"}, "[no match in 10 files]"},
		{"line ends", args{"pattern": `main\n`}, "main.go\n1:package main"},
		{"literal line ends", args{"pattern": "No\nhello", "literal": true}, "b/notes\n2:No\n3:hello again"},
		{"line ends of Windows", args{"pattern": `package a\n// h.*`}, "a/a_test.go\n1:package a\n2:// hello"},
		{"across lines", args{"pattern": "func.*}", "multiline": true, "before": 1}, "main.go\n2-\n3:func main() {\n4:\tprintln(\"Hello\")\n5:}"},
		{"the ends of a line, across lines", args{"pattern": "^No$|^more$", "path": "b", "multiline": true}, "b/notes\n2:No\n5:more"},
		{"a type", args{"pattern": "hello", "type": "ts"}, "a/deep/x.ts\n1:let hello"},
		{"another name of a type", args{"pattern": "(?i)hello", "type": "TypeScript"}, "a/deep/x.ts\n1:let hello"},
		{"a type and a glob", args{"pattern": "package", "type": "go", "include": "a/*"}, "a/a.go\n1:package a\n\na/a_test.go\n1:package a"},
		{"a type that no file has", args{"pattern": "package", "type": "rust"}, "[no file was searched; check path, include and type]"},
		{"files", args{"pattern": "hello", "output_mode": "files_with_matches"}, "a/a_test.go\na/deep/x.ts\nb/notes\nlatin"},
		{"some of the files", args{"pattern": "hello", "output_mode": "files_with_matches", "limit": 3}, "a/a_test.go\na/deep/x.ts\nb/notes\n" +
			"[3 of 4 files; narrow the search with path, include, type or a longer pattern, or list the files with output_mode]"},
		{"counts", args{"pattern": "hello", "output_mode": "count"}, "a/a_test.go:1\na/deep/x.ts:1\nb/notes:3\nlatin:1\n[6 matches in 4 files]"},
		{"some of the counts", args{"pattern": "hello", "output_mode": "count", "limit": 1}, "a/a_test.go:1\n" +
			"[6 matches in 4 files, of which 1 are shown; narrow the search with path, include, type or a longer pattern, or list the files with output_mode]"},
		{"some of the matches", args{"pattern": "hello", "path": "b", "limit": 2}, "b/notes\n1:Say hello.\n3:hello again\n" +
			"[2 of 3 matches in 1 file; narrow the search with path, include, type or a longer pattern, or list the files with output_mode]"},
		{"lines before", args{"pattern": "hello again", "path": "b", "before": 1}, "b/notes\n2-No\n3:hello again"},
		{"lines after", args{"pattern": "Say|more", "path": "b", "after": 1}, "b/notes\n1:Say hello.\n2-No\n--\n5:more\n6-hello"},
		{"empty match", args{"pattern": "x*", "path": "b/notes", "context": 0}, "b/notes\n1:Say hello.\n2:No\n3:hello again\n4:and\n5:more\n6:hello"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if text, _, err := p.call(t.Context(), "grep", test.arguments); err != nil || text != test.want {
				t.Errorf("%v\n got %q\nwant %q", err, text, test.want)
			}
		})
	}
	for want, arguments := range map[string]args{
		"is not valid":          {"pattern": "x", "include": "{"},
		"outside the workspace": {"pattern": "x", "path": "/etc"},
		"context: must be at":   {"pattern": "x", "context": 99},
	} {
		if text, _, err := p.call(t.Context(), "grep", arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %q, %v; want %q", arguments, text, err, want)
		}
	}
}

func TestGrepIsBounded(t *testing.T) {
	content := map[string]string{"long": strings.Repeat("x", 5000) + "needle" + strings.Repeat("y", 5000) + "\n", "large": strings.Repeat("needle\n", 17<<20/7)}
	for i := range 50 {
		content[fmt.Sprintf("many/f%02d", i)] = strings.Repeat("pin\n", 10)
		content[fmt.Sprintf("wide/f%02d", i)] = strings.Repeat("tack"+strings.Repeat("-", 200)+"\n", 5)
	}
	p := newProject(t, content)
	t.Run("matches", func(t *testing.T) {
		text, details, err := p.call(t.Context(), "grep", args{"pattern": "pin"})
		if want := (search.Matched{Matches: 500, Files: 50, Shown: 120, Searched: 101, Skipped: 1}); err != nil || details != want {
			t.Errorf("%+v, %v; want %+v", details, err, want)
		}
		if !strings.Contains(text, "[120 of 500 matches in 50 files; narrow the search") {
			t.Errorf("the result does not report the limit: %q", text[len(text)-200:])
		}
	})
	t.Run("matches of one file", func(t *testing.T) {
		_, details, err := p.call(t.Context(), "grep", args{"pattern": ".", "path": "many"})
		if m := details.(search.Matched); err != nil || m.Shown != 120 || m.Matches != 500 || m.More {
			t.Errorf("%+v, %v", details, err)
		}
	})
	t.Run("text", func(t *testing.T) {
		text, details, err := p.call(t.Context(), "grep", args{"pattern": "tack", "path": "wide"})
		if m := details.(search.Matched); err != nil || m.Matches != 250 || m.Shown < 40 || m.Shown == 250 || len(text) > 13<<10 {
			t.Errorf("%d bytes, %+v, %v", len(text), details, err)
		}
	})
	t.Run("a long line, and a file that is too large", func(t *testing.T) {
		text, _, err := p.call(t.Context(), "grep", args{"pattern": "needle"})
		if err != nil || len(text) > 600 || !strings.Contains(text, "…x") || !strings.Contains(text, "needley") || !strings.Contains(text, "[not searched: large (larger than 16 MB)]") {
			t.Errorf("%q, %v", text, err)
		}
	})
	t.Run("more than it counts", func(t *testing.T) {
		content := map[string]string{"a": "x\n"}
		for i := range 20 {
			content[fmt.Sprintf("f%02d", i)] = strings.Repeat("x\n", 1000)
		}
		for range 5 {
			text, details, err := newProject(t, content).call(t.Context(), "grep", args{"pattern": "x", "output_mode": "count", "limit": 1})
			if m := details.(search.Matched); err != nil || !m.More || m.Matches != 10_001 || m.Files != 11 || !strings.Contains(text, "[at least 10001 matches in 11 files, of which 1 are shown; ") {
				t.Errorf("%+v, %v: %q", details, err, text)
			}
		}
	})
	t.Run("a match of many lines", func(t *testing.T) {
		text, details, err := p.call(t.Context(), "grep", args{"pattern": "tack.*", "path": "wide", "multiline": true})
		if m := details.(search.Matched); err != nil || m.Matches != 50 || len(text) > 13<<10 {
			t.Errorf("%d bytes, %+v, %v", len(text), details, err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		call, err := p.tools["grep"].Prepare(ctx, `{"pattern":"nothing"}`)
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		cancel(why)
		if _, err := call.Run(ctx, nil); !errors.Is(err, why) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("always the same", func(t *testing.T) {
		first, _, _ := p.call(t.Context(), "grep", args{"pattern": "pin|tack"})
		for range 10 {
			if again, _, _ := p.call(t.Context(), "grep", args{"pattern": "pin|tack"}); again != first {
				t.Fatal("two searches of one tree differ")
			}
		}
	})
}
