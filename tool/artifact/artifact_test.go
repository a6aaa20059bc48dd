package artifact_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/artifact"
)

type arguments struct {
	Name    string `json:"name,omitempty"`
	Content string `json:"content,omitempty"`
	Offset  int    `json:"offset,omitempty"`
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
	one := artifact.New(dir)
	if text, _, err := run(t, one, arguments{}); err != nil || text != "[no artifacts yet]" {
		t.Errorf("text %q, error %v", text, err)
	}
	if _, _, err := run(t, one, arguments{Name: "x"}); err == nil || !strings.Contains(err.Error(), "there is no artifact x") {
		t.Errorf("error %v", err)
	}
	text, details, err := run(t, one, arguments{Name: "x y.md", Content: "Grüße"})
	if want := (artifact.Kept{Name: "x y.md", File: filepath.Join(dir, "x y.md"), Bytes: 7, Saved: true}); err != nil || text != "saved x y.md: 7 bytes" || details != want {
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
	for _, name := range []string{dir, filepath.Join(dir, "x y.md")} {
		if info, err := os.Stat(name); err != nil || filepath.Separator == '/' && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, error %v", name, info.Mode(), err)
		}
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
		call, err := artifact.New(dir).Prepare(t.Context(), in)
		if err != nil || fmt.Sprint(call.Effects) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, error %v, want %+v", in, call.Effects, err, want)
		}
	}
}

func TestNamesThatAreRefused(t *testing.T) {
	dir := t.TempDir()
	one := artifact.New(filepath.Join(dir, "in"))
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

func TestLinksLeadNowhere(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(dir, "x")); err != nil {
		t.Skip(err) // Windows asks for a privilege
	}
	one := artifact.New(dir)
	if text, _, err := run(t, one, arguments{Name: "x"}); err == nil {
		t.Errorf("read %q", text)
	}
	if _, _, err := run(t, one, arguments{Name: "x", Content: "y"}); err == nil {
		t.Error("written through a link")
	}
	if text, _, err := run(t, one, arguments{}); err != nil || text != "[no artifacts yet]" {
		t.Errorf("text %q, error %v", text, err)
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
		t.Errorf("%q, error %v", data, err)
	}
}

func TestLongArtifactsComeInParts(t *testing.T) {
	one := artifact.New(t.TempDir())
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
	one := artifact.New(t.TempDir())
	if _, _, err := run(t, one, arguments{Name: "x", Content: strings.Repeat("x", 1<<20+1)}); err == nil || !strings.Contains(err.Error(), "save it in parts") {
		t.Errorf("error %v", err)
	}
	large := t.TempDir()
	for i := range 31 {
		if err := os.WriteFile(filepath.Join(large, fmt.Sprint("f", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(large, fmt.Sprint("f", i)), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	one = artifact.New(large)
	if _, _, err := run(t, one, arguments{Name: "x", Content: strings.Repeat("x", 1<<20)}); err != nil {
		t.Error(err)
	}
	if _, _, err := run(t, one, arguments{Name: "y", Content: "y"}); err == nil || !strings.Contains(err.Error(), "make one of them shorter") {
		t.Errorf("error %v", err)
	}
	many := t.TempDir()
	for i := range 200 {
		if err := os.WriteFile(filepath.Join(many, fmt.Sprint("f", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one = artifact.New(many)
	if _, _, err := run(t, one, arguments{Name: "x", Content: "y"}); err == nil || !strings.Contains(err.Error(), "200 artifacts already") {
		t.Errorf("error %v", err)
	}
	if _, _, err := run(t, one, arguments{Name: "f7", Content: "y"}); err != nil {
		t.Error(err)
	}
}

func TestFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	one := artifact.New(dir)
	for name, data := range map[string]string{"binary": "\x00\x01\x02", "large": strings.Repeat("x", 1<<20+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, _, err := run(t, one, arguments{Name: name}); err == nil {
			t.Errorf("%s: %.20q", name, text)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, one, arguments{Name: "d"}); err == nil {
		t.Error("a directory is read")
	}
	if _, _, err := run(t, one, arguments{Name: "d", Content: "x"}); err == nil {
		t.Error("a directory is replaced")
	}
}

func TestSavesSideBySide(t *testing.T) {
	one := artifact.New(t.TempDir())
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
	one := artifact.New(dir)
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

func TestSpecIsShort(t *testing.T) {
	if text, err := json.Marshal(artifact.New(t.TempDir()).Spec()); err != nil || len(text) > 320 {
		t.Errorf("%d bytes, error %v", len(text), err)
	}
}
