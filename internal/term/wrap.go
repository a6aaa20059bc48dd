package term

import (
	"strings"
)

// Wrap breaks text at blanks into lines of at most columns, all but the first indented. The first one begins with a label of so
// many cells.
func Wrap(label string, used int, text string, columns int, indent string) string {
	var b strings.Builder
	b.WriteString(label)
	begun := false
	for _, word := range strings.Fields(text) {
		n := Cells(word)
		switch {
		case begun && used+1+n > columns:
			b.WriteString("\n" + indent)
			used = len(indent)
		case begun:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
		begun = true
	}
	return b.String()
}
