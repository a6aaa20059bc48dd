package search

import (
	"bytes"
	"context"
	"strings"

	"github.com/tenon-agent/tenon/tool/search/internal/lines"
)

// hits is the lines of one file to show. Skipped is the reason why grep did not search the file.
type hits struct {
	path    string
	lines   []hit
	matches int
	size    int // of the lines
	more    bool
	skipped error
}

type hit struct {
	number int
	text   string
	around bool // a context line
}

// search finds the matching lines of one file with their context. After the end of ctx the result is incomplete.
func (g *grep) search(ctx context.Context, searcher *lines.Searcher, path string, data []byte) hits {
	h := hits{path: path}
	number, counted, last := 1, 0, 0 // of the line at counted; last: the last line in h
	searcher.Each(ctx, data, func(start, end, place int) bool {
		if h.matches == g.limits.matches || h.size > g.limits.text {
			h.more = true
			return false
		}
		number += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		if last >= number { // it is already there as context
			line := &h.lines[len(h.lines)-1-(last-number)]
			line.around, line.text = false, g.cut(data[start:end], place-start)
		} else {
			h.before(data, start, number, min(g.context, number-last-1))
			h.add(hit{number: number, text: g.cut(data[start:end], place-start)})
			last = number
		}
		h.matches++
		last = h.after(data, end, number, last, number+g.context)
		return true
	})
	return h
}

func (h *hits) add(line hit) {
	h.lines = append(h.lines, line)
	h.size += len(line.text)
}

// before adds the n lines above the line that starts at start.
func (h *hits) before(data []byte, start, number, n int) {
	var above []hit
	for ; n > 0 && start > 0; n-- {
		end := start - 1
		start = bytes.LastIndexByte(data[:end], '\n') + 1
		number--
		above = append(above, hit{number, clip(bytes.TrimSuffix(data[start:end], []byte{'\r'}), 0), true})
	}
	for i := len(above) - 1; i >= 0; i-- {
		h.add(above[i])
	}
}

// after adds the lines below line number, which ends at end: from line shown+1 to line last. It returns the last line in h.
func (h *hits) after(data []byte, end, number, shown, last int) int {
	for number++; number <= last; number++ {
		i := bytes.IndexByte(data[end:], '\n')
		if i < 0 || end+i+1 >= len(data) {
			break
		}
		start := end + i + 1
		if end = len(data); bytes.IndexByte(data[start:], '\n') >= 0 {
			end = start + bytes.IndexByte(data[start:], '\n')
		}
		if end > start && data[end-1] == '\r' {
			end--
		}
		if number > shown {
			h.add(hit{number, clip(data[start:end], 0), true})
			shown = number
		}
	}
	return shown
}

// cut cuts a long matching line around the match.
func (g *grep) cut(line []byte, place int) string {
	from := 0
	switch {
	case len(line) > maxExact:
		from = max(0, place-maxShown/2)
	case len(line) > maxShown:
		from = max(0, g.pattern.Find(line)-maxShown/3)
	}
	return clip(line, from)
}

// clip returns the part of a line from an offset, as valid text.
func clip(line []byte, from int) string {
	to := min(len(line), from+maxShown)
	text := strings.ToValidUTF8(string(line[from:to]), "\ufffd")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}
