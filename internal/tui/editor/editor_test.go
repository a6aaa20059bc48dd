package editor_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden screens")

// newEditor returns an editor with the usual keys.
func newEditor(t testing.TB, o editor.Options) *editor.Editor {
	t.Helper()
	m, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.Theme == nil {
		o.Theme = theme.New("plain", true)
	}
	o.Keys = m
	return editor.New(o)
}

// files returns a list of files.
func files(paths ...string) *complete.Files {
	return complete.NewFiles("", func(context.Context) iter.Seq[string] { return slices.Values(paths) })
}

// special are the keys that are not text.
var special = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "tab": {Code: tea.KeyTab}, "esc": {Code: tea.KeyEscape}, "backspace": {Code: tea.KeyBackspace},
	"delete": {Code: tea.KeyDelete}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft},
	"right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
}

// press makes the message of a key by its name.
func press(name string) tea.KeyPressMsg {
	var mod tea.KeyMod
	rest := name
	for {
		switch {
		case strings.HasPrefix(rest, "ctrl+"):
			mod, rest = mod|tea.ModCtrl, rest[5:]
			continue
		case strings.HasPrefix(rest, "alt+"):
			mod, rest = mod|tea.ModAlt, rest[4:]
			continue
		case strings.HasPrefix(rest, "shift+"):
			mod, rest = mod|tea.ModShift, rest[6:]
			continue
		}
		break
	}
	if k, ok := special[rest]; ok {
		k.Mod = mod
		return k
	}
	r, _ := utf8.DecodeRuneInString(rest)
	k := tea.KeyPressMsg{Code: r, Mod: mod}
	if mod == 0 {
		k.Text = rest
	}
	return k
}

// typeKeys presses keys: words in angle brackets are names of keys, everything else is text.
func typeKeys(e *editor.Editor, script string) (msgs []tea.Msg) {
	for script != "" {
		name := ""
		if end := strings.IndexByte(script, '>'); script[0] == '<' && end > 1 {
			name, script = script[1:end], script[end+1:]
		} else {
			_, size := utf8.DecodeRuneInString(script)
			name, script = script[:size], script[size:]
		}
		msgs = append(msgs, run(e, e.Update(press(name)))...)
	}
	return msgs
}

// run runs a command and everything that it leads to, and returns the messages for the program.
func run(e *editor.Editor, cmd tea.Cmd) (msgs []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			msgs = append(msgs, run(e, c)...)
		}
	case editor.Own:
		msgs = run(e, e.Update(msg))
	case editor.Changed, nil:
	default:
		msgs = append(msgs, msg)
	}
	return msgs
}

// marked returns the text with | at the cursor, as one column shows it.
func marked(e *editor.Editor) string {
	lines := e.Lines(200, 50)
	x, y, ok := e.Cursor()
	for i, line := range lines {
		line = ansi.Strip(line)
		if ok && i == y {
			left := ansi.Truncate(line, x, "")
			line = left + strings.Repeat(" ", x-ansi.StringWidth(left)) + "|" + strings.TrimPrefix(line, left)
		}
		lines[i] = line[min(2, len(line)):]
		if i == 0 {
			_, lines[i], _ = strings.Cut(line, " ")
		}
	}
	return strings.Join(lines, "\n")
}

func TestKeysEditText(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"typing", "hello", "hello|"},
		{"new lines", `a\<enter>b<ctrl+j>c<shift+enter>d`, "a\nb\nc\nd|"},
		{"backspace deletes a grapheme", "ab👨‍👩‍👧<backspace>", "ab|"},
		{"a flag is one grapheme", "🇩🇪🇫🇷<left>x", "🇩🇪x|🇫🇷"},
		{"left over a combining mark", "ae\u0301b<left><left>x", "ax|e\u0301b"},
		{"words", "one two-three<alt+b><alt+b><alt+b>x", "one x|two-three"},
		{"word to the right", "one two<home><alt+f>x", "onex| two"},
		{"home and end", "abc<home>x<end>y", "xabcy|"},
		{"delete a word", "one two <ctrl+w>", "one |"},
		{"delete the next word", "one two<home><alt+d>", "| two"},
		{"delete to the end and yank", "one two<left><left><left><ctrl+k><home><ctrl+y>", "two|one "},
		{"kills in a row are one", "one two<ctrl+w><ctrl+w>x<ctrl+y>", "xone two|"},
		{"delete to the start joins lines", "a<ctrl+j><ctrl+u>b", "ab|"},
		{"up and down keep the column", "long line<ctrl+j>a<ctrl+j>another<up><up>x", "long lix|ne\na\nanother"},
		{"undo by words", "one two<ctrl+/>", "one |"},
		{"undo twice and redo", "one two<ctrl+/><ctrl+/><alt+z><alt+z>", "one two|"},
		{"undo after a move", "ab<left>c<ctrl+/>", "a|b"},
		{"tabs", "a<ctrl+j>", "a\n|"},
		{"delete", "abc<home><delete><ctrl+d>", "|c"},
		{"wide characters", "日本語<left>x", "日本x|語"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEditor(t, editor.Options{})
			typeKeys(e, c.keys)
			if got := marked(e); got != c.want {
				t.Errorf("%s: got %q, want %q", c.keys, got, c.want)
			}
		})
	}
}

func TestClick(t *testing.T) {
	e := newEditor(t, editor.Options{})
	e.Insert("日本語\nabc")
	for _, c := range []struct {
		x, y int
		want string
	}{{4, 0, "日|本語\nabc"}, {5, 0, "日|本語\nabc"}, {0, 1, "日本語\n|abc"}, {90, 0, "日本語|\nabc"}, {3, 9, "日本語\na|bc"}} {
		e.Lines(80, 5)
		if e.Click(c.x, c.y); marked(e) != c.want {
			t.Errorf("%d,%d: got %q, want %q", c.x, c.y, marked(e), c.want)
		}
	}
}

func TestSubmit(t *testing.T) {
	e := newEditor(t, editor.Options{})
	if msgs := typeKeys(e, "  <enter>"); len(msgs) != 0 {
		t.Errorf("blanks were sent: %v", msgs)
	}
	msgs := typeKeys(e, "fix it<enter>")
	if len(msgs) != 1 || msgs[0].(editor.Submitted).Draft.Text != "  fix it" || msgs[0].(editor.Submitted).Lane != editor.FollowUp || !e.Empty() {
		t.Errorf("%+v", msgs)
	}
	if msgs = typeKeys(e, "now<alt+enter>"); msgs[0].(editor.Submitted).Lane != editor.Steer {
		t.Errorf("%+v", msgs)
	}
	if msgs = typeKeys(e, "! ls -l<enter>"); len(msgs) != 1 || msgs[0] != (editor.Bash{Command: "ls -l"}) {
		t.Errorf("%+v", msgs)
	}
	if typeKeys(e, "<ctrl+/>"); !e.Empty() {
		t.Errorf("undo brings a sent prompt back: %q", e.Text())
	}
}

func TestPaste(t *testing.T) {
	e := newEditor(t, editor.Options{})
	run(e, e.Update(tea.PasteMsg{Content: "one\r\ntwo\rthree\x00\x1b[31m\n"}))
	if got, want := e.Text(), "one\ntwo\nthree[31m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	e.Clear()
	long := strings.Repeat("line\n", 240)
	typeKeys(e, "see ")
	run(e, e.Update(tea.PasteMsg{Content: long}))
	typeKeys(e, " please")
	if got, want := marked(e), "see [paste 1: 240 lines] please|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := e.Text(); got != "see "+long+" please" {
		t.Errorf("got %d bytes", len(got))
	}
	run(e, e.Update(tea.PasteMsg{Content: long}))
	if got, want := e.Value().Shown(), "see [paste 1: 240 lines] please[paste 2: 240 lines]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !e.Expand() || e.Text() != "see "+long+" please"+long || len(e.Value().Parts) != 1 {
		t.Errorf("expanded: %q", e.Value().Shown())
	}
	typeKeys(e, "<ctrl+/><backspace>")
	if got, want := e.Value().Shown(), "see [paste 1: 240 lines] please"; got != want {
		t.Errorf("a chip does not delete as one: %q", got)
	}
	typeKeys(e, "<ctrl+/>")
	d := e.Value()
	again := newEditor(t, editor.Options{})
	again.SetValue(d)
	if again.Text() != e.Text() || again.Value().Shown() != d.Shown() {
		t.Errorf("got %q", again.Value().Shown())
	}
}

func TestAPasteOfChipCharactersStaysOnePaste(t *testing.T) {
	e := newEditor(t, editor.Options{})
	run(e, e.Update(tea.PasteMsg{Content: "a\U00100000b"}))
	if got, want := e.Value().Shown(), "[paste 1: 3 characters]"; got != want || e.Text() != "a\U00100000b" || e.Expand() {
		t.Errorf("got %q, %q", got, e.Text())
	}
}

func TestAHugePasteIsRefused(t *testing.T) {
	e := newEditor(t, editor.Options{})
	msgs := run(e, e.Update(tea.PasteMsg{Content: strings.Repeat("x", 16<<20+1)}))
	if failed, ok := msgs[0].(editor.Failed); !ok || !strings.Contains(failed.Err.Error(), "mention a file") || !e.Empty() {
		t.Errorf("%v", msgs)
	}
}

// A prompt that was sent has its chips again where their labels are. Other text in brackets is text.
func TestSent(t *testing.T) {
	one := editor.Part{Kind: editor.Image, MediaType: "image/png", Data: []byte("one")}
	two := editor.Part{Kind: editor.Image, MediaType: "image/gif", Data: []byte("two")}
	for text, want := range map[string]string{
		"a [image 1: png, 1 kB] b [image 2: some name.gif]c": "a \U00100000 b \U00100001c",
		"[image 1: png, 1 kB":                                "[image 1: png, 1 kB",
		"[image of a] [image 0: x] [image 3: x]":             "[image of a] [image 0: x] \U00100000",
		"[image 1: a][image 2: b][image 3: c]":               "\U00100000\U00100001[image 3: c]",
	} {
		if d := editor.Sent(text, []editor.Part{one, two}); d.Text != want || len(d.Parts) != len(d.Attachments()) {
			t.Errorf("%q: got %q with %d parts, want %q", text, d.Text, len(d.Parts), want)
		}
	}
	again := editor.Draft{Text: "a\U00100000b", Parts: []editor.Part{{Kind: editor.Image, Number: 1, MediaType: "image/png", Data: []byte("one")}}}
	if d := editor.Sent(again.Expanded(), []editor.Part{one}); d.Text != again.Text {
		t.Errorf("got %q", d.Text)
	}
}

func FuzzDraft(f *testing.F) {
	f.Add(`{"text":"a \U00100000 b","parts":[{"kind":"paste","text":"x\ny"}]}`)
	f.Add("{\"text\":\"a \U00100001\u0301\U00100000 b\",\"parts\":[{\"kind\":\"file\",\"number\":-7,\"path\":\"a\\u001b/\u202e\"},{}]}")
	f.Fuzz(func(t *testing.T, stored string) {
		var d editor.Draft
		if json.Unmarshal([]byte(stored), &d) != nil {
			return
		}
		e := newEditor(t, editor.Options{Theme: theme.New("dark", true)})
		e.SetValue(d)
		typeKeys(e, "x<left><backspace>")
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
		checkLines(t, e.Lines(9, 5), 9, 5)
		v := e.Value()
		e.SetValue(v)
		if again := e.Value(); again.Text != v.Text || len(again.Parts) != len(v.Parts) {
			t.Fatalf("%+v becomes %+v", v, again)
		}
	})
}

func TestGoldenScreens(t *testing.T) {
	for name, fill := range map[string]func(e *editor.Editor){
		"empty": func(*editor.Editor) {},
		"words": func(e *editor.Editor) {
			e.Insert("Please find out why the test of the parser fails on Windows, and fix it.\n\n\tkeep the tabs\nand  two blanks; 日本語のテキスト, 👨‍👩‍👧 and 🇩🇪")
		},
		"chips": func(e *editor.Editor) {
			e.Insert("Compare ")
			e.InsertChip(editor.Part{Kind: editor.Paste, Text: strings.Repeat("x\n", 99)})
			e.Insert(" with ")
			e.InsertChip(editor.Part{Kind: editor.Image, MediaType: "image/png", Data: make([]byte, 5000)})
			e.Insert(" and ")
			e.InsertChip(editor.Part{Kind: editor.File, Path: "/home/me/a b.txt"})
		},
		"bash": func(e *editor.Editor) { e.Insert("!git log --oneline | head") },
		"hostile": func(e *editor.Editor) {
			e.Insert("a\u202eb\u009b31mc\u200bd\x7fe" + strings.Repeat("\u0301", 100) + "f")
		},
		"visual": func(e *editor.Editor) {
			e.SetVim(true)
			e.Insert("select some words of this text, 日本 too")
			typeKeys(e, "<esc>0wv3wh")
		},
		"scrolled": func(e *editor.Editor) {
			for i := range 40 {
				e.Insert(fmt.Sprintf("line %d\n", i))
			}
			typeKeys(e, "<up><up>")
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, width := range []int{20, 80, 120} {
				for _, colors := range []string{"plain", "dark"} {
					e := newEditor(t, editor.Options{Theme: theme.New(colors, true), Placeholder: "Ask anything, or type / for commands"})
					fill(e)
					lines := e.Lines(width, 8)
					x, y, ok := e.Cursor()
					fmt.Fprintf(&b, "-- %d %s, cursor %d,%d %t, height %d --\n", width, colors, x, y, ok, e.Height(width, 12))
					for _, line := range lines {
						fmt.Fprintf(&b, "%s│\n", strings.ReplaceAll(line, "\x1b", `\e`))
					}
				}
			}
			golden(t, filepath.Join("testdata", name+".txt"), b.String())
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

// pieces are what the fuzz test types and pastes.
var pieces = []string{
	"a", "word", " ", "\n", "\t", "e\u0301", "\u0301", "👨‍👩‍👧", "\u200d", "👩", "🇩", "🇪", "日", "한", "ᄒ", "ᅡ", "क", "्", "ष", "\u202e", "\u009b", "\x1b[31m", "\r\n", "\xff",
	"\U00100000", "\u0600", "!", "@", "/", "\ufe0f", "\U000e0041", strings.Repeat("xyz ", 300), strings.Repeat("l\n", 20), strings.Repeat("日", 90),
}

var actions = []string{
	"left", "right", "up", "down", "home", "end", "backspace", "delete", "alt+b", "alt+f", "ctrl+w", "alt+d", "ctrl+k", "ctrl+u", "ctrl+y", "ctrl+/", "alt+z",
	"ctrl+j", "enter", "v", "d", "y", "p", "w", "c", "G", "V", "x", "3", "ctrl+home", "ctrl+end", "esc", "tab", "ctrl+r",
}

func FuzzEditor(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 200, 201, 5, 9}, uint8(20))
	f.Add([]byte{5, 6, 128, 129, 7, 8, 9, 140, 10, 11, 138, 139}, uint8(1))
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		script := make([]byte, 60)
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		f.Add(script, uint8(r.Uint32()))
	}
	f.Fuzz(drive)
}

// drive lets a script type and paste, and checks what must hold after each step.
func drive(t *testing.T, script []byte, size uint8) {
	if len(script) > 200 {
		return
	}
	e := newEditor(t, editor.Options{
		Theme: theme.New("dark", true), Vim: size%2 == 0, Files: files("a.go", "word/", "a b\u202e.txt"),
		History: editor.NewHistory(filepath.Join(t.TempDir(), "history"), "", nil),
		Commands: func() []complete.Item {
			return []complete.Item{{Text: "/word", Detail: "\x1b"}, {Text: "/a", More: true}}
		},
	})
	width, height := int(size%40)+1, int(size/40)+1
	for i, step := range script {
		switch {
		case step < 64:
			run(e, e.Update(press(pieces[int(step)%len(pieces)])))
		case step < 128:
			run(e, e.Update(tea.PasteMsg{Content: pieces[int(step)%len(pieces)]}))
		default:
			run(e, e.Update(press(actions[int(step)%len(actions)])))
		}
		if err := e.Check(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		checkLines(t, e.Lines(width, height), width, height)
		if p := e.Popup(); p != nil {
			checkLines(t, p.Lines(width, height), width, height)
		}
		if x, y, ok := e.Cursor(); ok && (x < 0 || y < 0 || x >= width || y >= height) {
			t.Fatalf("the cursor is at %d,%d of %dx%d", x, y, width, height)
		}
	}
	for e.Redo() {
	}
	final := e.Text()
	for e.Undo() {
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
	}
	for e.Redo() {
		if err := e.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if e.Text() != final {
		t.Fatalf("undo and redo lead to %q, not %q", e.Text(), final)
	}
}

func checkLines(t *testing.T, lines []string, width, height int) {
	t.Helper()
	if len(lines) > height {
		t.Fatalf("%d lines, not %d", len(lines), height)
	}
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Fatalf("%q has %d cells, not %d", line, n, width)
		}
		for rest := line; ; {
			_, after, found := strings.Cut(rest, "\x1b")
			if !found {
				break
			}
			end := strings.IndexByte(after, 'm')
			if end < 0 || strings.Trim(after[:end], "[0123456789;") != "" {
				t.Fatalf("%q has an escape sequence that is no style", line)
			}
			rest = after[end:]
		}
		for _, r := range strings.ReplaceAll(line, "\x1b", "") {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
				t.Fatalf("%q has %q", line, r)
			}
		}
	}
}

func BenchmarkRedraw5000Lines(b *testing.B) {
	e := newEditor(b, editor.Options{})
	e.Insert(strings.Repeat("a line of text with some words in it, which is longer than most of them\n", 5000))
	for b.Loop() {
		e.Height(80, 20)
		e.Lines(80, 20)
	}
}

func BenchmarkType(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"1MBLines", strings.Repeat("a line of text with some words in it\n", 1<<20/37)},
		{"1MBOneLine", strings.Repeat("a line of text with some words in it ", 1<<20/37)},
		{"1MBChinese", strings.Repeat("日本語のテキスト", 1<<20/24)},
		{"1MBNewlines", strings.Repeat("\n", 1<<20)},
	} {
		for _, where := range []string{"Start", "Middle", "End"} {
			b.Run(c.name+where, func(b *testing.B) {
				e := newEditor(b, editor.Options{})
				e.Insert(c.text)
				e.MoveTo(map[string]int{"Start": 0, "Middle": len(c.text) / 2, "End": len(c.text)}[where])
				e.Lines(80, 20)
				for b.Loop() {
					e.Update(press("x"))
					e.Height(80, 20)
					e.Lines(80, 20)
				}
			})
		}
	}
}
