package search

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/search/internal/lines"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	maxMatches = 120      // matches that grep shows
	maxCount   = 10_000   // matches that grep counts
	maxBeyond  = 64 << 20 // bytes of files in which grep only counts
	maxText    = 12 << 10 // bytes that grep shows
	maxShown   = 300      // bytes of one line
	maxExact   = 64 << 10 // bytes of the longest line in which grep locates the match
	maxFile    = 16 << 20 // bytes of the largest file that grep searches
)

type grepArguments struct {
	Pattern    string `json:"pattern" jsonschema:"regular expression for lines" min:"1"`
	Path       string `json:"path,omitempty" jsonschema:"file or directory to search, default the root"`
	Include    string `json:"include,omitempty" jsonschema:"glob of the files to search"`
	Type       string `json:"type,omitempty" jsonschema:"kind of the files to search: go, py, js, ts, rust, java, md or another extension"`
	OutputMode string `json:"output_mode,omitempty" jsonschema:"lines, paths, or matches per file; default content" enum:"content,files_with_matches,count"`
	Literal    bool   `json:"literal,omitempty" jsonschema:"the pattern is plain text"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"ignore upper and lower case"`
	Multiline  bool   `json:"multiline,omitempty" jsonschema:"matches may span lines, and . matches newlines"`
	Context    int    `json:"context,omitempty" jsonschema:"lines before and after each match" min:"0" max:"20"`
	Before     int    `json:"before,omitempty" jsonschema:"lines before each match" min:"0" max:"20"`
	After      int    `json:"after,omitempty" jsonschema:"lines after each match" min:"0" max:"20"`
	Limit      int    `json:"limit,omitempty" jsonschema:"matches or files to show, default 120" min:"1" max:"1000"`
}

// The output modes.
const (
	showFiles  = "files_with_matches"
	showCounts = "count"
)

// Matched is the details of a grep.
type Matched struct {
	Matches  int  `json:"matches"`          // of all files; files_with_matches counts one for each file
	Files    int  `json:"files"`            // with a match
	Shown    int  `json:"shown"`            // matches, or files in the other modes
	More     bool `json:"more,omitzero"`    // there are more than it counted
	Searched int  `json:"searched"`         // files
	Skipped  int  `json:"skipped,omitzero"` // files and directories that are too large or unreadable
}

func (s set) grep() tool.Tool {
	return tool.New("grep", grepText,
		func(_ context.Context, args grepArguments) (tool.Effects, error) { return s.reads(args.Path) },
		func(ctx context.Context, args grepArguments, _ tool.Report) (tool.Result, error) {
			start, err := s.start(ctx, args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			g := grep{
				set: s, start: start, mode: args.OutputMode, before: max(args.Before, args.Context), after: max(args.After, args.Context),
				kinds: kindsOf(args.Type), limits: limits{cmp.Or(args.Limit, maxMatches), maxText, maxCount, maxBeyond},
			}
			if args.Include != "" {
				filter, err := newNameFilter(s.ws, args.Include)
				if err != nil {
					return tool.Result{}, err
				}
				g.filter = &filter
			}
			o := lines.Options{Literal: args.Literal, IgnoreCase: args.IgnoreCase, Multiline: args.Multiline}
			if strings.Contains(args.Pattern, "\n") || !args.Literal && strings.Contains(args.Pattern, `\n`) {
				o.Newlines = true
			}
			var invalid error
			if g.pattern, invalid, err = lines.Compile(args.Pattern, o); err != nil {
				return tool.Result{}, err
			}
			if invalid != nil {
				g.notes = append(g.notes, fmt.Sprintf("the pattern was read as plain text: %v", invalid))
			}
			if err := g.run(ctx); err != nil {
				return tool.Result{}, err
			}
			return tool.TextResult(g.result()).With(g.total(), g.found), nil
		}, tool.WithTitle(func(args grepArguments) string { return title(args.Pattern, args.Path) }))
}

// limits bound the shown matches or files, the bytes that show them, the counted matches, and the bytes in which it only counts.
type limits struct{ matches, text, count, beyond int }

type grep struct {
	set
	limits
	pattern       *lines.Pattern
	filter        *nameFilter // nil: all files
	kinds         []string    // patterns of names; none: all files
	start         string
	mode          string
	before, after int // lines of context

	out   strings.Builder
	full  atomic.Bool // out has no room; from now on grep only counts
	found Matched
	notes []string
	skips []string
}

// wants reports whether a file is to be searched.
func (g *grep) wants(name string) bool {
	if g.filter != nil && !g.filter.match(g.start, name) {
		return false
	}
	return len(g.kinds) == 0 || slices.ContainsFunc(g.kinds, func(pattern string) bool {
		ok, _ := path.Match(pattern, path.Base(name))
		return ok
	})
}

// show counts and shows the hits of one file, and reports whether to go on.
func (g *grep) show(h hits) bool {
	if h.skipped != nil {
		if g.found.Skipped++; len(g.skips) < maxUnseen {
			g.skips = append(g.skips, workspace.Quote(h.path)+" ("+reason(h.skipped)+")")
		}
		return true
	}
	g.found.Searched++
	if g.full.Load() {
		g.beyond -= h.bytes
	}
	if h.matches == 0 {
		return g.goOn(h)
	}
	g.found.Files++
	g.found.Matches += h.matches
	switch {
	case g.full.Load():
	case g.mode == showFiles:
		g.entry(workspace.Quote(h.path) + "\n")
	case g.mode == showCounts:
		g.entry(fmt.Sprintf("%s:%d\n", workspace.Quote(h.path), h.matches))
	default:
		g.lines(h)
	}
	return g.goOn(h)
}

// goOn reports whether there is more to count.
func (g *grep) goOn(h hits) bool {
	g.found.More = h.more || g.found.Matches >= g.count || g.beyond <= 0
	return !g.found.More
}

// entry shows a file.
func (g *grep) entry(line string) {
	if g.out.Len()+len(line) > g.text || g.found.Shown == g.matches {
		g.full.Store(true)
		return
	}
	g.out.WriteString(line)
	g.found.Shown++
}

// lines shows the lines of a file.
func (g *grep) lines(h hits) {
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
		if last > 0 && line.number > last+1 && g.before+g.after > 0 {
			text = "--\n" + text
		}
		if g.out.Len()+len(text) > g.text || line.first && g.found.Shown == g.matches {
			g.full.Store(true)
			return
		}
		g.out.WriteString(text)
		header, last = "", line.number
		if line.first {
			g.found.Shown++
		}
	}
}

// total is the result in one line: "3 matches in 2 files", or "120 of 873 matches in 41 files".
func (g *grep) total() string {
	f := g.found
	all, noun := f.Matches, "match"
	if g.mode == showFiles {
		noun = "file"
	}
	text := tool.Count(all, noun)
	if f.More {
		text = "at least " + text
	}
	shown := all
	switch {
	case g.mode == showCounts && f.Shown < f.Files:
		return fmt.Sprintf("%s in %d files, of which %d are shown", text, f.Files, f.Shown)
	case g.mode != showCounts:
		shown = f.Shown
	}
	if shown < all {
		text = fmt.Sprintf("%d of %s", shown, text)
	}
	if g.mode != showFiles && f.Files > 0 {
		text += " in " + tool.Count(f.Files, "file")
	}
	return text
}

func (g *grep) result() string {
	switch f := g.found; {
	case f.Searched == 0:
		g.notes = append([]string{"no file was searched; check path, include and type"}, g.notes...)
	case f.Matches == 0:
		g.notes = append([]string{fmt.Sprintf("no match in %s", tool.Count(f.Searched, "file"))}, g.notes...)
	case g.full.Load() || f.More || g.mode != showFiles && g.mode != showCounts && f.Shown < f.Matches:
		g.notes = append(g.notes, g.total()+"; narrow the search with path, include, type or a longer pattern, or list the files with output_mode")
	case g.mode == showCounts:
		g.notes = append(g.notes, g.total())
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
