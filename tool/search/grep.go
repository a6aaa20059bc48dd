package search

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	maxMatches = 120      // lines that grep tells
	maxText    = 12 << 10 // bytes that grep tells
	maxShown   = 300      // bytes of one line
	maxFile    = 16 << 20 // bytes of a file that is searched
)

type grepArguments struct {
	Pattern    string `json:"pattern" min:"1"`
	Path       string `json:"path,omitempty" jsonschema:"file or directory, default: the root"`
	Include    string `json:"include,omitempty" jsonschema:"glob of the files to search"`
	Literal    bool   `json:"literal,omitempty" jsonschema:"pattern is plain text"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Context    int    `json:"context,omitempty" jsonschema:"lines around each match" min:"0" max:"10"`
}

// Matched is the details of a grep.
type Matched struct {
	Matches  int  `json:"matches"` // lines that were told
	Files    int  `json:"files"`   // with a match that was told
	Searched int  `json:"searched"`
	Skipped  int  `json:"skipped,omitzero"` // too large or not readable
	More     bool `json:"more,omitzero"`    // there are matches that were not told
}

func (s set) grep() tool.Tool {
	return tool.New("grep", grepText,
		func(_ context.Context, args grepArguments) (tool.Effects, error) { return s.reads(args.Path) },
		func(ctx context.Context, args grepArguments, _ tool.Report) (tool.Result, error) {
			start, err := s.start(ctx, args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			g := grep{set: s, start: start, context: args.Context, filter: nameFilter{"**", true}}
			if args.Include != "" {
				if g.filter, err = newNameFilter(s.ws, args.Include); err != nil {
					return tool.Result{}, err
				}
			}
			var invalid error
			if g.matcher, invalid, err = newMatcher(args.Pattern, args.Literal, args.IgnoreCase); err != nil {
				return tool.Result{}, err
			}
			if invalid != nil {
				g.notes = append(g.notes, fmt.Sprintf("taken literally: %v", invalid))
			}
			if strings.Contains(args.Pattern, "\n") || !args.Literal && strings.Contains(args.Pattern, `\n`) {
				g.notes = append(g.notes, "a match is within one line: line ends never match")
			}
			if err := g.run(ctx); err != nil {
				return tool.Result{}, err
			}
			result := tool.TextResult(g.text())
			result.Details = g.found
			return result, nil
		})
}

// grep is one search.
type grep struct {
	set
	matcher matcher
	filter  nameFilter
	start   string
	context int

	out   strings.Builder
	found Matched
	notes []string
}

// hits is the lines of one file that are told.
type hits struct {
	path    string
	lines   []hit
	matches int
	more    bool
	skipped bool
}

type hit struct {
	number int
	text   string
	around bool // it is context
}

// tell adds the lines of one file and reports whether there is room for more.
func (g *grep) tell(h hits) bool {
	if h.skipped {
		g.found.Skipped++
		return true
	}
	g.found.Searched++
	if len(h.lines) == 0 {
		return true
	}
	g.found.Files++
	header := workspace.Quote(h.path) + "\n"
	if g.out.Len() > 0 {
		header = "\n" + header
	}
	last := 0
	for _, line := range h.lines {
		mark := ":"
		if line.around {
			mark = "-"
		}
		text := fmt.Sprintf("%s%d%s%s\n", header, line.number, mark, line.text)
		if last > 0 && line.number > last+1 && g.context > 0 {
			text = "--\n" + text
		}
		if g.out.Len()+len(text) > maxText || !line.around && g.found.Matches == maxMatches {
			g.found.More = true
			if header != "" {
				g.found.Files--
			}
			return false
		}
		g.out.WriteString(text)
		header, last = "", line.number
		if !line.around {
			g.found.Matches++
		}
	}
	if h.more {
		g.found.More = true
		return false
	}
	return true
}

func (g *grep) text() string {
	if g.found.Matches == 0 {
		g.notes = append([]string{fmt.Sprintf("no match in %d files", g.found.Searched)}, g.notes...)
	}
	if g.found.More {
		g.notes = append(g.notes, fmt.Sprintf("only the first %d matches are shown; narrow the search with path or include, or a longer pattern", g.found.Matches))
	}
	if g.found.Skipped > 0 {
		what := "files were"
		if g.found.Skipped == 1 {
			what = "file was"
		}
		g.notes = append(g.notes, fmt.Sprintf("%d %s not searched: larger than %d MB, or not readable", g.found.Skipped, what, maxFile>>20))
	}
	text := g.out.String()
	for _, note := range g.notes {
		text += "[" + note + "]\n"
	}
	return strings.TrimSuffix(text, "\n")
}

// search finds the lines of one file, with those around them. After the end of ctx it is incomplete.
func (g *grep) search(ctx context.Context, path string, data, lower []byte) (hits, []byte) {
	h := hits{path: path}
	number, counted, told := 1, 0, 0 // of the line at counted; told: the last one in h
	lower = g.matcher.lines(ctx, data, lower, func(start, end int) bool {
		if h.matches == maxMatches {
			h.more = true
			return false
		}
		number += bytes.Count(data[counted:start], []byte{'\n'})
		counted = start
		if told >= number { // it is there as context of the match before
			h.lines[len(h.lines)-1-(told-number)].around = false
		} else {
			h.before(data, start, number, min(g.context, number-told-1))
			h.lines = append(h.lines, hit{number: number, text: g.show(data[start:end])})
			told = number
		}
		h.matches++
		told = h.after(data, end, number, told, number+g.context)
		return true
	})
	return h, lower
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
		h.lines = append(h.lines, above[i])
	}
}

// after adds the lines below line number, which ends at end: those behind told and up to last. It returns the last one told.
func (h *hits) after(data []byte, end, number, told, last int) int {
	for number++; number <= last; number++ {
		i := bytes.IndexByte(data[end:], '\n')
		if i < 0 || end+i+1 >= len(data) {
			break
		}
		start := end + i + 1
		if end, _ = lineEnd(data, start); number > told {
			h.lines = append(h.lines, hit{number, clip(data[start:end], 0), true})
			told = number
		}
	}
	return told
}

// show is a matching line, cut around the match when it is long.
func (g *grep) show(line []byte) string {
	from := 0
	if len(line) > maxShown {
		if m := g.matcher.re.FindIndex(line); m != nil {
			from = max(0, m[0]-maxShown/3)
		}
	}
	return clip(line, from)
}

// clip is the part of a line from an offset on, as valid text.
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
