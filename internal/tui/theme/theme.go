// Package theme has the colors and glyphs of the terminal. A component asks a Theme for a Style and never writes escape codes of its own.
package theme

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/term"
)

// Style is the parameters of an SGR sequence, such as "1;38;2;255;0;0". An empty style paints nothing.
type Style string

const reset = "\x1b[0m"

// Paint returns a text in the style. The text contains no styles of its own; see [Style.Over].
func (s Style) Paint(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + reset
}

// Over paints a line that contains styles of its own, such as the background of a selected row.
func (s Style) Over(line string) string {
	if s == "" {
		return line
	}
	on := "\x1b[" + string(s) + "m"
	return on + strings.ReplaceAll(line, reset, reset+on) + reset
}

// Bar paints a line and fills it with blanks up to a width in cells.
func (s Style) Bar(line string, width int) string {
	return s.Over(line + strings.Repeat(" ", max(width-term.Cells(line), 0)))
}

// With returns the style with further parameters.
func (s Style) With(more Style) Style {
	if s == "" || more == "" {
		return s + more
	}
	return s + ";" + more
}

// Attributes that do not depend on a theme.
const (
	Bold      Style = "1"
	Italic    Style = "3"
	Underline Style = "4"
	Reverse   Style = "7"
	Strike    Style = "9"
)

// Theme is a set of styles. It is not changed after it is made.
type Theme struct {
	Name  string
	Dark  bool
	ASCII bool // the terminal shows no other characters

	Text, Dim, Faint, Bold, Accent             Style // words; Faint is for rules and hints
	Good, Bad, Warn, Info                      Style // outcomes
	Heading, Code, Link, Quote                 Style // of Markdown
	Person, Model                              Style // marks of prompts and answers
	Border, Focus                              Style // of boxes
	Selected, Match, Chip                      Style // backgrounds: the chosen row, a found text, a folded paste
	Added, AddedWord, Removed, RemovedWord     Style // of diffs, with backgrounds
	Keyword, String, Comment, Number, TypeName Style // of code
}

// Glyph returns unicode, or ascii on a terminal that shows only that.
func (t *Theme) Glyph(unicode, ascii string) string {
	if t.ASCII {
		return ascii
	}
	return unicode
}

// colors are the colors that differ between themes; RGB as 0xRRGGBB.
type colors struct {
	text, dim, faint, accent, good, bad, warn, info int
	person, model, code, link                       int
	selected, match, chip                           int // backgrounds
	add, addWord, del, delWord                      int // backgrounds
	keyword, str, comment, number, typ              int
}

func fg(rgb int) Style { return rgbStyle(38, rgb) }
func bg(rgb int) Style { return rgbStyle(48, rgb) }

func rgbStyle(kind, rgb int) Style {
	if rgb < 0 {
		return ""
	}
	return Style(fmt.Sprintf("%d;2;%d;%d;%d", kind, rgb>>16&255, rgb>>8&255, rgb&255))
}

func (c colors) theme(name string, dark bool) *Theme {
	return &Theme{
		Name: name, Dark: dark,
		Text: fg(c.text), Dim: fg(c.dim), Faint: fg(c.faint), Bold: Bold.With(fg(c.text)), Accent: fg(c.accent),
		Good: fg(c.good), Bad: fg(c.bad), Warn: fg(c.warn), Info: fg(c.info),
		Heading: Bold.With(fg(c.accent)), Code: fg(c.code), Link: Underline.With(fg(c.link)), Quote: Italic.With(fg(c.dim)),
		Person: Bold.With(fg(c.person)), Model: Bold.With(fg(c.model)), Border: fg(c.faint), Focus: fg(c.accent),
		Selected: bg(c.selected), Match: bg(c.match), Chip: bg(c.chip).With(fg(c.text)),
		Added: bg(c.add), AddedWord: Bold.With(bg(c.addWord)), Removed: bg(c.del), RemovedWord: Bold.With(bg(c.delWord)),
		Keyword: fg(c.keyword), String: fg(c.str), Comment: Italic.With(fg(c.comment)), Number: fg(c.number), TypeName: fg(c.typ),
	}
}

const none = -1 // the terminal's own color

// named are the themes with colors of their own. The text keeps the terminal's own color except where contrast is the purpose. For color-blind
// people, blue and orange take the place of green and red.
var named = []struct {
	name   string
	dark   bool
	colors colors
}{
	{"dark", true, colors{
		none, 0x9aa0aa, 0x646b78, 0x7aa2f7, 0x8fc77a, 0xf07178, 0xe6b455, 0x6cc7d4, 0x7aa2f7, 0xc4a7f0, 0x8ccfc0, 0x7fb4f5,
		0x2a3350, 0x5a4a12, 0x30343f, 0x17301f, 0x24613a, 0x3a1c20, 0x7a2a33, 0xc4a7f0, 0xa5cf86, 0x717a88, 0xe6a26b, 0x78c7dd,
	}},
	{"light", false, colors{
		none, 0x5b626d, 0x979da6, 0x2757c4, 0x2c7a2c, 0xb9262f, 0x8a5a00, 0x0c6f80, 0x2757c4, 0x7036a8, 0x0b6b58, 0x1b55b8,
		0xd9e4fb, 0xffe58f, 0xe6e8ec, 0xe2f6e2, 0xaee5b1, 0xfde5e5, 0xf7b3b6, 0x7036a8, 0x2f7222, 0x727a86, 0x9c4a10, 0x0b6f8a,
	}},
	{"high-contrast-dark", true, colors{
		0xffffff, 0xe0e0e0, 0xb8b8b8, 0x66d9ff, 0x7dff7d, 0xff8080, 0xffe066, 0x80ffff, 0x66d9ff, 0xffb3ff, 0xa8ffe0, 0x9cd0ff,
		0x0040a0, 0x806000, 0x404040, 0x004d00, 0x008000, 0x660000, 0xa00000, 0xffb3ff, 0xb8ff9c, 0xc8c8c8, 0xffc080, 0x99eaff,
	}},
	{"high-contrast-light", false, colors{
		0x000000, 0x2b2b2b, 0x4a4a4a, 0x0032a0, 0x005000, 0xa00000, 0x5c3c00, 0x004a55, 0x0032a0, 0x5a0080, 0x004437, 0x0032a0,
		0xb8d0ff, 0xffd84a, 0xd8d8d8, 0xc4f5c4, 0x86dd8c, 0xffd0d0, 0xff9a9e, 0x5a0080, 0x1c5210, 0x3a3a3a, 0x743200, 0x004a63,
	}},
	{"color-blind-dark", true, colors{
		none, 0x9aa0aa, 0x646b78, 0x56b4e9, 0x56b4e9, 0xe69f00, 0xf0e442, 0x9ad0f5, 0x56b4e9, 0xcc79a7, 0x9ad0f5, 0x56b4e9,
		0x223a52, 0x5a4a12, 0x30343f, 0x10304a, 0x1f5f92, 0x43300a, 0x8a6000, 0xcc79a7, 0x9ad0f5, 0x717a88, 0xf0e442, 0x56b4e9,
	}},
	{"color-blind-light", false, colors{
		none, 0x5b626d, 0x979da6, 0x0060a0, 0x0060a0, 0xa85400, 0x7a6600, 0x00558f, 0x0060a0, 0x93346f, 0x00558f, 0x0060a0,
		0xd5e8f7, 0xffe58f, 0xe6e8ec, 0xdcedfa, 0xa3d2f2, 0xffecd0, 0xffcf8a, 0x93346f, 0x00558f, 0x727a86, 0x7a6600, 0x0060a0,
	}},
}

// terminal uses the sixteen colors that the person configured in the terminal.
func terminal(dark bool) *Theme {
	return &Theme{
		Name: "terminal", Dark: dark,
		Dim: "2", Faint: "2", Bold: Bold, Accent: "34", Good: "32", Bad: "31", Warn: "33", Info: "36",
		Heading: "1;34", Code: "36", Link: "4;34", Quote: "2;3", Person: "1;34", Model: "1;35", Border: "2", Focus: "34",
		Selected: Reverse, Match: "30;43", Chip: Reverse, Added: "32", AddedWord: "1;4;32", Removed: "31", RemovedWord: "1;4;31",
		Keyword: "35", String: "32", Comment: "2;3", Number: "33", TypeName: "36",
	}
}

// plain has no colors, for NO_COLOR: only attributes that a terminal without colors has.
func plain() *Theme {
	return &Theme{
		Name: "plain", Dim: "", Bold: Bold, Heading: Bold, Link: Underline, Person: Bold, Model: Bold, Focus: Bold,
		Selected: Reverse, Match: Reverse, Chip: Reverse, AddedWord: Bold, RemovedWord: Bold, Quote: Italic,
	}
}

// Auto is the name of the theme that follows the background of the terminal.
const Auto = "auto"

// Names returns the names of all themes, [Auto] first.
func Names() []string {
	all := []string{Auto}
	for _, t := range named {
		all = append(all, t.name)
	}
	return append(all, "terminal", "plain")
}

// Known reports whether a theme has the name.
func Known(name string) bool { return slices.Contains(Names(), name) }

// New returns a theme by name. An unknown name is Auto. dark says what the terminal reported about its background: Auto, terminal
// and the names without a shade need it.
func New(name string, isDark bool) *Theme {
	auto := name == Auto || !Known(name)
	switch name {
	case "terminal":
		return terminal(isDark)
	}
	for _, t := range named { // the first ones of each shade are those of Auto
		if t.name == name || auto && t.dark == isDark {
			return t.colors.theme(t.name, t.dark)
		}
	}
	return plain()
}
