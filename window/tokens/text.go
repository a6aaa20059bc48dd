package tokens

import (
	"unicode"
	"unicode/utf8"
)

// unit is the smallest counted part of a token: 64 units are a token. The numbers of units in this file were fitted once to the o200k_base
// encoding of texts of many kinds.
const unit = 64

// Text estimates the tokens of s for a model with a vocabulary of 200 000 pieces, such as o200k_base. It allocates nothing, and its time
// grows with the length of s alone. Only the empty text has no tokens.
func Text(s string) int {
	units := 0
	for i := 0; i < len(s); {
		end, cost := piece(s, i)
		i, units = end, units+cost
	}
	if s == "" {
		return 0
	}
	return max(1, (units+unit/2)/unit)
}

// class is the class of a character.
type class uint8

const (
	letter  class = iota // of ASCII
	foreign              // a letter that is not in ASCII
	digit
	blank
	mark // of ASCII
	sign // a mark that is not in ASCII
)

// at is the class and the size of the character at i.
func at(s string, i int) (c class, size int) {
	switch b := s[i]; {
	case b >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(s[i:])
		if isLetter(r) {
			return foreign, size
		}
		return sign, size
	case (b|0x20)-'a' < 26:
		return letter, 1
	case b-'0' < 10:
		return digit, 1
	case b == ' ' || b-'\t' < 5:
		return blank, 1
	}
	return mark, 1
}

// isLetter reports whether a character that is not in ASCII is part of words. The block decides for most of them.
func isLetter(r rune) bool {
	switch {
	case r < 0xc0:
		return r == 'ª' || r == 'µ' || r == 'º'
	case r < 0x1000:
		return r != '×' && r != '÷'
	case 0x2000 <= r && r <= 0x2bff, 0x3000 <= r && r <= 0x303f, emoji <= r && r < 0x20000:
		return false
	case 0x4e00 <= r && r <= 0x9fff, 0xac00 <= r && r <= 0xd7a3, 0x3040 <= r && r <= 0x30ff:
		return true
	}
	return unicode.In(r, unicode.L, unicode.M)
}

// piece reads what a tokenizer splits off before it looks at its vocabulary: a word with one space or mark before it, up to three digits, a
// run of marks with one space before it, or white space.
func piece(s string, i int) (end, cost int) {
	c, size := at(s, i)
	next := i + size
	after := blank // the class of the next character
	if next < len(s) {
		after, _ = at(s, next)
	}
	switch {
	case c == letter || c == foreign:
		return word(s, i)
	case c == digit:
		for end = next; end < min(len(s), i+3) && s[end]-'0' < 10; end++ {
		}
		return end, unit
	case s[i] == '\n' || s[i] == '\r':
		return space(s, i)
	case after == letter || after == foreign:
		end, cost = word(s, next)
		if c == sign {
			r, _ := utf8.DecodeRuneInString(s[i:])
			cost += signUnits(r)
		}
		return end, cost
	case s[i] == ' ' && (after == mark || after == sign):
		return marks(s, next)
	case c == blank:
		return space(s, i)
	}
	return marks(s, i)
}

// word reads the letters of a word. As in the pattern of the tokenizer, a word is capitals and then small letters: a capital after small
// letters begins another one.
func word(s string, i int) (end, cost int) {
	capitals, letters, extra := 0, 0, 0
	var last *script
	for i < len(s) {
		if b := s[i]; b < utf8.RuneSelf {
			capital := b-'A' < 26
			if capital && (letters > capitals || last != nil) || !capital && b-'a' >= 26 {
				break
			}
			switch {
			case letters > 1 && b == s[i-1] && b == s[i-2]:
				extra += 10 // a repeated letter is cheap
			case capital:
				capitals++
				letters++
			default:
				letters++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isLetter(r) {
			break
		}
		i += size
		if r < 0x250 || 0x1e00 <= r && r < 0x1f00 { // Latin
			letters++
			extra += 14
			if 0x100 <= r && r < 0x1e00 { // not Western European
				extra += 60
			}
			continue
		}
		sc := scriptOf(r)
		if last == nil {
			extra += sc.begin
		} else {
			extra += sc.more
		}
		last = sc
	}
	return i, unit + max(0, extra+wordUnits(letters, capitals))
}

// wordUnits is the cost of a word of Latin letters beyond its first token: long words and words with several capitals have more. In long words
// each letter costs 34 units, whatever the capitals are: so the parts of a word cost about as much as the word.
func wordUnits(letters, capitals int) int {
	switch {
	case letters == 0:
		return 0
	case capitals == 0:
		return 9*max(0, letters-6) + 25*max(0, letters-13)
	case capitals == 1 && letters > 1:
		return 4 + 5*max(0, letters-4) + 25*max(0, letters-14)
	case capitals == letters:
		return 2 + 13*max(0, letters-2) + 21*max(0, letters-12)
	}
	return 64 + 22*max(0, letters-3) + 12*max(0, letters-12)
}

// script is the cost of the letters of a script: of the first one of a word, and of each further one.
type script struct{ begin, more int }

// scripts are the scripts by their last code point.
var scripts = []struct {
	last rune
	script
}{
	{0x2ff, script{0, 19}}, {0x3ff, script{-93, 35}}, {0x44f, script{0, 11}}, {0x45f, script{30, 41}}, {0x57f, script{0, 11}}, // Greek, Cyrillic
	{0x5ff, script{-32, 32}}, {0x8ff, script{-55, 28}}, {0x97f, script{-89, 38}}, {0xdff, script{-70, 58}}, // Hebrew, Arabic, Devanagari, India
	{0xeff, script{19, 26}}, {0x303f, script{0, 19}}, {0x30ff, script{36, 36}}, {0x4dff, script{64, 96}}, // Thai, others, kana, rare Han
	{0x9fff, script{40, 47}}, {0xabff, script{0, 19}}, {0xd7a3, script{24, 24}}, {unicode.MaxRune, script{64, 96}}, // Han, others, Hangul, rare Han
}

func scriptOf(r rune) *script {
	i := 0
	for scripts[i].last < r {
		i++
	}
	return &scripts[i].script
}

// space reads white space: up to its last line break, or else all but the last space, which belongs to the next piece.
func space(s string, i int) (end, cost int) {
	breaks, j := 0, i
	for j < len(s) && (s[j] == ' ' || s[j]-'\t' < 5) {
		if s[j] == '\n' || s[j] == '\r' {
			breaks = j + 1
		}
		j++
	}
	switch {
	case breaks > 0:
		end = breaks
	case j < len(s) && j > i+1:
		end = j - 1
	default:
		end = j
	}
	const most = 128 // spaces of one token
	return end, unit * (1 + (end-i)/most)
}

const emoji rune = 0x1f000 // the first

// marks reads a run of marks, with the line breaks after it.
func marks(s string, i int) (end, cost int) {
	const (
		lineBreak = 3  // a line break after marks is often in one token with them
		most      = 96 // equal marks of one token
	)
	begin, changes := i, -1
	cost = -8
	if s[i] >= utf8.RuneSelf {
		cost = -40 // the first mark is in the token of the run
	}
	for before := rune(-1); i < len(s); {
		c, size := at(s, i)
		if c != mark && c != sign {
			break
		}
		this, _ := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == sign && (this != before || this >= emoji):
			cost += signUnits(this)
		case c == mark && this != before:
			if changes++; changes > 1 && usual(this) && usual(before) {
				cost += 20 // vocabularies have many sequences of the marks of data and code
			} else if changes > 1 {
				cost += 40
			}
		}
		before = this
		i += size
	}
	cost = unit*(1+(i-begin)/most) + max(0, cost)
	for end = i; end < len(s) && (s[end] == '\n' || s[end] == '\r'); end++ {
		cost += lineBreak
	}
	return end, cost
}

// usual reports whether a mark is one of those of data and code.
func usual(r rune) bool {
	switch r {
	case '"', '\'', ':', ',', ';', '(', ')', '[', ']', '{', '}':
		return true
	}
	return false
}

// signUnits is the cost of a mark that is not in ASCII.
func signUnits(r rune) int {
	switch {
	case r >= emoji:
		return 96
	case 0x2500 <= r && r < 0x2580: // lines of boxes and trees
		return 56
	case r == 0x200d: // joins emoji
		return unit
	}
	return 40
}
