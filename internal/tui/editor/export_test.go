package editor

import (
	"fmt"
	"unicode/utf8"
)

// Check reports a broken promise of the buffer.
func (e *Editor) Check() error {
	b := e.pen.buffer
	if !utf8.ValidString(string(b.text)) {
		return fmt.Errorf("%q is not valid UTF-8", b.text)
	}
	for at := 0; at != b.cursor; {
		if at > b.cursor || at >= len(b.text) {
			return fmt.Errorf("the cursor is at %d of %q: no border of a grapheme", b.cursor, b.text)
		}
		at += cluster(string(b.text[at:]))
	}
	var rows []int
	for row, more := 0, true; more; row, more = b.below(row) {
		rows = append(rows, row)
	}
	step := len(rows)/20 + 1 // each row is found without the ones before it; some are enough
	for i := 0; i < len(rows); i += step {
		from, _ := b.row(rows[i])
		above, ok := b.above(from)
		if from != rows[i] || ok != (i > 0) || ok && above != rows[i-1] {
			return fmt.Errorf("the row at %d begins at %d, and the one above at %d", rows[i], from, above)
		}
	}
	return nil
}

func (e *Editor) Undo() bool     { return e.pen.undo() }
func (e *Editor) Redo() bool     { return e.pen.redo() }
func (e *Editor) MoveTo(pos int) { e.pen.move(pos) }
