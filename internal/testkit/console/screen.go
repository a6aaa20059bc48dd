package console

import (
	"strconv"
	"strings"
)

// Color is a color of a cell: "" is the terminal's own, "0" to "255" are colors of the palette, and "#rrggbb" is direct.
type Color string

// Style says how the terminal shows a cell.
type Style struct {
	Foreground, Background                               Color
	Bold, Dim, Italic, Underline, Blink, Reverse, Strike bool
}

// Cell is one column of one line. A wide character fills two cells; the second one is Tail and has no text.
type Cell struct {
	Text  string // one character with its combining marks; "" is a blank
	Style Style
	Link  string // the address of OSC 8
	Tail  bool
}

// Line is one line of a screen.
type Line []Cell

// String returns the text of the line without trailing blanks.
func (l Line) String() string {
	var b strings.Builder
	for _, c := range l {
		switch {
		case c.Tail:
		case c.Text == "":
			b.WriteByte(' ')
		default:
			b.WriteString(c.Text)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// Modes are the modes that a program must reset before it ends, and what it must leave as it found it.
type Modes struct {
	Alternate    bool // the alternate screen
	CursorHidden bool
	Paste        bool // bracketed paste
	Focus        bool // focus reports
	Mouse        bool // any kind of mouse report
	Keyboard     int  // flags of the kitty keyboard protocol
	ModifyOther  int  // xterm's modifyOtherKeys
	Graphemes    bool // mode 2027
	Keypad       bool // application keypad
	CursorKeys   bool // application cursor keys
	Origin       bool
	NoWrap       bool
	Insert       bool
	Margins      bool // a scroll region smaller than the screen
	Styled       bool // the next character would have a style
}

// Screen is a copy of what the terminal shows.
type Screen struct {
	Lines      []Line
	Above      []string // the lines that scrolled away from the main screen, oldest first
	X, Y       int      // the cursor
	Title      string
	Progress   string   // the parameters of the last OSC 9;4
	Notices    []string // notifications of the desktop: OSC 9, 99 and 777
	Clipboard  []string // the texts of OSC 52
	Bells      int
	Pictures   int // graphics commands: Kitty, iTerm2 or Sixel
	Modes      Modes
	CursorForm int // of DECSCUSR
}

// Width returns the number of columns.
func (s Screen) Width() int { return len(s.Lines[0]) }

// String returns the lines without trailing blanks, each with a newline.
func (s Screen) String() string {
	var b strings.Builder
	for _, l := range s.Lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// Has reports whether the screen shows a text, on one line.
func (s Screen) Has(text string) bool {
	_, _, ok := s.Find(text)
	return ok
}

// Find returns where the screen shows a text first: the column and the line of its first character.
func (s Screen) Find(text string) (x, y int, ok bool) {
	for y, l := range s.Lines {
		before, _, found := strings.Cut(l.String(), text)
		if !found {
			continue
		}
		return l.cells(before), y, true
	}
	return 0, 0, false
}

// Count returns how many lines show a text.
func (s Screen) Count(text string) (n int) {
	for _, l := range s.Lines {
		if strings.Contains(l.String(), text) {
			n++
		}
	}
	return n
}

// Row returns the text of a line; negative numbers count from the bottom.
func (s Screen) Row(y int) string {
	if y < 0 {
		y += len(s.Lines)
	}
	if y < 0 || y >= len(s.Lines) {
		return ""
	}
	return s.Lines[y].String()
}

// Framed returns the screen with a frame that shows its size and the cursor, for the messages of failing tests.
func (s Screen) Framed() string {
	var b strings.Builder
	edge := "+" + strings.Repeat("-", s.Width()) + "+\n"
	b.WriteString(edge)
	for y, l := range s.Lines {
		text := l.String()
		b.WriteString("|" + text + strings.Repeat(" ", len(l)-l.cells(text)) + "|")
		if y == s.Y {
			b.WriteString(" <- cursor in column " + strconv.Itoa(s.X))
		}
		b.WriteByte('\n')
	}
	return b.String() + edge
}

// cells returns how many cells the beginning of the line's text fills.
func (l Line) cells(text string) int {
	n := 0
	for text != "" && n < len(l) {
		if !l[n].Tail {
			text = text[min(len(text), max(1, len(l[n].Text))):]
		}
		n++
	}
	for n > 0 && n < len(l) && l[n].Tail {
		n++
	}
	return n
}
