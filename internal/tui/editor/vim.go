package editor

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// vim is the keys of vim. In the insert mode all keys but esc are those of the editor.
type vim struct {
	pen  *pen
	on   bool
	mode vimMode

	count  int // digits typed so far
	before int // the count before the operator
	op     rune
	prefix rune // g or r, which need another key

	anchor int  // the other end of the selection
	lines  bool // the selection is of whole lines

	register      string
	registerLines bool
}

type vimMode string

const (
	insertMode vimMode = "insert"
	normalMode vimMode = "normal"
	visualMode vimMode = "visual"
)

const maxCount = 10_000

// wants reports whether the mode uses a key that could be for the program.
func (v *vim) wants(msg tea.KeyPressMsg) bool {
	if !v.on {
		return false
	}
	if msg.Code == tea.KeyEscape {
		return v.mode != normalMode || v.pending()
	}
	return v.mode != insertMode && (Typed(msg) != "" || msg.String() == "ctrl+r")
}

func (v *vim) pending() bool { return v.count != 0 || v.op != 0 || v.prefix != 0 }

func (v *vim) cancel() { v.count, v.before, v.op, v.prefix = 0, 0, 0, 0 }

func (v *vim) enter(m vimMode) {
	v.cancel()
	v.mode = m
	v.pen.sealed = true
}

// selection returns the selected range.
func (v *vim) selection() (from, to int) {
	if !v.on || v.mode != visualMode {
		return 0, 0
	}
	p := v.pen
	v.anchor = p.text.ceil(min(v.anchor, len(p.text))) // a paste may have changed the text
	from, to = min(v.anchor, p.cursor), max(v.anchor, p.cursor)
	if v.lines {
		from, to = p.lines(from, to)
	}
	return from, p.text.next(to)
}

// key handles a key and reports whether it did.
func (v *vim) key(msg tea.KeyPressMsg) bool {
	if !v.on {
		return false
	}
	p := v.pen
	switch {
	case msg.Code == tea.KeyEscape:
		if !v.wants(msg) {
			return false
		}
		if v.mode == insertMode {
			p.move(v.left(p.cursor))
		}
		v.enter(normalMode)
	case v.mode == insertMode:
		return false
	case msg.String() == "ctrl+r":
		for range v.take() {
			p.redo()
		}
	case Typed(msg) != "":
		for _, r := range msg.Text {
			if v.mode == insertMode {
				p.write(string(r))
			} else {
				v.command(r)
			}
		}
	case msg.Code == tea.KeyBackspace:
		p.move(v.left(p.cursor))
	default:
		return false
	}
	if v.mode == normalMode {
		v.onText()
	}
	p.column = -1
	return true
}

// onText keeps the cursor on a grapheme of a line that is not empty.
func (v *vim) onText() {
	p := v.pen
	if start, end := p.line(p.cursor); p.cursor == end && end > start {
		p.cursor = p.text.prev(end)
	}
}

// take returns the count and forgets it.
func (v *vim) take() int {
	n := max(v.count, 1) * max(v.before, 1)
	v.count, v.before = 0, 0
	return min(n, maxCount)
}

func (v *vim) left(pos int) int {
	if start, _ := v.pen.line(pos); pos > start {
		return v.pen.text.prev(pos)
	}
	return pos
}

func (v *vim) right(pos int) int {
	if _, end := v.pen.line(pos); pos < end {
		return v.pen.text.next(pos)
	}
	return pos
}

// short are the commands that are short for an operator with a motion.
var short = map[rune]string{'x': "dl", 's': "cl", 'D': "d$", 'C': "c$"}

// command handles one letter of the normal or the visual mode.
func (v *vim) command(r rune) {
	if r >= '1' && r <= '9' || r == '0' && v.count > 0 {
		v.count = min(v.count*10+int(r-'0'), maxCount)
		return
	}
	switch {
	case v.prefix == 'r':
		v.replace(r)
		v.cancel()
		return
	case v.prefix == 'g':
		if v.prefix = 0; r != 'g' {
			v.cancel()
			return
		}
	case r == 'g' || r == 'r' && v.op == 0 && v.mode == normalMode:
		v.prefix = r
		return
	}
	switch {
	case v.mode == visualMode && v.visual(r):
		return
	case v.mode == normalMode && v.op == 0 && short[r] != "":
		for _, r := range short[r] {
			v.command(r)
		}
	case v.mode == normalMode && v.op == 0 && strings.ContainsRune("dcy", r):
		v.op, v.before, v.count = r, v.count, 0
		return
	case v.op != 0 && v.op == r:
		v.apply(r, v.pen.cursor, v.repeat(v.pen.cursor, v.take()-1, v.lineBelow), true)
	default:
		if to, inclusive, lines, ok := v.motion(r); ok {
			v.pass(to, inclusive, lines)
		} else if v.op == 0 {
			v.simple(r)
		}
	}
	v.cancel()
}

// pass moves the cursor, or runs the operator on the text on the way.
func (v *vim) pass(to int, inclusive, lines bool) {
	op, from := v.op, v.pen.cursor
	if op == 0 {
		v.pen.move(to)
		return
	}
	if to < from {
		from, to = to, from
	} else if inclusive {
		to = v.pen.text.next(to)
	}
	if lines || from != to || op == 'c' {
		v.apply(op, from, to, lines)
	}
}

// motion returns where a motion leads. inclusive says that an operator takes the grapheme there too, lines that it takes whole lines.
func (v *vim) motion(r rune) (to int, inclusive, lines, ok bool) {
	p, t := v.pen, v.pen.text
	start, end := p.line(p.cursor)
	times := func(step func(int) int) int { return v.repeat(p.cursor, v.take(), step) }
	switch r {
	case 'h':
		to = times(v.left)
	case 'l', ' ':
		to = times(v.right)
	case 'j':
		to, lines = v.inLine(times(v.lineBelow)), true
	case 'k':
		to, lines = v.inLine(times(v.lineAbove)), true
	case 'w':
		if v.op == 'c' && p.cursor < len(t) && t.class(p.cursor) != 0 {
			to = times(t.wordRight) // vim leaves the blanks after the word
		} else if to = times(v.wordStart); v.op != 0 && to > end && p.cursor < end {
			to = end
		}
	case 'b':
		to = times(t.wordLeft)
	case 'e':
		to, inclusive = times(func(pos int) int { return max(t.prev(t.wordRight(t.next(pos))), pos) }), true
	case '0':
		to = start
	case '^':
		to = v.firstWord(start)
	case '$':
		to = end
	case 'g', 'G':
		if lines = true; r == 'G' && v.count == 0 {
			to, _ = p.line(len(t))
		} else {
			to = v.repeat(0, v.take()-1, v.lineBelow)
		}
		to = v.firstWord(to)
	default:
		return 0, false, false, false
	}
	return to, inclusive, lines, true
}

// repeat takes some steps from a position, until one leads nowhere.
func (v *vim) repeat(pos, times int, step func(int) int) int {
	for range times {
		next := step(pos)
		if next == pos {
			break
		}
		pos = next
	}
	return pos
}

// lineBelow returns the start of the next line, or a place in the last line.
func (v *vim) lineBelow(pos int) int {
	if _, end := v.pen.line(pos); end < len(v.pen.text) {
		return end + 1
	}
	return pos
}

// lineAbove returns the start of the line before, or a place in the first line.
func (v *vim) lineAbove(pos int) int {
	if start, _ := v.pen.line(pos); start > 0 {
		before, _ := v.pen.line(start - 1)
		return before
	}
	return pos
}

// inLine returns the place in the line of a position that is in the column of the cursor, counted in graphemes.
func (v *vim) inLine(pos int) int {
	p := v.pen
	column := 0
	for at, _ := p.line(p.cursor); at < p.cursor; at = p.text.next(at) {
		column++
	}
	at, end := p.line(pos)
	for ; column > 0 && at < end; column-- {
		at = p.text.next(at)
	}
	return at
}

func (v *vim) wordStart(pos int) int {
	t := v.pen.text
	if pos < len(t) && t.class(pos) != 0 {
		pos = t.wordRight(pos)
	}
	for pos < len(t) && t.class(pos) == 0 {
		pos = t.next(pos)
	}
	return pos
}

func (v *vim) firstWord(pos int) int {
	for pos < len(v.pen.text) && (v.pen.text[pos] == ' ' || v.pen.text[pos] == '\t') {
		pos++
	}
	return v.pen.text.ceil(pos)
}

// apply runs an operator on a range, or on the lines of its ends.
func (v *vim) apply(op rune, from, to int, lines bool) {
	p := v.pen
	if lines {
		from, to = p.lines(from, to)
	}
	v.register, v.registerLines = strings.Clone(string(p.text[from:to])), lines
	switch op {
	case 'y':
		p.move(from)
	case 'c':
		p.replace(from, to, "", other)
		v.enter(insertMode)
		return
	case 'd':
		if lines {
			if to < len(p.text) {
				to++
			} else if from > 0 {
				from--
			}
		}
		p.replace(from, to, "", other)
		if lines {
			start, _ := p.line(p.cursor)
			p.move(v.firstWord(start))
		}
	}
	v.enter(normalMode)
}

// visual handles the letters that the visual mode has of its own.
func (v *vim) visual(r rune) bool {
	from, to := v.selection()
	switch r {
	case 'd', 'x', 'y', 'c', 's':
		if long := short[r]; long != "" {
			r = rune(long[0])
		}
		if v.lines && to > from && to <= len(v.pen.text) && v.pen.text[to-1] == '\n' {
			to--
		}
		v.apply(r, from, to, v.lines)
	case 'v', 'V':
		if v.lines == (r == 'V') {
			v.enter(normalMode)
		} else {
			v.lines = r == 'V'
		}
	case 'o':
		at := v.pen.cursor
		v.pen.move(v.anchor)
		v.anchor = at
	default:
		return false
	}
	return true
}

// replace replaces graphemes by a letter.
func (v *vim) replace(r rune) {
	p := v.pen
	at, to, n := p.cursor, p.cursor, v.take()
	for range n {
		next := v.right(to)
		if next == to {
			return
		}
		to = next
	}
	p.replace(at, to, chipless(strings.Repeat(string(r), n)), other)
	p.move(v.left(p.cursor))
}

// insert begins the insert mode at a position.
func (v *vim) insert(pos int) {
	v.pen.move(pos)
	v.enter(insertMode)
}

// simple handles the commands that are neither motions nor operators.
func (v *vim) simple(r rune) {
	p := v.pen
	start, end := p.line(p.cursor)
	switch r {
	case 'i':
		v.insert(p.cursor)
	case 'I':
		v.insert(v.firstWord(start))
	case 'a':
		v.insert(v.right(p.cursor))
	case 'A':
		v.insert(end)
	case 'o':
		p.replace(end, end, "\n", other)
		v.insert(end + 1)
	case 'O':
		p.replace(start, start, "\n", other)
		v.insert(start)
	case 'p', 'P':
		v.put(r == 'p')
	case 'u':
		for range v.take() {
			p.undo()
		}
	case 'v', 'V':
		v.enter(visualMode)
		v.anchor, v.lines = p.cursor, r == 'V'
	}
}

// maxPut bounds the text that one command inserts.
const maxPut = 1 << 20

// put inserts the register after or before the cursor.
func (v *vim) put(after bool) {
	p := v.pen
	if v.register == "" && !v.registerLines {
		return
	}
	n := v.take()
	n = max(min(n, maxPut/(len(v.register)+1)), 1)
	if !v.registerLines {
		at := p.cursor
		if after {
			at = v.right(at)
		}
		p.replace(at, at, strings.Repeat(v.register, n), other)
		p.move(v.left(p.cursor))
		return
	}
	at, end := p.line(p.cursor)
	if after {
		at = end + 1
		p.replace(end, end, strings.Repeat("\n"+v.register, n), other)
	} else {
		p.replace(at, at, strings.Repeat(v.register+"\n", n), other)
	}
	p.move(v.firstWord(at))
}
