package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// content is text that is divided into graphemes and words. It is valid UTF-8.
type content string

// cluster returns the length of the grapheme that text begins with. A chip is one.
func cluster(text string) int {
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1
	}
	if _, ok := chipAt(text); ok {
		return chipLen
	}
	c, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
	if strings.IndexByte(c, chipLead) > 0 {
		if i := strings.IndexFunc(c, isChip); i > 0 {
			return i
		}
	}
	return len(c)
}

// plain reports whether a rune never joins another one of its sort to a grapheme.
func plain(r rune) bool {
	return r < 0x300 || r >= 0x400 && r <= 0x482 || r >= 0x3041 && r <= 0x3096 || r >= 0x30a0 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3
}

// border returns a border of a grapheme at or before pos, near it.
func (c content) border(pos int) int {
	if pos >= len(c) {
		return len(c)
	}
	next, _ := utf8.DecodeRuneInString(string(c[pos:]))
	for pos > 0 {
		r, size := utf8.DecodeLastRuneInString(string(c[:pos]))
		if r == '\n' || plain(r) && plain(next) || isChip(r) || isChip(next) {
			break
		}
		pos, next = pos-size, r
	}
	return pos
}

// floor returns the last border of a grapheme at or before pos, which is the start of a rune.
func (c content) floor(pos int) int {
	at := c.border(pos)
	for at < pos {
		n := cluster(string(c[at:]))
		if at+n > pos {
			break
		}
		at += n
	}
	return at
}

// ceil returns the first border of a grapheme at or after pos.
func (c content) ceil(pos int) int {
	for pos < len(c) && !utf8.RuneStart(c[pos]) {
		pos++
	}
	if at := c.floor(pos); at < pos {
		return at + cluster(string(c[at:]))
	}
	return pos
}

func (c content) prev(pos int) int {
	if pos == 0 {
		return 0
	}
	_, size := utf8.DecodeLastRuneInString(string(c[:pos]))
	return c.floor(pos - size)
}

func (c content) next(pos int) int {
	if pos >= len(c) {
		return len(c)
	}
	return pos + cluster(string(c[pos:]))
}

// class is the class of the grapheme at pos: 0 for blanks, 1 for words, 2 for other signs.
func (c content) class(pos int) int {
	switch r, _ := utf8.DecodeRuneInString(string(c[pos:])); {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', isChip(r):
		return 1
	}
	return 2
}

// wordLeft returns the start of the word before pos.
func (c content) wordLeft(pos int) int {
	for pos > 0 && c.class(c.prev(pos)) == 0 {
		pos = c.prev(pos)
	}
	if pos == 0 {
		return 0
	}
	class := c.class(c.prev(pos))
	for pos > 0 && c.class(c.prev(pos)) == class {
		pos = c.prev(pos)
	}
	return pos
}

// wordRight returns the end of the word after pos.
func (c content) wordRight(pos int) int {
	for pos < len(c) && c.class(pos) == 0 {
		pos = c.next(pos)
	}
	if pos == len(c) {
		return pos
	}
	class := c.class(pos)
	for pos < len(c) && c.class(pos) == class {
		pos = c.next(pos)
	}
	return pos
}
