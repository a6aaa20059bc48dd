package files

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxWindow = 40     // lines of old_text to compare
	maxLook   = 50_000 // lines of a file to compare
)

// numbered matches a line as read shows it.
var numbered = lazily(`^\s*\d+\t`)

// notFound is the error for a text that does not occur, with the most similar lines and their first difference.
func notFound(name, text, old, new string) error {
	oldLines := splitLines(old)
	if len(oldLines) > 0 && !slices.ContainsFunc(oldLines, func(line string) bool { return !numbered().MatchString(line) }) {
		return tool.Codef("tool.no_match", "%s not found; it contains the line numbers of read: leave out each number and the tab after it", name)
	}
	if madeBefore(text, old, new) {
		return tool.Codef("tool.no_match", "%s not found, but its new text is already at line %d; was this edit made before?", name, lineAt(text, strings.Index(text, new)))
	}
	lines := splitLines(text)
	first, n := nearestLines(lines, oldLines)
	if n == 0 {
		return tool.Codef("tool.no_match", "%s not found, and no line of the file is similar; read the file again", name)
	}
	return tool.Codef("tool.no_match", "%s not found; the most similar lines are %d-%d:\n%s\n%s", name, first+1, first+n,
		numberedLines(lines[first:], first+1, n), difference(name, lines[first:first+n], oldLines, first))
}

// madeBefore reports whether a text has the result of the edit and nothing of what it removes. A short text is no sign of it.
func madeBefore(text, old, new string) bool {
	const least = 12 // bytes
	if len(strings.TrimSpace(new)) < least || strings.Count(text, new) != 1 {
		return false
	}
	have := map[string]bool{}
	for _, line := range splitLines(text) {
		have[squeeze(line)] = true
	}
	kept := normLines(new, squeeze)
	return !slices.ContainsFunc(normLines(old, squeeze), func(line string) bool {
		return line != "" && have[line] && !slices.Contains(kept, line)
	})
}

// made ends the note about an inexact match with the lines that it made.
func made(lines []string, first, n int) string {
	if n == 0 {
		return "; it was removed there"
	}
	return "; it was replaced there, and the lines are now:\n" + numberedLines(lines, first, n)
}

// numberedLines shows the first n lines as read does, from a number on.
func numberedLines(lines []string, first, n int) string {
	const most = 12
	var b strings.Builder
	for i, line := range lines[:min(n, most, len(lines))] {
		fmt.Fprintf(&b, "%d\t%s\n", first+i, clip(line))
	}
	if n > most {
		fmt.Fprintf(&b, "[%s]\n", tool.Count(n-most, "more line"))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func difference(name string, lines, old []string, first int) string {
	for i := range min(len(lines), len(old)) {
		a, b := strings.TrimRight(lines[i], "\r\n"), strings.TrimRight(old[i], "\r\n")
		if a == b {
			continue
		}
		how := ""
		switch {
		case squeeze(a) == squeeze(b):
			how = " (only white space or punctuation differs)"
		case strings.EqualFold(squeeze(a), squeeze(b)):
			how = " (only upper and lower case differ)"
		}
		return fmt.Sprintf("line %d is %q, %s has %q%s", first+i+1, clip(a), name, clip(b), how)
	}
	return fmt.Sprintf("%s has %s; the first %d are the same", name, tool.Count(len(old), "line"), min(len(lines), len(old)))
}

func clip(line string) string { return tool.Clip(strings.TrimRight(line, "\r\n"), 160) }

// nearestLines finds the lines that are most similar to old: with the most equal lines, or the most letters in common.
func nearestLines(lines, old []string) (first, n int) {
	lines, old = lines[:min(len(lines), maxLook)], old[:min(len(old), maxWindow)]
	if len(lines) == 0 || len(old) == 0 {
		return 0, 0
	}
	have, want := make([]string, len(lines)), normLines(strings.Join(old, ""), squeeze)
	for i, line := range lines {
		have[i] = squeeze(line)
	}
	best := 0
	for i := range lines {
		score := 0
		for j, w := range want {
			if w != "" && i+j < len(have) && have[i+j] == w {
				score += 1 + min(len(w), 40) // a long line is a better sign than a brace
			}
		}
		if score > best {
			best, first = score, i
		}
	}
	if best > 0 {
		return first, min(len(old), len(lines)-first)
	}
	anchor := slices.IndexFunc(want, func(w string) bool { return len(w) > 2 })
	if anchor < 0 {
		return 0, 0
	}
	pairs := pairsOf(want[anchor])
	most := 0.4
	for i, line := range have {
		if score := likeness(pairs, line); score > most {
			most, first, n = score, max(0, i-anchor), 1
		}
	}
	if n == 0 {
		return 0, 0
	}
	return first, min(len(old), len(lines)-first)
}

// pairsOf counts the pairs of adjacent bytes in a line.
func pairsOf(line string) map[string]int {
	line = strings.ToLower(line[:min(len(line), 200)])
	pairs := map[string]int{}
	for i := range len(line) - 1 {
		pairs[line[i:i+2]]++
	}
	return pairs
}

// likeness is the share of pairs that two lines have in common.
func likeness(pairs map[string]int, line string) float64 {
	total, common := 0, 0
	for _, n := range pairs {
		total += n
	}
	for pair, n := range pairsOf(line) {
		total += n
		common += min(n, pairs[pair])
	}
	return 2 * float64(common) / float64(max(total, 1))
}
