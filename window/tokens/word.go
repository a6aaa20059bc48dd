package tokens

import "unicode/utf8"

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
	foreign := false // a letter of another script came
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
		if sc := scriptOf(r); foreign {
			score += int(sc.more)
		} else {
			score += int(sc.begin)
		}
		foreign = true
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
