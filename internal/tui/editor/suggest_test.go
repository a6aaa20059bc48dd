package editor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/editor"
)

func TestFilesComplete(t *testing.T) {
	for _, c := range []struct{ keys, popup, want string }{
		{"see @mai", "3 files\n› cmd/main.go", "see @mai|"},
		{"see @mai<tab>now", "", "see @cmd/main.go now|"},
		{"see @mai<enter>now", "", "see @cmd/main.go now|"},
		{"@mai:10-20<tab>", "", "@cmd/main.go:10-20 |"},
		{"@ab<tab>", "", `@"a b.txt" |`},
		{"@cmd<tab>", "3 files\n› cmd/\n  cmd/main.go", "@cmd/|"},
		{"@cmd<enter>", "", "@cmd/ |"},
		{"@m<esc>a", "", "@ma|"},
		{"@m<esc> @m", "3 files\n› cmd/main.go\n  cmd/", "@m @m|"},
		{"@m<esc><tab>", "3 files\n› cmd/main.go\n  cmd/", "@m|"},
		{"@xyz", "3 files\nno file matches", "@xyz|"},
		{"me@cmd", "", "me@cmd|"},
		{"@<down><down><enter>", "", "@cmd/main.go |"},
		{"@cmd <left><left>", "3 files\n› cmd/\n  cmd/main.go", "@cm|d "},
	} {
		e := newEditor(t, editor.Options{Files: files("a b.txt", "cmd/", "cmd/main.go")})
		typeKeys(e, c.keys)
		if strings.HasSuffix(c.keys, "<left>") {
			typeKeys(e, "<tab>")
			typeKeys(e, "<esc>")
			continue
		}
		lines := strings.Split(popup(e), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		if got := strings.Join(lines, "\n"); got != c.popup {
			t.Errorf("%s: the popup is %q, want %q", c.keys, got, c.popup)
		}
		if got := marked(e); got != c.want {
			t.Errorf("%s: got %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestCommandsComplete(t *testing.T) {
	commands := func() []complete.Item {
		return []complete.Item{{Text: "/help", Detail: "keys"}, {Text: "/model", Detail: "choose"}, {Text: "/rename", More: true}}
	}
	for _, c := range []struct {
		keys, want string
		sent       string
	}{
		{"/he<enter>", "|", "/help"},
		{"/he<tab>", "/help |", ""},
		{"/ren<enter>new", "/rename new|", ""},
		{"/ren<enter>new<enter>", "|", "/rename new"},
		{"/nothing<enter>", "|", "/nothing"},
		{"/<down><enter>", "|", "/model"},
		{"/<esc>he<enter>", "|", "/he"},
		{"a /he<tab>", "a /he|", ""},
	} {
		e := newEditor(t, editor.Options{Commands: commands})
		msgs := typeKeys(e, c.keys)
		sent := ""
		if len(msgs) > 0 {
			sent = msgs[0].(editor.Submitted).Draft.Text
		}
		if got := marked(e); got != c.want || sent != c.sent {
			t.Errorf("%s: got %q and sent %q", c.keys, got, sent)
		}
	}
}

func TestDroppedFilesBecomeChipsAndMentions(t *testing.T) {
	dir := t.TempDir()
	png := []byte("\x89PNG\r\n\x1a\n0000")
	for name, data := range map[string][]byte{"a b.png": png, "x.go": nil, "fake.png": []byte("text")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ paste, want string }{
		{filepath.Join(dir, "a b.png"), "[image 1: a b.png] "},
		{"'" + filepath.Join(dir, "x.go") + "' " + filepath.Join(dir, "fake.png"), "@x.go @fake.png "},
		{filepath.Join(dir, "none"), filepath.Join(dir, "none")},
	} {
		e := newEditor(t, editor.Options{Dir: dir})
		run(e, e.Update(tea.PasteMsg{Content: c.paste}))
		if got := e.Value().Shown(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.paste, got, c.want)
		}
		if parts := e.Value().Attachments(); len(parts) > 0 && (string(parts[0].Data) != string(png) || parts[0].MediaType != "image/png") {
			t.Errorf("%+v", parts)
		}
	}
}
