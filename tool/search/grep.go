package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/search/internal/lines"
)

const (
	maxMatches = 120      // lines that grep tells
	maxText    = 12 << 10 // bytes that grep tells
	maxShown   = 300      // bytes of one line
	maxExact   = 64 << 10 // bytes of a line in which the match is found exactly, to be shown
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
	Skipped  int  `json:"skipped,omitzero"` // files and directories: too large, or not readable
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

// limits is how much is told.
type limits struct{ matches, text int }

// grep is one search.
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
