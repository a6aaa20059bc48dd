package files

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// match is a place in a text and its replacement.
type match struct {
	start, end int
	new        string
}

// levels lists the ways to find a text that does not occur exactly, the strictest first.
var levels = []struct {
	name string
	find func(text, old, new string) []match
}{
	{"Unicode punctuation", findFolded},
	{"trailing white space", func(text, old, new string) []match { return findLines(text, old, new, trimRight) }},
	{"white space and indentation", func(text, old, new string) []match { return findLines(text, old, new, squeeze) }},
}

// fold maps typographic punctuation to ASCII.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return r
	case strings.ContainsRune("‘’‚‛′", r):
		return '\''
	case strings.ContainsRune("“”„‟″«»", r):
		return '"'
	case strings.ContainsRune("‐‑‒–—―−", r):
		return '-'
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// findFolded finds old with any punctuation. The parts that new shares with old keep the punctuation of the text.
func findFolded(text, old, new string) []match {
	folded, want := strings.Map(fold, text), strings.Map(fold, old)
	if folded == text && want == old {
		return nil
	}
	var found []match
	// Folded runes are shorter: walk both texts together.
	at, foldedAt := 0, 0
	advance := func(to int) {
		for foldedAt < to {
			_, n := utf8.DecodeRuneInString(text[at:])
			_, m := utf8.DecodeRuneInString(folded[foldedAt:])
			at, foldedAt = at+n, foldedAt+m
		}
	}
	for from := 0; len(found) <= maxPlaces; {
		i := strings.Index(folded[from:], want)
		if i < 0 {
			break
		}
		advance(from + i)
		start := at
		from += i + len(want)
		advance(from)
		found = append(found, match{start, at, keepPunctuation(text[start:at], old, new)})
	}
	return found
}

// keepPunctuation returns new with the punctuation of the text at the start and end that new shares with old.
func keepPunctuation(text, old, new string) string {
	t, o, n := []rune(text), []rune(old), []rune(new)
	head := 0
	for head < min(len(t), len(o), len(n)) && o[head] == n[head] {
		head++
	}
	tail := 0
	for tail < min(len(t), len(o), len(n))-head && o[len(o)-1-tail] == n[len(n)-1-tail] {
		tail++
	}
	if len(t) != len(o) {
		return new
	}
	return string(t[:head]) + string(n[head:len(n)-tail]) + string(t[len(t)-tail:])
}

func trimRight(line string) string {
	return strings.TrimRightFunc(strings.Map(fold, line), unicode.IsSpace)
}

func squeeze(line string) string { return strings.Join(strings.Fields(strings.Map(fold, line)), " ") }

// findLines finds the places where norm makes the lines of the text equal to those of old.
func findLines(text, old, new string, norm func(string) string) []match {
	want := normLines(old, norm)
	if len(strings.Join(want, "")) == 0 {
		return nil // white space alone is everywhere
	}
	lines := splitLines(text)
	have := make([]string, len(lines))
	for i, line := range lines {
		have[i] = norm(line)
	}
	var found []match
	for i, offset := 0, 0; i+len(want) <= len(lines) && len(found) <= maxPlaces; i++ {
		if equal(have[i:i+len(want)], want) {
			found = append(found, block(lines[i:i+len(want)], offset, old, new))
		}
		offset += len(lines[i])
	}
	return found
}

// equal compares from the end, because blocks often start alike.
func equal(a, b []string) bool {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func block(lines []string, offset int, old, new string) match {
	body := strings.Join(lines, "")
	m := match{start: offset, end: offset + len(body), new: indentLike(lines, splitLines(old), new)}
	last := lines[len(lines)-1]
	if ending := last[len(strings.TrimRight(last, "\r\n")):]; !strings.HasSuffix(old, "\n") {
		m.end -= len(ending)
	} else if ending == "" {
		m.new = strings.TrimSuffix(m.new, "\n")
	}
	return m
}

// indentLike gives the lines of new the indentation of the text. Lines of old and the text at the same place define the mapping.
func indentLike(lines, old []string, new string) string {
	mapped := map[string]string{}
	for i := range old {
		if strings.TrimSpace(old[i]) == "" {
			continue
		}
		if _, ok := mapped[indent(old[i])]; !ok {
			mapped[indent(old[i])] = indent(lines[i])
		}
	}
	var b strings.Builder
	for _, line := range splitLines(new) {
		have := indent(line)
		if strings.TrimSpace(line) == "" {
			b.WriteString(line)
			continue
		}
		// An unknown indentation extends the longest known one.
		known := have
		for known != "" {
			if _, ok := mapped[known]; ok {
				break
			}
			known = known[:len(known)-1]
		}
		b.WriteString(mapped[known] + line[len(known):])
	}
	return b.String()
}

func indent(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// splitLines splits a text after each newline.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func normLines(text string, norm func(string) string) []string {
	lines := splitLines(text)
	for i, line := range lines {
		lines[i] = norm(line)
	}
	return lines
}
