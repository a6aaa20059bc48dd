// Package termtest stands in for a terminal in tests.
package termtest

import (
	"strings"
	"sync"
)

// Terminal is a writer that pretends to be one.
type Terminal struct {
	mu      sync.Mutex
	Columns int
	writes  []string
}

// TerminalWidth is the number of columns.
func (t *Terminal) TerminalWidth() int { return t.Columns }

func (t *Terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, string(p))
	return len(p), nil
}

// Taken returns what was written since the last call.
func (t *Terminal) Taken() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	writes := t.writes
	t.writes = nil
	return writes
}

// Show is what a terminal shows after it got text: its lines, the last one being that of the cursor.
func Show(text string) []string {
	lines, at := [][]rune{nil}, 0
	for text != "" {
		last := &lines[len(lines)-1]
		if rest, ok := strings.CutPrefix(text, "\x1b[K"); ok {
			*last = (*last)[:min(at, len(*last))]
			text = rest
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\n':
			lines, at = append(lines, nil), 0
		case '\r':
			at = 0
		default:
			*last = append((*last)[:min(at, len(*last))], append([]rune{r}, (*last)[min(at+1, len(*last)):]...)...)
			at++
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = string(l)
	}
	return out
}
