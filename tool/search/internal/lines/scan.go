package lines

import (
	"bytes"
	"context"
	"unicode/utf8"
)

type outcome int

const (
	ended   outcome = iota // the end of the data
	found                  // a matching line
	gaveUp                 // the pattern needs too many states
	stopped                // the end of the context
)

// pace is the bytes between two checks of the context.
const pace = 128 << 10

// scan finds the next matching line from the start of a line. It returns a place in that line or at its end. If it gave up, it returns
// the start of the current line.
func (m *machine) scan(ctx context.Context, data []byte, from int) (int, outcome) {
	switch {
	case from == len(data) || m.start == dead:
		return len(data), ended
	case m.start == matched:
		return from, found
	}
	i, s := from, m.start
	for i < len(data) {
		if ctx.Err() != nil {
			return i, stopped
		}
		var t int32
		if i, s, t = m.run(data, i, min(len(data), i+pace), s); t >= reserved {
			continue
		}
		column, width := m.look(data, i)
		t = m.transition(s, column)
		if m.full() {
			line := bytes.LastIndexByte(data[:i], '\n') + 1
			if m.flushes++; m.flushes > maxFlush {
				return line, gaveUp
			}
			m.reset()
			i, s = line, m.start
			continue
		}
		switch t {
		case matched:
			return i, found
		case dead:
			n := bytes.IndexByte(data[i:], '\n')
			if n < 0 {
				return len(data), ended
			}
			t, width = m.start, n+1
		}
		i, s = i+width, t
		if column == m.eol() && i == len(data) {
			return i, ended
		}
	}
	if data[len(data)-1] != '\n' && m.transition(s, m.eol()) == matched {
		return len(data), found
	}
	return len(data), ended
}

// run follows the table to the end, or to an entry that is not a state. It returns the place, the last state and that entry.
func (m *machine) run(data []byte, i, end int, s int32) (int, int32, int32) {
	table, column, start := m.table, &m.column, m.start
	for i < end {
		if s == start {
			for i+4 <= end && m.skip[data[i]] && m.skip[data[i+1]] && m.skip[data[i+2]] && m.skip[data[i+3]] {
				i += 4
			}
			for i < end && m.skip[data[i]] {
				i++
			}
			if i == end {
				break
			}
		}
		t := table[s+int32(column[data[i]])]
		if t < reserved {
			return i, s, t
		}
		s = t
		i++
	}
	return i, s, reserved
}

// look returns the column and the width of the rune at a place. A carriage return before a newline is part of the newline.
func (m *machine) look(data []byte, i int) (column uint8, width int) {
	switch c := data[i]; {
	case c == '\r' && i+1 == len(data):
		return m.eol(), 1
	case c == '\r' && data[i+1] == '\n':
		return m.eol(), 2
	case c == '\n':
		return m.eol(), 1
	case c < utf8.RuneSelf:
		return m.low[c], 1
	}
	r, width := utf8.DecodeRune(data[i:])
	return m.classes.rune(r), width
}
