package slash

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Kind is the kind of a [Part].
type Kind int

// The kinds of parts.
const (
	Text  Kind = iota
	Shell      // a command line, written as !`line`
	File       // a path, written as @path
)

// Part is a piece of the text of a command, with its arguments in place.
type Part struct {
	Kind Kind
	Text string
}

// special finds the parts that are not text: a command line after a blank or at the beginning of a line, and a path at the beginning of a word.
var special = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?m)(^|[\\s(])(?:!`([^`\n]+)`|@([^\\s\"'`<>|()\\[\\]{}]+))")
})

// placeholder finds the places of arguments.
var placeholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d{1,3}))`) })

// Expand returns the parts of the command for some arguments. The arguments make no part other than text: a command line or a path begins in
// the file. $ARGUMENTS are all arguments, $1 and $ARGUMENTS[0] the first one. Without a place for them they follow the text.
func (c Command) Expand(arguments string) []Part {
	words, placed := Words(arguments), false
	put := func(text string) string {
		return placeholder().ReplaceAllStringFunc(text, func(match string) string {
			placed = true
			m := placeholder().FindStringSubmatch(match)
			at := m[1]
			if m[2] != "" {
				at = m[2]
			}
			if at == "" {
				return arguments
			}
			n, _ := strconv.Atoi(at) // of at most three digits
			if m[2] != "" {
				n--
			}
			if n < 0 || n >= len(words) {
				return ""
			}
			return words[n]
		})
	}
	var parts []Part
	add := func(kind Kind, text string) {
		if text = put(text); text != "" {
			parts = append(parts, Part{kind, text})
		}
	}
	last := 0
	for _, m := range special().FindAllStringSubmatchIndex(c.Body, -1) {
		add(Text, c.Body[last:m[3]])
		if last = m[1]; m[4] >= 0 {
			add(Shell, c.Body[m[4]:m[5]])
			continue
		}
		name := strings.TrimRight(c.Body[m[6]:m[7]], ".,;:!?")
		last -= m[7] - m[6] - len(name)
		add(File, name)
	}
	if add(Text, c.Body[last:]); arguments != "" && !placed {
		parts = append(parts, Part{Text, "\n\nARGUMENTS: " + arguments})
	}
	return parts
}

// Words splits arguments at blanks outside of quotation marks.
func Words(text string) (all []string) {
	var word strings.Builder
	quote, within := rune(0), false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, within = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if within {
				all = append(all, word.String())
			}
			word.Reset()
			within = false
		default:
			word.WriteRune(r)
			within = true
		}
	}
	if within {
		all = append(all, word.String())
	}
	return all
}
