package tokens

import (
	"unicode"
	"unicode/utf8"
)

// unit is the smallest part of a token that is counted: 64 units are a token.
const unit = 64

// Text returns about how many tokens s has for a model with a vocabulary of 200 000 pieces, such as o200k_base. It allocates
// nothing and takes a time that grows with the length of s alone. Only the empty text has none.
func Text(s string) int {
	units := 0
	for i := 0; i < len(s); {
		var cost int
		switch c := s[i]; {
		case isLetter(c):
			i, cost = word(s, i, bare)
		case isDigit(c):
			i, cost = digits(s, i)
		case c == '\n' || c == '\r':
			i, cost = blank(s, i)
		default:
			i, cost = marked(s, i)
		}
		units += cost
	}
	if s == "" {
		return 0
	}
	return max(1, (units+unit/2)/unit)
}

// marked reads what begins with a space, a mark or a letter that is not of ASCII: a word with the one mark before it, a run of
// marks with the one space before it, or white space.
func marked(s string, i int) (end, cost int) {
	c, size := rune(s[i]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRuneInString(s[i:])
		if isForeignLetter(c) {
			return word(s, i, bare)
		}
	}
	next := i + size
	if next < len(s) && startsWord(s, next) {
		switch {
		case c == ' ':
			return word(s, next, afterGap)
		case size == 1:
			return word(s, next, afterMark)
		}
		end, cost = word(s, next, afterMark)
		return end, cost + foreignMark(c)
	}
	switch {
	case c == ' ' && next < len(s) && startsMarks(s, next):
		return marks(s, next)
	case isBlank(s[i]):
		return blank(s, i)
	}
	return marks(s, i)
}

// digits reads up to three digits, which every vocabulary of this kind has as one piece.
func digits(s string, i int) (end, cost int) {
	end = i + 1
	for end < len(s) && end < i+3 && isDigit(s[end]) {
		end++
	}
	return end, unit
}

// blank reads white space: up to its last line break, or where it has none all but the last space, which belongs to what follows.
func blank(s string, i int) (end, cost int) {
	breaks, j := 0, i
	for j < len(s) && isBlank(s[j]) {
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
	const piece = 128 // the longest run of spaces that is one token
	return end, unit * (1 + (end-i)/piece)
}

// What marks cost beyond the token of their run.
const (
	change    = 40 // another mark than the one before, from the second time on
	changeIn  = 20 // both of them among those of JSON and of code, whose usual orders are in vocabularies
	known     = 8  // what a vocabulary saves of the changes
	lineBreak = 3  // a line break behind the marks, which is often in one piece with them
	longRun   = 96 // marks of one kind that are one token

	emoji rune = 0x1f000 // the first
)

// marks reads a run of marks, with the line breaks behind it.
func marks(s string, i int) (end, cost int) {
	begin, changes := i, -1
	var before rune
	for i < len(s) {
		c, size := rune(s[i]), 1
		switch {
		case c >= utf8.RuneSelf:
			c, size = utf8.DecodeRuneInString(s[i:])
			if isForeignLetter(c) {
				return run(s, begin, i, cost)
			}
			if c != before || c >= emoji {
				cost += foreignMark(c)
			}
		case !isMark(s[i]):
			return run(s, begin, i, cost)
		case c != before:
			if changes++; changes > 1 {
				cost += change
				if isUsual(c) && isUsual(before) {
					cost += changeIn - change
				}
			}
		}
		before = c
		i += size
	}
	return run(s, begin, i, cost)
}

// run adds what a run of marks costs as such, with the line breaks behind it.
func run(s string, begin, i, cost int) (end, all int) {
	if s[begin] >= utf8.RuneSelf {
		cost -= 40 // the first mark is in the token of the run
	} else {
		cost -= known
	}
	all = unit*(1+(i-begin)/longRun) + max(0, cost)
	for end = i; end < len(s) && (s[end] == '\n' || s[end] == '\r'); end++ {
		all += lineBreak
	}
	return end, all
}

// isUsual reports whether a mark is one of those that data and code are made of.
func isUsual(c rune) bool {
	switch c {
	case '"', '\'', ':', ',', ';', '(', ')', '[', ']', '{', '}':
		return true
	}
	return false
}

// foreignMark is what a mark outside ASCII adds.
func foreignMark(c rune) int {
	switch {
	case c >= emoji:
		return 96
	case 0x2500 <= c && c < 0x2580: // what boxes and trees are drawn with
		return 56
	case c == 0x200d: // joins emoji
		return unit
	default:
		return 40
	}
}

// word reads the letters of a word from i on. The row of follows says what stands before it and is part of it. As in the
// tokenizer's pattern a word is capitals and then small letters: a capital after small letters begins another one.
func word(s string, i int, row byte) (end, cost int) {
	begin, score := i, 0
	for i < len(s) && s[i]-'A' < 26 {
		score += int(follows[row&31][s[i]&31])
		row = s[i] & 31
		i++
	}
	capitals := i - begin
	for i < len(s) && s[i]-'a' < 26 {
		score += int(follows[row&31][s[i]&31])
		row = s[i] & 31
		i++
	}
	letters := i - begin
	if i < len(s) && s[i] >= utf8.RuneSelf {
		var more, extra int
		i, more, extra = foreignLetters(s, i, row)
		letters += more
		score += extra
	}
	if letters > 0 {
		score += int(lengths[shape(letters, capitals)][min(letters, longest)])
	}
	if n := contraction(s[i:]); n > 0 {
		i += n
		score += shortened
	}
	return i, unit + max(0, score)
}

// rareLetter is what a letter adds that only some of the languages of a script have: Cyrillic ones that Russian has not, and half of
// it Latin ones beyond those of Western Europe. There is less of these languages in vocabularies.
const rareLetter = 30

// foreignLetters reads on in a word, from a letter on that may be outside ASCII. It returns how many Latin letters there were.
func foreignLetters(s string, i int, row byte) (end, letters, score int) {
	var last *script
	for i < len(s) {
		if c := s[i]; c < utf8.RuneSelf {
			if c-'a' >= 26 {
				break
			}
			score += int(follows[row&31][c&31])
			row = c & 31
			letters++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isForeignLetter(r) {
			break
		}
		i += size
		if isLatin(r) {
			score += int(follows[row&31][accented])
			if r >= 0x100 {
				score += rareLetter / 2
			}
			row = accented
			letters++
			continue
		}
		if 0x450 <= r && r <= 0x45f {
			score += rareLetter
		}
		if sc := scriptOf(r); last != nil {
			score += int(sc.more)
		} else {
			score += int(sc.begin)
			last = sc
		}
	}
	return i, letters, score
}

func shape(letters, capitals int) int {
	switch {
	case capitals == 0:
		return lower
	case capitals == letters:
		return upper
	case capitals == 1:
		return title
	default:
		return mixed
	}
}

const shortened = 46 // what the end of it's, don't, we're adds

// contraction is the length of what s begins with, when that is the end of a shortened English word.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if len(s) > 2 && s[2]|0x20 == 'e' {
			return 3
		}
	case 'l':
		if len(s) > 2 && s[2]|0x20 == 'l' {
			return 3
		}
	}
	return 0
}

func isLetter(c byte) bool { return (c|0x20)-'a' < 26 }
func isDigit(c byte) bool  { return c-'0' < 10 }
func isBlank(c byte) bool  { return c == ' ' || c-'\t' < 5 }

// isMark reports whether c is of ASCII and neither letter nor digit nor white space.
func isMark(c byte) bool {
	return c < utf8.RuneSelf && !isLetter(c) && !isDigit(c) && !isBlank(c)
}

// isLatin reports whether a letter outside ASCII is of the Latin script.
func isLatin(r rune) bool { return r < 0x250 || 0x1e00 <= r && r < 0x1f00 }

// isForeignLetter reports whether r, which is not of ASCII, is part of words. Of most of what is met the block tells.
func isForeignLetter(r rune) bool {
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

func startsWord(s string, i int) bool {
	if s[i] < utf8.RuneSelf {
		return isLetter(s[i])
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return isForeignLetter(r)
}

func startsMarks(s string, i int) bool {
	return isMark(s[i]) || s[i] >= utf8.RuneSelf && !startsWord(s, i)
}
