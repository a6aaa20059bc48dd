package editor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/editor"
)

// withHistory returns an editor with the history in a file.
func withHistory(t *testing.T, path, dir string) *editor.Editor {
	t.Helper()
	return newEditor(t, editor.Options{History: editor.NewHistory(path, dir, func(s string) string { return strings.ReplaceAll(s, "secret", "[redacted]") })})
}

func TestHistoryAcrossProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history.jsonl")
	one := withHistory(t, path, "/one")
	typeKeys(one, "fix a<enter>fix b<enter>say hello<enter>! ls<enter>fix b<enter>the secret is out<enter>")
	two := withHistory(t, path, "/two")
	typeKeys(two, "other<enter>")
	if runtime.GOOS != "windows" {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
	}
	three := withHistory(t, path, "/one")
	for _, want := range []string{"the [redacted] is out", "fix b", "! ls", "say hello", "fix a", "other", "other"} {
		if typeKeys(three, "<up>"); three.Text() != want {
			t.Errorf("got %q, want %q", three.Text(), want)
		}
	}
	for _, want := range []string{"fix a", "say hello"} {
		if typeKeys(three, "<down>"); three.Text() != want {
			t.Errorf("got %q, want %q", three.Text(), want)
		}
	}
}

func TestAnotherProject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	typeKeys(withHistory(t, path, "/one"), "in one<enter>")
	typeKeys(withHistory(t, path, "/two"), "in two<enter>")
	e := withHistory(t, path, "/two")
	if typeKeys(e, "<up><down>"); e.Text() != "" {
		t.Errorf("got %q", e.Text())
	}
	e.SetProject("/one", files("here.go"))
	if typeKeys(e, "<up>"); e.Text() != "in one" {
		t.Errorf("got %q", e.Text())
	}
	e.Clear()
	if typeKeys(e, "@her<tab>"); e.Text() != "@here.go " {
		t.Errorf("got %q", e.Text())
	}
}

func TestHistoryFiltersByTheTextBeforeTheCursor(t *testing.T) {
	e := withHistory(t, filepath.Join(t.TempDir(), "h"), "")
	typeKeys(e, "fix a<enter>say hello<enter>fix\\<enter>b<enter>fix<up>")
	if e.Text() != "fix\nb" {
		t.Errorf("got %q", e.Text())
	}
	if typeKeys(e, "<up>"); e.Text() != "fix a" {
		t.Errorf("got %q", e.Text())
	}
	if typeKeys(e, "<down><down>"); e.Text() != "fix" {
		t.Errorf("the text before is gone: %q", e.Text())
	}
	if typeKeys(e, "<up>!<up>"); e.Text() != "fix\nb!" {
		t.Errorf("a changed prompt is replaced: %q", e.Text())
	}
	if typeKeys(e, "x<ctrl+/>"); e.Text() != "fix\nb!" {
		t.Errorf("got %q", e.Text())
	}
}

func TestDamagedLinesAreSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	if err := os.WriteFile(path, []byte("{\"text\":\"good\"}\n{\"text\":\n\x00\xff\n[]\n{\"text\":\"hostile\\u001b[2J\"}\n{\"text\":\"cut of"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := withHistory(t, path, "")
	typeKeys(e, "new<enter>")
	e = withHistory(t, path, "")
	for _, want := range []string{"new", "hostile[2J", "good"} {
		if typeKeys(e, "<up>"); e.Text() != want {
			t.Errorf("got %q, want %q", e.Text(), want)
		}
	}
}

func TestTheFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	var b strings.Builder
	for i := range 70 {
		fmt.Fprintf(&b, "{\"text\":\"%d %s\"}\n", i, strings.Repeat("x", 63<<10))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e := withHistory(t, path, "")
	typeKeys(e, "new<enter>")
	info, err := os.Stat(path)
	if err != nil || info.Size() > 2<<20+1<<10 || info.Size() < 1<<20 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	e = withHistory(t, path, "")
	if typeKeys(e, "<up>"); e.Text() != "new" {
		t.Errorf("got %q", e.Text())
	}
	if typeKeys(e, "<up>"); !strings.HasPrefix(e.Text(), "69 ") {
		t.Errorf("got %.10q", e.Text())
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.tmp")); len(left) > 0 || err != nil {
		t.Errorf("%q %v", left, err)
	}
}

func TestAHistoryThatCannotBeStored(t *testing.T) {
	dir := t.TempDir()
	e := newEditor(t, editor.Options{History: editor.NewHistory(filepath.Join(dir, "file", "h"), "", nil)})
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	msgs := typeKeys(e, "x<enter>")
	if len(msgs) != 2 {
		t.Fatalf("%v", msgs)
	}
	if failed, ok := msgs[1].(editor.Failed); !ok || !strings.Contains(failed.Err.Error(), "cannot store the prompt") {
		t.Errorf("%v", msgs)
	}
}

// popup returns the lines of the popup without colors.
func popup(e *editor.Editor) string {
	if e.Popup() == nil {
		return ""
	}
	return ansi.Strip(strings.Join(e.Popup().Lines(60, 10), "\n"))
}

func TestSearchOfTheHistory(t *testing.T) {
	e := withHistory(t, filepath.Join(t.TempDir(), "h"), "")
	typeKeys(e, "fix the parser<enter>say hello<enter>fix\\<enter>two lines<enter>draft<ctrl+r>")
	if got, want := popup(e), "history: ▏\n› fix two lines                                             \n  say hello\n  fix the parser"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	typeKeys(e, "fixp")
	if got, want := popup(e), "history: fixp▏\n› fix the parser                                            "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	typeKeys(e, "<backspace><backspace><backspace><backspace><down><enter>")
	if e.Text() != "say hello" {
		t.Errorf("got %q", e.Text())
	}
	typeKeys(e, "<ctrl+/><ctrl+r>fixp")
	if !e.Wants(press("esc")) || !e.Wants(press("ctrl+r")) {
		t.Error("the search does not want its keys")
	}
	if typeKeys(e, "<esc>"); e.Text() != "draft" || e.Popup() != nil {
		t.Errorf("got %q", e.Text())
	}
	typeKeys(e, "<ctrl+r>fix")
	if e.Clear(); e.Text() != "draft" || e.Popup() != nil {
		t.Errorf("Clear leaves the search open, or clears %q", e.Text())
	}
	if msgs := typeKeys(e, "<ctrl+r>fix<ctrl+r><ctrl+r><up><backspace><backspace><backspace>say<enter>"); len(msgs) != 0 || e.Text() != "say hello" || e.Popup() != nil {
		t.Errorf("got %q, %v", e.Text(), msgs)
	}
	if typeKeys(e, "<ctrl+/>"); e.Text() != "draft" {
		t.Errorf("got %q", e.Text())
	}
}

func FuzzHistory(f *testing.F) {
	f.Add([]byte("{\"text\":\"a\"}\n{\"text\":\"\\u001b\",\"dir\":\"/x\"}\n{"))
	f.Add([]byte("\n\x00\n[1]\n{\"text\":1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "h")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		e := withHistory(t, path, "/x")
		typeKeys(e, "new<enter>")
		again := withHistory(t, path, "/y")
		typeKeys(again, "<up>")
		if want := "new"; again.Text() != want && !strings.Contains(string(data), `"dir"`) {
			t.Fatalf("got %q, want %q", again.Text(), want)
		}
		if err := again.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
