package diff

import (
	"unicode"
	"unicode/utf8"
)

// changes finds the changed words of a diff. It gives up after much work.
type changes struct{ work int }

// Limits of the comparison of words.
const (
	maxWork   = 4 << 20 // pairs of words in a diff
	maxTokens = 300     // of the differing part of a line
)

// near is the number of added rows that may be the new form of a removed one.
const near = 8

// words finds the changed words of removed and added rows. It returns the index of the new form of each removed row; -1: it has none.
func (c *changes) words(old, now []row) (partners []int) {
	next := 0
	for i := range old {
		first, last := next, min(next+near, len(now))
		if len(old) == len(now) {
			first, last = i, i+1
		}
		partners = append(partners, -1)
		for j := first; j < last && partners[i] < 0; j++ {
			if a, b, ok := c.compare(old[i].text, now[j].text); ok {
				old[i].words, now[j].words, partners[i], next = a, b, j, j+1
			}
		}
	}
	return partners
}

// compare returns the ranges in which two lines differ. ok reports whether they have much in common.
func (c *changes) compare(a, b string) (inA, inB []int, ok bool) {
	x, y := tokens(a), tokens(b)
	from := 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	endX, endY := len(x), len(y)
	for endX > from && endY > from && x[endX-1] == y[endY-1] {
		endX--
		endY--
	}
	keepX, keepY := make([]bool, len(x)), make([]bool, len(y))
	for i := range x {
		keepX[i] = i < from || i >= endX
	}
	for i := range y {
		keepY[i] = i < from || i >= endY
	}
	n, m := endX-from, endY-from
	if c.work += n * m; n <= maxTokens && m <= maxTokens && c.work <= maxWork {
		common(x[from:endX], y[from:endY], keepX[from:endX], keepY[from:endY])
	}
	inA, common := ranges(x, keepX)
	inB, _ = ranges(y, keepY)
	if common*5 < max(len(a), len(b))*2 {
		return nil, nil, false
	}
	return inA, inB, true
}

// common marks the tokens of a longest common subsequence.
func common(x, y []string, keepX, keepY []bool) {
	if len(x) == 0 || len(y) == 0 {
		return
	}
	width := len(y) + 1
	longest := make([]uint16, (len(x)+1)*width)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			keepX[i], keepY[j] = true, true
			i++
			j++
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}

// ranges returns the ranges of the tokens that are not kept, and the bytes of the kept ones that are not blank. A blank between two changed words is
// changed too.
func ranges(tokens []string, keep []bool) (all []int, kept int) {
	at := 0
	for i, token := range tokens {
		blank := token[0] == ' '
		between := blank && i > 0 && i+1 < len(tokens) && !keep[i-1] && !keep[i+1]
		switch {
		case keep[i] && !between:
			if !blank {
				kept += len(token)
			}
		case len(all) > 0 && all[len(all)-1] == at:
			all[len(all)-1] = at + len(token)
		default:
			all = append(all, at, at+len(token))
		}
		at += len(token)
	}
	return all, kept
}

// tokens splits a line into words, runs of blanks, and single other characters.
func tokens(line string) (all []string) {
	class := func(r rune) int {
		switch {
		case r == ' ':
			return 1
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 2
		}
		return 0
	}
	for line != "" {
		r, n := utf8.DecodeRuneInString(line)
		if k := class(r); k > 0 {
			for n < len(line) {
				next, size := utf8.DecodeRuneInString(line[n:])
				if class(next) != k {
					break
				}
				n += size
			}
		}
		all = append(all, line[:n])
		line = line[n:]
	}
	return all
}
