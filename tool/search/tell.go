package search

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/workspace"
)

// tell adds the lines of one file and reports whether there is room for more.
func (g *grep) tell(h hits) bool {
	if h.skipped != nil {
		g.skip(h.path, h.skipped)
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
	if h.more {
		g.found.More = true
		return false
	}
	return true
}

// skip remembers what was not searched.
func (g *grep) skip(path string, err error) {
	if g.found.Skipped++; len(g.skips) < maxUnseen {
		g.skips = append(g.skips, workspace.Quote(path)+" ("+reason(err)+")")
	}
}

func (g *grep) text() string {
	if g.found.Matches == 0 {
		g.notes = append([]string{fmt.Sprintf("no match in %d files", g.found.Searched)}, g.notes...)
	}
	if g.found.More {
		g.notes = append(g.notes, fmt.Sprintf("only the first %d matches are shown; narrow the search with path or include, or a longer pattern", g.found.Matches))
	}
	if len(g.skips) > 0 {
		g.notes = append(g.notes, unseen("not searched", g.skips, g.found.Skipped))
	}
	text := g.out.String()
	for _, note := range g.notes {
		text += "[" + note + "]\n"
	}
	return strings.TrimSuffix(text, "\n")
}
