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
	matches int // all of them, up to the limit
	size    int // of the lines
	bytes   int // of the file
	last    int // the number of the last line in lines
	more    bool
	skipped error
}

type hit struct {
	number int
	text   string
	around bool // a context line
	first  bool // the first line of a match
}

// search finds the matches of one file with their context, or only counts them. After the end of ctx the result is incomplete.
func (g *grep) search(ctx context.Context, searcher *lines.Searcher, path string, data []byte, only bool) hits {
	h := hits{path: path, bytes: len(data)}
	data = searcher.Plain(data)
	number, counted := 1, 0 // the line at counted
	searcher.Each(ctx, data, func(start, end, place int) bool {
		h.matches++
		switch {
		case g.mode == showFiles:
			return false
		case h.matches == g.limits.count:
			h.more = true
			return false
		case only || g.mode == showCounts || h.matches > g.matches || h.size > g.text:
			return true
		}
		number += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		h.before(data, start, number, min(g.before, number-h.last-1))
		last := number
		for at := start; ; last++ { // a match has several lines only across lines
			stop := end
			if i := bytes.IndexByte(data[at:end], '\n'); i >= 0 {
				stop = at + i
			}
			h.match(hit{number: last, text: g.cut(data[at:stop], place-at), first: at == start})
			if at = stop + 1; stop == end || h.size > g.text {
				break
			}
		}
		h.after(data, end, last, last+g.after)
		return true
	})
	return h
}

// match adds a line of a match, which may be there as context.
func (h *hits) match(line hit) {
	if line.number <= h.last {
		h.lines[len(h.lines)-1-(h.last-line.number)] = line
		return
	}
	h.add(line)
}

func (h *hits) add(line hit) {
	h.lines = append(h.lines, line)
	h.size += len(line.text)
	h.last = line.number
}

// before adds the n lines above the line that starts at start.
func (h *hits) before(data []byte, start, number, n int) {
	var above []hit
	for ; n > 0 && start > 0; n-- {
		end := start - 1
		start = bytes.LastIndexByte(data[:end], '\n') + 1
		number--
		above = append(above, hit{number: number, text: clip(bytes.TrimSuffix(data[start:end], []byte{'\r'}), 0), around: true})
	}
	for i := len(above) - 1; i >= 0; i-- {
		h.add(above[i])
	}
}

// after adds the lines below line number, which ends at end, up to line last.
func (h *hits) after(data []byte, end, number, last int) {
	for number++; number <= last; number++ {
		i := bytes.IndexByte(data[end:], '\n')
		if i < 0 || end+i+1 >= len(data) {
			return
		}
		start := end + i + 1
		if end = len(data); bytes.IndexByte(data[start:], '\n') >= 0 {
			end = start + bytes.IndexByte(data[start:], '\n')
		}
		if end > start && data[end-1] == '\r' {
			end--
		}
		if number > h.last {
			h.add(hit{number: number, text: clip(data[start:end], 0), around: true})
		}
	}
}

// cut cuts a long matching line around the match.
func (g *grep) cut(line []byte, place int) string {
	from := 0
	switch {
	case len(line) > maxExact:
		from = min(max(0, place-maxShown/2), len(line))
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
