package tokens

import "unicode/utf8"

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
				cost += changeOf(before, c)
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

// changeOf is what it adds that one mark of ASCII comes after another.
func changeOf(before, c rune) int {
	if isUsual(before) && isUsual(c) {
		return change / 2
	}
	return change
}

// isUsual reports whether a mark is one of those that data and code are made of. Vocabularies have many of their sequences.
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
