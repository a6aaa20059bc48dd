package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/search/internal/lines"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	maxMatches = 120      // matching lines that grep shows
	maxText    = 12 << 10 // bytes that grep shows
	maxShown   = 300      // bytes of one line
	maxExact   = 64 << 10 // bytes of the longest line in which grep locates the match
	maxFile    = 16 << 20 // bytes of the largest file that grep searches
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
	Matches  int  `json:"matches"` // shown lines
	Files    int  `json:"files"`   // with a shown line
	Searched int  `json:"searched"`
	Skipped  int  `json:"skipped,omitzero"` // files and directories that are too large or unreadable
	More     bool `json:"more,omitzero"`    // there are more matches
}

func (s set) grep() tool.Tool {
	return tool.New("grep", grepText,
		func(_ context.Context, args grepArguments) (tool.Effects, error) { return s.reads(args.Path) },
		func(ctx context.Context, args grepArguments, _ tool.Report) (tool.Result, error) {
			start, err := s.start(ctx, args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			g := grep{set: s, start: start, context: args.Context, filter: nameFilter{"**", true}, limits: limits{maxMatches, maxText}}
			if args.Include != "" {
				if g.filter, err = newNameFilter(s.ws, args.Include); err != nil {
					return tool.Result{}, err
				}
			}
			var invalid error
			if g.pattern, invalid, err = lines.Compile(args.Pattern, args.Literal, args.IgnoreCase); err != nil {
				return tool.Result{}, err
			}
			if invalid != nil {
				g.notes = append(g.notes, fmt.Sprintf("the pattern was read as plain text: %v", invalid))
			}
			if strings.Contains(args.Pattern, "\n") || !args.Literal && strings.Contains(args.Pattern, `\n`) {
				g.notes = append(g.notes, "a match is within one line; newlines never match")
			}
			if err := g.run(ctx); err != nil {
				return tool.Result{}, err
			}
			brief := tool.Count(g.found.Matches, "match")
			if g.found.More {
				brief += " and more"
			}
			return tool.TextResult(g.text()).With(brief, g.found), nil
		}, tool.WithTitle(func(args grepArguments) string { return title(args.Pattern, args.Path) }))
}

type limits struct{ matches, text int }

type grep struct {
	set
	limits
	pattern *lines.Pattern
	filter  nameFilter
	start   string
	context int

	out   strings.Builder
	found Matched
	notes []string
	skips []string
}

// show adds the lines of one file and reports whether there is room for more.
func (g *grep) show(h hits) bool {
	if h.skipped != nil {
		if g.found.Skipped++; len(g.skips) < maxUnseen {
			g.skips = append(g.skips, workspace.Quote(h.path)+" ("+reason(h.skipped)+")")
		}
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
		if g.out.Len()+len(text) > g.limits.text || !line.around && g.found.Matches == g.limits.matches {
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
	g.found.More = h.more
	return !h.more
}

func (g *grep) text() string {
	if g.found.Matches == 0 {
		g.notes = append([]string{fmt.Sprintf("no match in %s", tool.Count(g.found.Searched, "file"))}, g.notes...)
	}
	if g.found.More {
		g.notes = append(g.notes, fmt.Sprintf("only the first %d matches are shown; narrow the search with path, include or a longer pattern", g.found.Matches))
	}
	if len(g.skips) > 0 {
		g.notes = append(g.notes, unseen(g.skips, g.found.Skipped))
	}
	text := g.out.String()
	for _, note := range g.notes {
		text += "[" + note + "]\n"
	}
	return strings.TrimSuffix(text, "\n")
}
