package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// buffer is text with a cursor, and the states that undo brings back. The cursor is always on the border of a grapheme.
type buffer struct {
	text   content
	cursor int
	parts  []Part                       // of the chips; it only grows, so that undo brings a chip back
	width  int                          // of rows, in cells
	show   func(grapheme string) string // how a field of a dialog draws text; nil: as a prompt, with chips

	undone, done []state
	group        changeKind
	edge         rune // of the last change of the group: the newest letter
	sealed       bool // the next change begins a group
}

// state is the text before or after a step of undo.
type state struct {
	text   content
	cursor int
}

type changeKind int

const (
	other changeKind = iota
	typed
	erased
)

// Limits of undo.
const (
	maxStates     = 2000
	maxUndoMemory = 16 << 20
)

func newBuffer() *buffer { return &buffer{width: 77} }

// line returns the start and the end of the line of a position, without its newline.
func (b *buffer) line(pos int) (start, end int) {
	start = strings.LastIndexByte(string(b.text[:pos]), '\n') + 1
	if n := strings.IndexByte(string(b.text[pos:]), '\n'); n >= 0 {
		return start, pos + n
	}
	return start, len(b.text)
}

// lines extends a range to whole lines.
func (b *buffer) lines(from, to int) (start, end int) {
	start, _ = b.line(from)
	_, end = b.line(to)
	return start, end
}

// replace replaces a range, makes it a step of undo and puts the cursor after the new text.
func (b *buffer) replace(from, to int, with string, kind changeKind) {
	if from == to && with == "" {
		return
	}
	if !b.continues(kind, string(b.text[from:to]), with) {
		b.done = append(b.done, state{b.text, b.cursor})
		b.forget()
	}
	b.group, b.sealed, b.undone = kind, false, nil
	b.text = b.text[:from] + content(with) + b.text[to:]
	b.cursor = b.text.ceil(from + len(with))
}

// continues reports whether a change belongs to the last step: both are typed, or both erased, in the same word.
func (b *buffer) continues(kind changeKind, removed, with string) bool {
	before, next := b.edge, rune(0)
	same := kind == b.group && !b.sealed && len(b.done) > 0
	switch kind {
	case typed:
		next, _ = utf8.DecodeRuneInString(with)
		b.edge, _ = utf8.DecodeLastRuneInString(with)
		return same && next != '\n' && (unicode.IsSpace(next) || !unicode.IsSpace(before))
	case erased:
		next, _ = utf8.DecodeLastRuneInString(removed)
		b.edge, _ = utf8.DecodeRuneInString(removed)
		return same && next != '\n' && unicode.IsSpace(next) == unicode.IsSpace(before)
	}
	return false
}

// forget drops the oldest steps beyond the limits.
func (b *buffer) forget() {
	memory, keep := 0, 0
	for i := len(b.done) - 1; i >= 0 && keep < maxStates; i-- {
		if memory += len(b.done[i].text); memory > maxUndoMemory && keep > 0 {
			break
		}
		keep++
	}
	b.done = slices.Delete(b.done, 0, len(b.done)-keep)
}

func (b *buffer) undo() bool { return b.step(&b.done, &b.undone) }
func (b *buffer) redo() bool { return b.step(&b.undone, &b.done) }

// step goes to the last of some states, and reports whether there is one.
func (b *buffer) step(from, to *[]state) bool {
	last := len(*from) - 1
	if last < 0 {
		return false
	}
	*to = append(*to, state{b.text, b.cursor})
	b.text, b.cursor = (*from)[last].text, (*from)[last].cursor
	*from = (*from)[:last]
	b.sealed = true
	return true
}

// move puts the cursor on a border of a grapheme and ends the current step of undo.
func (b *buffer) move(pos int) {
	b.cursor = b.text.ceil(min(max(pos, 0), len(b.text)))
	b.sealed = true
}
