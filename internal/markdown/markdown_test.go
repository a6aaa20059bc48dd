package markdown_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/term"
)

const sample = "# Title\n\nSome **bold** and *italic* words, `code`, ~~no~~ and [a link](https://example.com/x) that need two lines here.\n\n" +
	"- one\n- two\n  1. first\n  2. second\n- [x] done\n\n> quoted\n> text\n\n```go\nfunc main() {\n\tprintln(\"a long line of code is never wrapped, so that it can be copied\")\n}\n```\n\n" +
	"| name | value |\n|---|---|\n| a | `1` |\n| longer | **2** |\n\n---\n\nhttps://example.com &lt;tag&gt; <b>raw</b>\n\n3. three\n\n4. four\n"

func TestRenderWithoutColors(t *testing.T) {
	want := "Title\n\nSome bold and italic words, `code`, no and a link\n(https://example.com/x) that need two lines here.\n\n" +
		"• one\n• two\n  1. first\n  2. second\n• [x] done\n\n│ quoted text\n\n  func main() {\n  \tprintln(\"a long line of code is never wrapped, so that it can be copied\")\n  }\n\n" +
		"name    value\n─────────────\na       `1`\nlonger  2\n\n────────────────────────────────────────\n\nhttps://example.com <tag> <b>raw</b>\n\n3. three\n\n4. four\n"
	if got := markdown.Render(sample, 50, markdown.Styles{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Cells of a wide table wrap in their columns. Only a table with too many columns has a row after the other.
func TestWideTables(t *testing.T) {
	wide := "| name | remark |\n|---|---|\n| a | the **first** of some words |\n| longer | 日本 more |\n"
	want := "name    remark\n────────────────────────\na       the first of\n        some words\nlonger  日本 more\n"
	if got := markdown.Render(wide, 24, markdown.Styles{}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	many := "| column one | column two | column three |\n|---|---|---|\n| a | b | c |\n"
	if got, want := markdown.Render(many, 24, markdown.Styles{}), "column one | column two | column three\na | b | c\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRenderWithColors(t *testing.T) {
	got := markdown.Render("**a b** `c`\n\n|x|\n|-|\n|`y`|", 80, markdown.Terminal(term.Palette{On: true}))
	want := "\x1b[1ma b\x1b[0m \x1b[36mc\x1b[0m\n\n\x1b[1mx\x1b[0m\n\x1b[2m─\x1b[0m\n\x1b[36my\x1b[0m\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// However a text is cut, the stream draws what Render draws of the whole text.
func TestStreamDrawsWhatRenderDraws(t *testing.T) {
	want := markdown.Render(sample, 60, markdown.Styles{})
	for size := 1; size < 40; size++ {
		s := markdown.NewStream(func() int { return 60 }, markdown.Styles{})
		got := ""
		for rest := sample; rest != ""; {
			n := min(size, len(rest))
			got += s.Next(rest[:n])
			rest = rest[n:]
		}
		if got += s.Flush(); got != want {
			t.Fatalf("in pieces of %d: got\n%s\nwant\n%s", size, got, want)
		}
	}
}

// However a text grows, its drawing is that of the whole text.
func TestADrawingGrows(t *testing.T) {
	styles := markdown.Terminal(term.Palette{On: true})
	styles.Fit, styles.Indent = true, "  "
	text := sample + strings.Repeat("- an item of a list\n  with two lines\n", 40) + "\n~~~\ncode\n\n\tmore\n~~~\nend"
	want := strings.Join(markdown.Lines(text, 60, styles), "\n")
	for _, size := range []int{1, 2, 5, 17, 39} {
		d := markdown.NewDoc(styles)
		var got []string
		for n := 0; n < len(text); {
			n = min(n+size, len(text))
			got = d.Lines(text[:n], 60)
		}
		if got := strings.Join(got, "\n"); got != want {
			t.Fatalf("in pieces of %d: got\n%s\nwant\n%s", size, got, want)
		}
		if got := strings.Join(d.Lines("other\n\ntext", 60), "\n"); got != "  other\n\n  text" {
			t.Fatalf("%q", got)
		}
	}
}

func TestBlocksOfCode(t *testing.T) {
	if got := markdown.Blocks(sample + "~~~\nx\n"); len(got) != 2 || !strings.HasPrefix(got[0], "func main() {\n\tprintln") || got[1] != "x\n" {
		t.Errorf("%q", got)
	}
}

// A link opens only a harmless address.
func TestLinks(t *testing.T) {
	styles := markdown.Styles{Links: true}
	for text, want := range map[string]string{
		"[a](https://x.y/z)":      "\x1b]8;;https://x.y/z\x1b\\a\x1b]8;;\x1b\\ (https://x.y/z)",
		"[a](javascript:alert)":   "a (javascript:alert)",
		"[a](<https://x.y/\x1b>)": "a (https://x.y/␛)",
		"<https://x.y>":           "\x1b]8;;https://x.y\x1b\\https://x.y\x1b]8;;\x1b\\",
	} {
		if got := strings.TrimSpace(markdown.Render(text, 80, styles)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Blocks appear while the answer goes on.
func TestStreamShowsCompleteBlocks(t *testing.T) {
	s := markdown.NewStream(func() int { return 60 }, markdown.Styles{})
	if got := s.Next("one\n\ntwo\n"); got != "one\n" {
		t.Errorf("%q", got)
	}
	if got := s.Next("\n```\nx\n\ny\n"); got != "\ntwo\n" {
		t.Errorf("%q", got)
	}
	s.Drop()
	if got := s.Flush(); got != "" {
		t.Errorf("%q", got)
	}
}

// Nothing of a text is a control character on the terminal.
func FuzzRender(f *testing.F) {
	for _, text := range []string{sample, "a\x1b[2Jb", "&#27;[2J &#x9b;", "[x](\x1b]0;y\x07)", "|\x1b|\n|-|\n|\x7f|", "```\n\x1b\n```", "<b\x1b>", "<http://a\x1b>", "\u202e", "1. - > # x"} {
		f.Add(text, 20)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		out := markdown.Render(text, width%200, markdown.Styles{})
		s := markdown.NewStream(func() int { return width % 200 }, markdown.Styles{})
		for _, shown := range []string{out, s.Next(text) + s.Flush()} {
			if plain := strings.ReplaceAll(shown, "\t", ""); plain != term.Harmless(plain) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
		columns := 1 + (width&0x7fffffff)%200
		d := markdown.NewDoc(markdown.Styles{Fit: true})
		for n := 0; n < len(text); n += 1 + len(text)/5 {
			for _, line := range d.Lines(text[:n], columns) {
				if term.Cells(line) > columns || line != term.Harmless(line) {
					t.Errorf("%q is shown as %q in %d columns", text[:n], line, columns)
				}
			}
		}
	})
}

// A text that would take the parser seconds stays as it is.
func TestLaboriousTextsStayPlain(t *testing.T) {
	for _, text := range []string{strings.Repeat("[a](", 20_000), strings.Repeat("_a_", 5000), strings.Repeat("word ", 100_000)} {
		if got := markdown.Render(text, 80, markdown.Terminal(term.Palette{On: true})); got != text+"\n" {
			t.Errorf("%.40q is shown as %.40q", text, got)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	text := strings.Repeat(sample, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := markdown.NewStream(func() int { return 80 }, markdown.Terminal(term.Palette{On: true}))
		for rest := text; rest != ""; {
			n := min(5, len(rest))
			s.Next(rest[:n])
			rest = rest[n:]
		}
		s.Flush()
	}
}
