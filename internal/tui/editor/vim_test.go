package editor_test

import (
	"testing"

	"github.com/tenon-agent/tenon/internal/tui/editor"
)

func TestVimKeys(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"one two", "<esc>", "one tw|o"},
		{"one two", "<esc>0x", "|ne two"},
		{"one two", "<esc>bdw", "one| "},
		{"one two three", "<esc>02dw", "|three"},
		{"one two three", "<esc>0d2w", "|three"},
		{"one two three", "<esc>0wdwP", "one two| three"},
		{"one two", "<esc>0cwnew<esc>", "ne|w two"},
		{"one two", "<esc>0dee", " tw|o"},
		{"one\ntwo\nthree", "<esc>ggdd", "|two\nthree"},
		{"one\ntwo\nthree", "<esc>dd", "one\n|two"},
		{"one\ntwo\nthree", "<esc>gg2ddp", "three\n|one\ntwo"},
		{"one\ntwo\nthree", "<esc>ggyyGp", "one\ntwo\nthree\n|one"},
		{"one\ntwo\nthree", "<esc>ggdj", "|three"},
		{"one\ntwo\nthree", "<esc>2Gccnew", "one\nnew|\nthree"},
		{"one\ntwo", "<esc>kAx<esc>jIy", "onex\ny|two"},
		{"one\ntwo", "<esc>ggox<esc>Oy", "one\ny|\nx\ntwo"},
		{"one two", "<esc>0vey", "|one two"},
		{"one two", "<esc>0ved", "| two"},
		{"one two", "<esc>0veyP", "on|eone two"},
		{"one\ntwo\nthree", "<esc>ggVjd", "|three"},
		{"one two", "<esc>0vlcX", "X|e two"},
		{"one two", "<esc>xxu", "one t|w"},
		{"one two", "<esc>xxuu<ctrl+r>", "one t|w"},
		{"one two", "<esc>0D", "|"},
		{"one two", "<esc>03rx", "xx|x two"},
		{"one two", "<esc>0$", "one tw|o"},
		{"  one", "<esc>^iX", "  X|one"},
		{"one", "<esc>ahi", "onehi|"},
		{"日本語", "<esc>hx", "日|語"},
		{"one", "<esc>0d<esc>w", "on|e"},
		{"", "<esc>dwxpGgg$dd", "|"},
	} {
		e := newEditor(t, editor.Options{Vim: true})
		e.Insert(c.text)
		typeKeys(e, c.keys)
		if got := marked(e); got != c.want {
			t.Errorf("%q %s: got %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestVimWantsItsKeys(t *testing.T) {
	e := newEditor(t, editor.Options{Vim: true})
	if !e.Wants(press("esc")) || e.Wants(press("ctrl+r")) || e.Mode() != "insert" {
		t.Error("insert mode")
	}
	typeKeys(e, "<esc>")
	if e.Wants(press("esc")) || !e.Wants(press("ctrl+r")) || !e.Wants(press("?")) || e.Wants(press("ctrl+c")) || e.Mode() != "normal" {
		t.Error("normal mode")
	}
	typeKeys(e, "d")
	if !e.Wants(press("esc")) {
		t.Error("a pending operator")
	}
	e.SetVim(false)
	if typeKeys(e, "dd"); e.Text() != "dd" || e.Mode() != "" || e.Wants(press("esc")) {
		t.Error("without vim")
	}
}

// The other end of a selection stays on a grapheme if a paste or a recalled prompt replaces the text.
func TestASelectionOfAReplacedText(t *testing.T) {
	e := newEditor(t, editor.Options{Vim: true})
	e.Insert("日本")
	typeKeys(e, "<esc>v")
	e.SetValue(editor.Text("éé"))
	typeKeys(e, "d")
	if err := e.Check(); err != nil || e.Text() != "éé" {
		t.Errorf("%q: %v", e.Text(), err)
	}
}
