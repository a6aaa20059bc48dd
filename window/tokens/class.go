package tokens

import (
	"unicode"
	"unicode/utf8"
)

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
