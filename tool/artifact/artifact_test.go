package artifact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/workspace/contents"
)

type arguments struct {
	Name    string `json:"name,omitempty"`
	Content string `json:"content,omitempty"`
	Offset  int    `json:"offset,omitempty"`
}

// texts is the tool with its texts in a directory.
func texts(dir string, saved ...artifact.Kept) tool.Tool {
	return artifact.New(artifact.Options{
		Store: contents.NewDir(dir, contents.Options{}), Dir: dir,
		Saved: func(context.Context) ([]artifact.Kept, error) { return saved, nil },
	})
}

func run(t testing.TB, one tool.Tool, args arguments) (string, artifact.Kept, error) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	call, err := one.Prepare(t.Context(), string(text))
	if err != nil {
		return "", artifact.Kept{}, err
	}
	result, err := call.Run(t.Context(), nil)
	details, _ := result.Details.(artifact.Kept)
	return result.Content.Text(), details, err
}

func TestSaveAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	one := texts(dir)
	if text, _, err := run(t, one, arguments{}); err != nil || text != "[no artifacts yet]" {
		t.Errorf("text %q, error %v", text, err)
	}
	if _, _, err := run(t, one, arguments{Name: "x"}); err == nil || !strings.Contains(err.Error(), "artifact x not found") {
		t.Errorf("error %v", err)
	}
	text, details, err := run(t, one, arguments{Name: "x y.md", Content: "Grüße"})
	if data, e := os.ReadFile(details.File); e != nil || string(data) != "Grüße" || filepath.Dir(details.File) != dir {
		t.Errorf("%s: %q, %v", details.File, data, e)
	}
	if details.File, details.Hash = "", ""; err != nil || text != "saved x y.md: 7 bytes" || details != (artifact.Kept{Name: "x y.md", Bytes: 7, Saved: true}) {
		t.Errorf("text %q, details %+v, error %v", text, details, err)
	}
	if text, _, err := run(t, one, arguments{Name: "x y.md", Content: "new"}); err != nil || text != "replaced x y.md: 3 bytes" {
		t.Errorf("text %q, error %v", text, err)
	}
	if text, details, err := run(t, one, arguments{Name: "x y.md"}); err != nil || text != "new" || details.Bytes != 3 {
		t.Errorf("text %q, error %v", text, err)
	}
	if text, details, err := run(t, one, arguments{}); err != nil || text != "x y.md (3 bytes)" || details.Files != 1 {
		t.Errorf("text %q, error %v", text, err)
	}
}

// A later process has the artifacts that the details of earlier calls name: the last text of each name.
func TestArtifactsResume(t *testing.T) {
	dir := t.TempDir()
	one := texts(dir)
	var saved []artifact.Kept
	for _, args := range []arguments{{Name: "a", Content: "old"}, {Name: "b", Content: "b"}, {Name: "a", Content: "newer"}, {Name: "b"}} {
		_, details, err := run(t, one, args)
		if err != nil {
			t.Fatal(err)
		}
		saved = append(saved, details)
	}
	later := texts(dir, saved...)
	if text, details, err := run(t, later, arguments{}); err != nil || text != "a (5 bytes)\nb (1 bytes)" || details.Bytes != 6 {
		t.Errorf("text %q, details %+v, error %v", text, details, err)
	}
	if text, _, err := run(t, later, arguments{Name: "a"}); err != nil || text != "newer" {
		t.Errorf("text %q, error %v", text, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, later, arguments{Name: "a"}); !errors.Is(err, contents.ErrNotKept) {
		t.Errorf("a text that is gone: %v", err)
	}
}

func TestEffects(t *testing.T) {
	dir := t.TempDir()
	file, tree := tool.File(filepath.Join(dir, "x")), tool.Tree(dir)
	for in, want := range map[string]tool.Effects{
		`{}`:                         {Reads: []tool.Path{tree}, Idempotent: true},
		`{"name":"x"}`:               {Reads: []tool.Path{file}, Idempotent: true},
		`{"name":"x","content":"y"}`: {Writes: []tool.Path{file}, Idempotent: true},
	} {
		call, err := texts(dir).Prepare(t.Context(), in)
		if err != nil || fmt.Sprint(call.Effects) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, error %v, want %+v", in, call.Effects, err, want)
		}
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	one := texts(filepath.Join(dir, "in"))
	for _, name := range []string{
		"", ".", "..", ".hidden", "../x", "a/b", `a\b`, "/x", "c:x", "x\x00", "x\n", " x", "x ", "x.", "~", "ü", "a*b", strings.Repeat("x", 101), "-\u202e",
	} {
		if text, _, err := run(t, one, arguments{Name: name, Content: "c"}); err == nil {
			t.Errorf("%q: %s", name, text)
		}
		if name == "" {
			continue
		}
		if text, _, err := run(t, one, arguments{Name: name}); err == nil {
			t.Errorf("%q: %s", name, text)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is there, error %v", left, err)
	}
}

func TestLongArtifactsComeInParts(t *testing.T) {
	one := texts(t.TempDir())
	for name, content := range map[string]string{
		"lines": strings.Repeat("a line of it ü\n", 10_000),
		"runes": strings.Repeat("ü", 100_000),
	} {
		if _, _, err := run(t, one, arguments{Name: name, Content: content}); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for offset := 0; offset < len(content); {
			text, details, err := run(t, one, arguments{Name: name, Offset: offset})
			if err != nil || !utf8.ValidString(text) || details.Bytes != len(content) {
				t.Fatalf("details %+v, error %v", details, err)
			}
			at := strings.LastIndex(text, "[bytes ")
			var first, last, all int
			if _, err := fmt.Sscanf(text[at:], "[bytes %d-%d of %d", &first, &last, &all); err != nil || first != offset || all != len(content) || last <= first {
				t.Fatalf("note %q, error %v", text[at:], err)
			}
			got.WriteString(text[:last-first])
			offset = last
		}
		if got.String() != content {
			t.Errorf("%s: %d of %d bytes", name, got.Len(), len(content))
		}
	}
	if text, _, err := run(t, one, arguments{Name: "lines", Offset: 1 << 40}); err != nil || !strings.HasPrefix(text, "[bytes ") {
		t.Errorf("text %q, error %v", text, err)
	}
}

func TestThereIsAnEnd(t *testing.T) {
	if _, _, err := run(t, texts(t.TempDir()), arguments{Name: "x", Content: strings.Repeat("x", 1<<20+1)}); err == nil || !strings.Contains(err.Error(), "save it in parts") {
		t.Errorf("error %v", err)
	}
	one, full := texts(t.TempDir()), strings.Repeat("x", 1<<20)
	for i := range 32 {
		if _, _, err := run(t, one, arguments{Name: fmt.Sprint("f", i), Content: full}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := run(t, one, arguments{Name: "y", Content: "y"}); err == nil || !strings.Contains(err.Error(), "make one of them shorter") {
		t.Errorf("error %v", err)
	}
	one = texts(t.TempDir())
	for i := range 200 {
		if _, _, err := run(t, one, arguments{Name: fmt.Sprint("f", i), Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := run(t, one, arguments{Name: "x", Content: "y"}); err == nil || !strings.Contains(err.Error(), "already 200 artifacts") {
		t.Errorf("error %v", err)
	}
	if _, _, err := run(t, one, arguments{Name: "f7", Content: "y"}); err != nil {
		t.Error(err)
	}
}

func TestSavesSideBySide(t *testing.T) {
	one := texts(t.TempDir())
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			if _, _, err := run(t, one, arguments{Name: fmt.Sprint("f", i%4), Content: strings.Repeat("x", 1000)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if text, details, err := run(t, one, arguments{}); err != nil || details.Files != 4 || details.Bytes != 4000 {
		t.Errorf("text %q, error %v", text, err)
	}
}

// A name that is taken is a file in the directory and nothing else.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"x", "..", "a/b", "CON", "a\x00", "x.y-z", "é", "-", " "} {
		f.Add(seed)
	}
	dir := f.TempDir()
	one := texts(dir)
	f.Fuzz(func(t *testing.T, name string) {
		_, details, err := run(t, one, arguments{Name: name, Content: "x"})
		if err != nil {
			return
		}
		if filepath.Dir(details.File) != dir || !filepath.IsLocal(details.Name) {
			t.Fatalf("%q is %s", name, details.File)
		}
		if data, err := os.ReadFile(details.File); err != nil || string(data) != "x" {
			t.Fatalf("%q is %q, error %v", name, data, err)
		}
		if err := os.Remove(details.File); err != nil {
			t.Fatal(err)
		}
	})
}
