package console

import (
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// emulator is a terminal without a display: it draws to cells. It knows the sequences that xterm and its modern kin know and that programs of
// today write. It notes every other sequence in unknown, so that a test can demand that there is none.
type emulator struct {
	answers Answers
	reply   func(string) // types the answer to a query

	width, height int
	main, other   page
	now           *page // main or other
	above         []string
	tabs          []bool
	parser        *ansi.Parser
	charsets      [2]byte // 'B' is ASCII, '0' draws lines
	shifted       int
	last          string // the last character, for REP
	modes         map[int]bool
	insert        bool
	modifyOther   int
	keypad        bool
	form          int

	title, progress    string
	titles             []string
	notices, clipboard []string
	bells, pictures    int
	unknown            []string
}

// page is the main or the alternate screen.
type page struct {
	lines       []Line
	cursor      cursor
	saved       cursor
	top, bottom int   // the scroll region, both inclusive
	keyboards   []int // the stack of the kitty keyboard protocol: one for each screen
}

type cursor struct {
	x, y    int
	pending bool // the next character wraps
	style   Style
	link    string
}

// maxAbove limits the lines that the emulator keeps above the screen.
const maxAbove = 20_000

// modes of DEC that a program may set.
const (
	modeCursorKeys = 1
	modeOrigin     = 6
	modeWrap       = 7
	modeCursor     = 25
	modeFocus      = 1004
	modePaste      = 2004
	modeFrame      = 2026 // synchronized output
	modeGraphemes  = 2027
	modeScheme     = 2031 // reports of light and dark
	modeInBand     = 2048 // reports of the size
)

func newEmulator(size Size, answers Answers, reply func(string)) *emulator {
	e := &emulator{answers: answers, reply: reply, width: size.Width, height: size.Height}
	e.parser = ansi.NewParser()
	e.parser.SetParamsSize(32)
	e.parser.SetDataSize(1 << 20)
	e.parser.SetHandler(ansi.Handler{
		Print: e.print, Execute: e.control, HandleCsi: e.csi, HandleEsc: e.escape, HandleDcs: e.dcs, HandleOsc: e.osc,
		HandleApc: e.apc,
		HandlePm:  func(b []byte) { e.strange("PM", string(b)) },
		HandleSos: func(b []byte) { e.strange("SOS", string(b)) },
	})
	e.reset()
	return e
}

func (e *emulator) reset() {
	e.main, e.other = newPage(e.width, e.height), newPage(e.width, e.height)
	e.now = &e.main
	e.charsets, e.shifted, e.insert, e.modifyOther, e.keypad, e.form = [2]byte{'B', 'B'}, 0, false, 0, false, 0
	e.modes = map[int]bool{modeWrap: true, modeCursor: true}
	e.tabs = nil
	e.stops()
}

func newPage(width, height int) page {
	p := page{bottom: height - 1}
	for range height {
		p.lines = append(p.lines, make(Line, width))
	}
	return p
}

// stops adds tab stops up to the width.
func (e *emulator) stops() {
	for i := len(e.tabs); i < e.width; i++ {
		e.tabs = append(e.tabs, i%8 == 0)
	}
}

func (e *emulator) write(b []byte) { e.parser.Parse(b) }

// strange notes a sequence that the emulator does not know.
func (e *emulator) strange(kind, text string) {
	if len(e.unknown) < 100 {
		e.unknown = append(e.unknown, kind+" "+text)
	}
}

// resize changes the size. It does not wrap lines again: programs draw them.
func (e *emulator) resize(size Size) {
	if over := e.main.cursor.y - size.Height + 1; over > 0 { // the main screen keeps the cursor and what is near it
		e.keep(e.main.lines[:over])
		e.main.lines = e.main.lines[over:]
		e.main.cursor.y -= over
	}
	for _, p := range []*page{&e.main, &e.other} {
		for len(p.lines) < size.Height {
			p.lines = append(p.lines, make(Line, size.Width))
		}
		p.lines = p.lines[:size.Height]
		for i, l := range p.lines {
			for len(l) < size.Width {
				l = append(l, Cell{})
			}
			p.lines[i] = l[:size.Width:size.Width]
			if len(l) > size.Width && l[size.Width].Tail {
				p.lines[i][size.Width-1] = Cell{}
			}
		}
		p.top, p.bottom = 0, size.Height-1
		for _, c := range []*cursor{&p.cursor, &p.saved} {
			c.x, c.y, c.pending = min(c.x, size.Width-1), min(c.y, size.Height-1), false
		}
	}
	e.width, e.height = size.Width, size.Height
	e.stops()
	if e.modes[modeInBand] {
		e.reply(ansi.InBandResize(e.height, e.width, e.height*pixelsDown, e.width*pixelsAcross))
	}
}

// keep saves lines that leave the main screen at its top.
func (e *emulator) keep(lines []Line) {
	for _, l := range lines {
		e.above = append(e.above, l.String())
	}
	e.above = e.above[max(0, len(e.above)-maxAbove):]
}

// print shows one character.
func (e *emulator) print(r rune) {
	if e.charsets[e.shifted] == '0' && r >= '`' && r <= '~' {
		r = []rune("◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")[r-'`']
	}
	if r >= utf8.RuneSelf && e.joins(r) {
		return
	}
	text := string(r)
	e.put(text, max(1, ansi.StringWidthWc(text)))
}

// joins adds a character to the one before if they are one: combining marks always, longer clusters in mode 2027.
func (e *emulator) joins(r rune) bool {
	c := &e.now.cursor
	at := c.x - 1
	if c.pending {
		at = c.x
	}
	l := e.now.lines[c.y]
	for at > 0 && l[at].Tail {
		at--
	}
	zero := ansi.StringWidthWc(string(r)) == 0
	if at < 0 || l[at].Text == "" {
		return zero
	}
	joined := l[at].Text + string(r)
	if !e.modes[modeGraphemes] {
		if zero && len(joined) < 200 {
			l[at].Text, e.last = joined, joined
		}
		return zero
	}
	cluster, width := ansi.FirstGraphemeCluster(joined, ansi.GraphemeWidth)
	if cluster != joined {
		return zero
	}
	style := c.style
	was := 1
	for at+was < len(l) && l[at+was].Tail {
		was++
	}
	l[at].Text, e.last = joined, joined
	if width > was && at+1 < e.width { // a variation selector made it wide
		c.style = l[at].Style
		c.x, c.pending = at, false
		e.put(joined, width)
		c.style = style
	}
	return true
}

// put writes a character of some width at the cursor.
func (e *emulator) put(text string, width int) {
	p := e.now
	c := &p.cursor
	if c.pending && e.modes[modeWrap] {
		c.x, c.pending = 0, false
		e.index()
	}
	if c.x+width > e.width {
		if !e.modes[modeWrap] || width > e.width {
			return
		}
		c.x = 0
		e.index()
	}
	l := p.lines[c.y]
	if e.insert {
		e.insertCells(width)
	}
	e.split(l, c.x)
	e.split(l, c.x+width)
	l[c.x] = Cell{Text: text, Style: c.style, Link: c.link}
	for i := 1; i < width; i++ {
		l[c.x+i] = Cell{Style: c.style, Link: c.link, Tail: true}
	}
	e.last = text
	c.x += width
	if c.x >= e.width {
		c.x, c.pending = e.width-1, true
	}
}

// split blanks a wide character that is cut before cell x.
func (e *emulator) split(l Line, x int) {
	if x <= 0 || x >= len(l) || !l[x].Tail {
		return
	}
	for i := x; i < len(l) && l[i].Tail; i++ {
		l[i] = Cell{Style: Style{Background: l[i].Style.Background}}
	}
	l[x-1] = Cell{Style: Style{Background: l[x-1].Style.Background}}
}

// index moves the cursor down, or scrolls.
func (e *emulator) index() {
	p := e.now
	switch {
	case p.cursor.y == p.bottom:
		e.scroll(1)
	case p.cursor.y < e.height-1:
		p.cursor.y++
	}
}

// reverse moves the cursor up, or scrolls down.
func (e *emulator) reverse() {
	p := e.now
	switch {
	case p.cursor.y == p.top:
		e.shift(p.top, -1)
	case p.cursor.y > 0:
		p.cursor.y--
	}
}

// scroll moves the lines of the region up.
func (e *emulator) scroll(n int) {
	p := e.now
	if p == &e.main && p.top == 0 {
		e.keep(p.lines[:min(n, p.bottom+1)])
	}
	e.shift(p.top, n)
}

// shift moves the lines from a line to the end of the region up, or down if n is negative.
func (e *emulator) shift(from, n int) {
	p := e.now
	region := p.lines[from : p.bottom+1]
	blanks := make([]Line, min(max(n, -n), len(region)))
	for i := range blanks {
		blanks[i] = e.blank(e.width)
	}
	if n > 0 {
		copy(region, slices.Concat(region[len(blanks):], blanks))
	} else {
		copy(region, slices.Concat(blanks, region[:len(region)-len(blanks)]))
	}
}

// blank returns empty cells in the background of the cursor.
func (e *emulator) blank(n int) Line {
	l := make(Line, n)
	if back := e.now.cursor.style.Background; back != "" {
		for i := range l {
			l[i].Style.Background = back
		}
	}
	return l
}

// erase blanks cells of a line, the end exclusive.
func (e *emulator) erase(y, from, to int) {
	to = min(to, e.width)
	if from >= to {
		return
	}
	l := e.now.lines[y]
	e.split(l, from)
	e.split(l, to)
	copy(l[from:to], e.blank(to-from))
}

func (e *emulator) insertCells(n int) {
	c := e.now.cursor
	l := e.now.lines[c.y]
	n = min(n, e.width-c.x)
	e.split(l, c.x)
	e.split(l, e.width-n)
	copy(l[c.x+n:], slices.Clone(l[c.x:e.width-n]))
	copy(l[c.x:], e.blank(n))
}

func (e *emulator) deleteCells(n int) {
	c := e.now.cursor
	l := e.now.lines[c.y]
	n = min(n, e.width-c.x)
	e.split(l, c.x)
	e.split(l, c.x+n)
	copy(l[c.x:], slices.Clone(l[c.x+n:]))
	copy(l[e.width-n:], e.blank(n))
}

// move sets the cursor; it stays on the screen.
func (e *emulator) move(x, y int) {
	c := &e.now.cursor
	c.x, c.y, c.pending = min(max(x, 0), e.width-1), min(max(y, 0), e.height-1), false
}

// vertical moves the cursor up or down. The margins of the region stop it if it is between them.
func (e *emulator) vertical(n int) {
	p := e.now
	y := p.cursor.y
	low, high := 0, e.height-1
	if y >= p.top && y <= p.bottom {
		low, high = p.top, p.bottom
	}
	e.move(p.cursor.x, min(max(y+n, low), high))
}

func (e *emulator) tab(n int) {
	c := &e.now.cursor
	for ; n > 0 && c.x < e.width-1; n-- {
		c.x++
		for c.x < e.width-1 && !e.tabs[c.x] {
			c.x++
		}
	}
	for ; n < 0 && c.x > 0; n++ {
		c.x--
		for c.x > 0 && !e.tabs[c.x] {
			c.x--
		}
	}
}

// control handles a control character.
func (e *emulator) control(b byte) {
	c := &e.now.cursor
	switch b {
	case 0:
	case '\a':
		e.bells++
	case '\b':
		e.move(c.x-1, c.y)
	case '\t':
		e.tab(1)
	case '\n', '\v', '\f':
		e.index()
	case '\r':
		e.move(0, c.y)
	case 0x0e, 0x0f:
		e.shifted = int(0x0f - b)
	case 0x84:
		e.index()
	case 0x85:
		e.move(0, c.y)
		e.index()
	case 0x8d:
		e.reverse()
	default:
		e.strange("control", string(rune(b)))
	}
}

// alternate switches between the two screens.
func (e *emulator) alternate(on, save, wipe bool) {
	if on == (e.now == &e.other) {
		return
	}
	if on {
		if save {
			e.main.saved = e.main.cursor
		}
		e.other.cursor = e.main.cursor
		e.other.top, e.other.bottom = 0, e.height-1
		e.now = &e.other
	} else {
		e.main.cursor = e.other.cursor
		e.now = &e.main
		if save {
			e.main.cursor = e.main.saved
		}
	}
	if wipe && on {
		for y := range e.height {
			e.erase(y, 0, e.width)
		}
	}
}

// screen returns a copy of what the terminal shows.
func (e *emulator) screen() Screen {
	c := e.now.cursor
	s := Screen{
		Above: slices.Clone(e.above), X: c.x, Y: c.y, Title: e.title, Progress: e.progress, Notices: slices.Clone(e.notices),
		Clipboard: slices.Clone(e.clipboard), Bells: e.bells, Pictures: e.pictures, CursorForm: e.form,
		Modes: Modes{
			Alternate: e.now == &e.other, CursorHidden: !e.modes[modeCursor], Paste: e.modes[modePaste], Focus: e.modes[modeFocus],
			Mouse: e.modes[9] || e.modes[1000] || e.modes[1002] || e.modes[1003], Keyboard: e.flags(), ModifyOther: e.modifyOther,
			Graphemes: e.modes[modeGraphemes], Keypad: e.keypad, CursorKeys: e.modes[modeCursorKeys], Origin: e.modes[modeOrigin],
			NoWrap: !e.modes[modeWrap], Insert: e.insert, Margins: e.now.top != 0 || e.now.bottom != e.height-1, Styled: c.style != Style{},
		},
	}
	for _, l := range e.now.lines {
		s.Lines = append(s.Lines, slices.Clone(l))
	}
	return s
}

// flags returns the flags of the kitty keyboard protocol that hold now.
func (e *emulator) flags() int {
	if stack := e.now.keyboards; len(stack) > 0 {
		return stack[len(stack)-1]
	}
	return 0
}
