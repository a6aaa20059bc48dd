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
	{"Unicode punctuation", func(text, old, new string) []match { return findFolded(text, old, new, fold) }},
	{"Unicode punctuation", func(text, old, new string) []match { return findFolded(text, old, new, foldLong) }},
	{"trailing white space", func(text, old, new string) []match { return findLines(text, old, new, trimRight) }},
	{"white space and indentation", func(text, old, new string) []match { return findLines(text, old, new, squeeze) }},
}

// fold maps typographic punctuation to ASCII, and every other rune beyond ASCII to itself.
func fold(r rune) string {
	switch {
	case strings.ContainsRune("‘’‚‛′", r):
		return "'"
	case strings.ContainsRune("“”„‟″«»", r):
		return `"`
	case strings.ContainsRune("‐‑‒–—―−", r):
		return "-"
	case r == '…':
		return "..."
	case unicode.Is(unicode.Zs, r):
		return " "
	}
	return string(r)
}

// foldLong is fold, with long dashes as two hyphens.
func foldLong(r rune) string {
	if strings.ContainsRune("–—―", r) {
		return "--"
	}
	return fold(r)
}

// folded returns a text with its punctuation in ASCII.
func folded(text string, fold func(rune) string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		if n, _ := widths(text[i:], fold); n == 1 { // ASCII, or not UTF-8
			b.WriteByte(text[i])
		} else {
			b.WriteString(fold(r))
		}
	}
	return b.String()
}

// findFolded finds old with any punctuation. The parts that new shares with old keep the punctuation of the text.
func findFolded(text, old, new string, fold func(rune) string) []match {
	plain, want := folded(text, fold), folded(old, fold)
	if plain == text && want == old {
		return nil
	}
	var found []match
	at, plainAt := 0, 0 // the same place in both texts
	advance := func(to int) bool {
		for plainAt < to {
			n, m := widths(text[at:], fold)
			at, plainAt = at+n, plainAt+m
		}
		return plainAt == to
	}
	for from := 0; len(found) <= maxPlaces; {
		i := strings.Index(plain[from:], want)
		if i < 0 {
			break
		}
		whole := advance(from + i) // and not from within an ellipsis
		start := at
		from += i + len(want)
		if whole = advance(from) && whole; whole {
			found = append(found, match{start, at, keepPunctuation(text[start:at], old, new, fold)})
		}
		from = max(from, plainAt)
	}
	return found
}

// widths returns the bytes of the first rune of a text, and of its folded form.
func widths(text string, fold func(rune) string) (n, plain int) {
	r, n := utf8.DecodeRuneInString(text)
	if n == 1 {
		return 1, 1 // ASCII, or not UTF-8
	}
	return n, len(fold(r))
}

// keepPunctuation returns new with the punctuation of the text at the start and end that new shares with old. The text and old are equal when
// they are folded.
func keepPunctuation(text, old, new string, fold func(rune) string) string {
	type piece struct{ text, old string }
	var pieces []piece
	for i, k := 0, 0; i < len(text); {
		from, fromOld := i, k
		for ahead := 0; i == from || ahead != 0; {
			if ahead <= 0 {
				n, m := widths(text[i:], fold)
				i, ahead = i+n, ahead+m
				continue
			}
			n, m := widths(old[k:], fold)
			k, ahead = k+n, ahead-m
		}
		pieces = append(pieces, piece{text[from:i], old[fromOld:k]})
	}
	var head, tail string
	for len(pieces) > 0 && strings.HasPrefix(new, pieces[0].old) {
		head += pieces[0].text
		new, pieces = new[len(pieces[0].old):], pieces[1:]
	}
	for last := len(pieces) - 1; last >= 0 && strings.HasSuffix(new, pieces[last].old); last-- {
		tail = pieces[last].text + tail
		new = new[:len(new)-len(pieces[last].old)]
	}
	return head + new + tail
}

func trimRight(line string) string {
	return strings.TrimRightFunc(folded(line, fold), unicode.IsSpace)
}

func squeeze(line string) string { return strings.Join(strings.Fields(folded(line, fold)), " ") }

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
