// Package excerpt shortens texts by their kind: hits of a search, a list in JSON, lines of output.
package excerpt

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Of returns the most useful part of a text, in about limit bytes: the places of a search without the lines that it found, the first,
// middle and last members of a list in JSON, the first and the last lines of any other text.
func Of(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if short, ok := places(text, limit); ok {
		return short
	}
	if short, ok := list(text, limit); ok {
		return short
	}
	return HeadTail(text, limit)
}

// place matches a hit of a search: a path, a line number, perhaps a column, and the line.
var place = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([^\s:][^:\n]*):(\d+)[:-]`) })

// places keeps the paths and line numbers of a search.
func places(text string, limit int) (string, bool) {
	found, others := 0, 0
	var b strings.Builder
	last := ""
	left := 0
	for line := range strings.Lines(text) {
		m := place().FindStringSubmatch(line)
		if m == nil {
			others++
			continue
		}
		found++
		if b.Len() > limit {
			left++
			continue
		}
		if m[1] != last {
			if last != "" {
				b.WriteByte('\n')
			}
			b.WriteString(m[1] + ":" + m[2])
			last = m[1]
		} else {
			b.WriteString("," + m[2])
		}
	}
	if found < 5 || others > found/4 {
		return "", false
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n[... %d more hits left out ...]", left)
	}
	return b.String(), true
}

// list keeps the first, the middle and the last member of a list in JSON.
func list(text string, limit int) (string, bool) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "[") {
		return "", false
	}
	var members []json.RawMessage
	if json.Unmarshal([]byte(trimmed), &members) != nil || len(members) < 4 {
		return "", false
	}
	member := func(i int) string { return HeadTail(string(members[i]), limit/3) }
	last := len(members) - 1
	return fmt.Sprintf("[%s,\n... %d members in total; a middle one: ...\n%s,\n... the last: ...\n%s]",
		member(0), len(members), member(len(members)/2), member(last)), true
}

// HeadTail keeps the first and the last lines of a text, in about limit bytes, and the number of omitted ones. Runes stay whole, and so do
// lines that are shorter than the limit.
func HeadTail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:cut(text, limit*2/5)], text[len(text)-cutBack(text, limit*3/5):]
	if i := strings.LastIndexByte(head, '\n'); i > len(head)/2 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	}
	missing := text[len(head) : len(text)-len(tail)]
	if !strings.HasSuffix(head, "\n") {
		head += "\n"
	}
	return fmt.Sprintf("%s[... %d lines, %d bytes left out ...]\n%s", head, strings.Count(missing, "\n"), len(missing), tail)
}

// cut is the greatest number up to n at which a rune begins.
func cut(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// cutBack is the greatest number up to n so that a rune begins that many bytes before the end.
func cutBack(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[len(text)-n]) {
		n--
	}
	return n
}
