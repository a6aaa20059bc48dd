package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Word is a word of a text, and its position in bytes.
type Word struct {
	Text       string // as it is compared
	Start, End int
	Part       bool // of the word before it that is none: a part of a name in camelCase
}

// maxWord is how much of a long word is looked at, in bytes: of hashes and pictures in base 64, most of all.
const maxWord = 64

// Words yields the words of a text, in order.
func Words(text string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		for at := 0; at < len(text); {
			r, size := rune(text[at]), 1
			if r >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(text[at:])
			}
			class := classOf(r)
			start := at
			at += size
			if class == between {
				continue
			}
			humps := false
			if class == inside {
				at, humps = endOf(text, start, at, isUpper(r))
			}
			if !yield(Word{Text: fold(text[start:at]), Start: start, End: at}) {
				return
			}
			if humps && !parts(text, start, at, yield) {
				return
			}
		}
	}
}

// endOf returns where the word ends that goes on at a place, and whether capitals and other letters follow each other in it.
func endOf(text string, start, at int, upper bool) (end int, humps bool) {
	for at < len(text) {
		r, size := rune(text[at]), 1
		if r < utf8.RuneSelf { // the usual case, at once
			if !isPlain(r) {
				break
			}
		} else if r, size = utf8.DecodeRuneInString(text[at:]); classOf(r) != inside {
			break
		}
		if isUpper(r) != upper {
			humps = humps || !upper || at-start > 1
			upper = !upper
		}
		at += size
	}
	return at, humps
}

// parts yields the parts of a name in camelCase, if it has more than one: a capital after another letter begins a part,
// and so does the last of several capitals.
func parts(text string, start, end int, yield func(Word) bool) bool {
	from, n := start, 0
	var before rune
	for i, r := range text[start:end] {
		at := start + i
		begins := isUpper(r) && at > from && (!isUpper(before) || isLower(nextRune(text[at+utf8.RuneLen(r):end])))
		before = r
		if !begins {
			continue
		}
		if n++; !yield(Word{Text: fold(text[from:at]), Start: from, End: at, Part: true}) {
			return false
		}
		from = at
	}
	return n == 0 || yield(Word{Text: fold(text[from:end]), Start: from, End: end, Part: true})
}

func nextRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// The classes of characters.
const (
	between = iota // no word
	inside         // of a word
	alone          // a word by itself
)

func classOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if isPlain(r) {
			return inside
		}
		return between
	case r == utf8.RuneError, !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return between
	case r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Thai,
		unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return alone
	}
	return inside
}

// isPlain reports whether a character of ASCII is a letter or a digit.
func isPlain(r rune) bool {
	lower := r | ' '
	return lower >= 'a' && lower <= 'z' || r >= '0' && r <= '9'
}

func isUpper(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'A' && r <= 'Z'
	}
	return unicode.IsUpper(r)
}

func isLower(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z'
	}
	return unicode.IsLower(r)
}

// fold is a word as it is compared.
func fold(word string) string {
	if len(word) > maxWord {
		word = cut(word, maxWord)
	}
	ascii := true
	for i := range len(word) {
		ascii = ascii && word[i] < utf8.RuneSelf
	}
	if ascii {
		return strings.ToLower(word)
	}
	var b strings.Builder
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(unicode.ToLower(r))
		case unicode.In(r, unicode.Latin, unicode.Greek):
			for _, d := range norm.NFD.String(string(r)) {
				if !unicode.Is(unicode.Mn, d) {
					b.WriteRune(unicode.ToLower(d))
				}
			}
		case unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.Mn, r): // an accent that stands by itself
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	if b.Len() == 0 {
		return word
	}
	return b.String()
}
