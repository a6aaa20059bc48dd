package offline

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// masked is a text whose quoted spans and code fences are replaced by marks, so that rules cannot match inside them.
type masked struct {
	text  string
	spans []span
}

// span is a quoted span: as it was written, and what it says.
type span struct{ raw, inner string }

// mark matches the stand-in of a span.
var mark = lazy.Compile("\x00([0-9]+)\x00")

// mask hides the fences, backticks and quotes of text.
func mask(text string) *masked {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\x00", "")
	m := &masked{}
	m.text = m.quotes(m.fences(text))
	return m
}

func (m *masked) add(raw, inner string) string {
	m.spans = append(m.spans, span{raw, inner})
	return fmt.Sprintf("\x00%d\x00", len(m.spans)-1)
}

// fences replaces blocks between lines of ``` or ~~~. A fence without an end reaches to the end of the text.
func (m *masked) fences(text string) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}
	var out, raw, inner strings.Builder
	open := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case open == "":
			if open = fenceOf(bare); open == "" {
				out.WriteString(line)
				continue
			}
			raw.Reset()
			inner.Reset()
			raw.WriteString(line)
		case strings.HasPrefix(bare, open) && strings.Trim(bare, open[:1]) == "":
			raw.WriteString(line)
			out.WriteString(m.add(raw.String(), inner.String()) + "\n")
			open = ""
		default:
			raw.WriteString(line)
			inner.WriteString(line)
		}
	}
	if open != "" {
		out.WriteString(m.add(raw.String(), inner.String()))
	}
	return out.String()
}

// fenceOf returns the run of marks that opens a fence, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, c)
		if n := len(line) - len(rest); n >= 3 && !strings.Contains(rest, "`") {
			return line[:n]
		}
	}
	return ""
}

var closers = map[rune]string{'"': `"`, '`': "`", '\'': "'", '“': "”", '‘': "’", '«': "»", '„': "“"}

// quotes replaces quoted spans. A quote opens only where a word could begin, so that apostrophes stay what they are.
func (m *masked) quotes(text string) string {
	var out strings.Builder
	before := ' '
	endless := make(map[rune]bool) // quotes that nothing behind here closes
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if closer, ok := closers[r]; ok && opensAfter(before) && !endless[r] {
			n := closing(text[i+size:], r, closer)
			endless[r] = n < 0
			if n >= 0 {
				inner := text[i+size : i+size+n]
				end := i + size + n + len(closer)
				if r == '"' {
					inner = strings.ReplaceAll(inner, `\"`, `"`)
				}
				out.WriteString(m.add(text[i:end], inner))
				i, before = end, '"'
				continue
			}
		}
		out.WriteString(text[i : i+size])
		i, before = i+size, r
	}
	return out.String()
}

func opensAfter(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("([{:,=", r)
}

// closing returns where the quote ends, or -1. A single quote ends only where a word could end.
func closing(s string, open rune, closer string) int {
	for from := 0; from <= len(s); {
		n := strings.Index(s[from:], closer)
		if n < 0 {
			return -1
		}
		at := from + n
		next, _ := utf8.DecodeRuneInString(s[at+len(closer):])
		escaped := open == '"' && at > 0 && s[at-1] == '\\'
		inWord := open == '\'' && (unicode.IsLetter(next) || unicode.IsDigit(next))
		if !escaped && !inWord {
			return at
		}
		from = at + len(closer)
	}
	return -1
}

// hide makes a span of text that stands on lines of its own.
func (m *masked) hide(text string) string {
	if loc := mark.FindString(text); loc != "" && strings.TrimSpace(text) == loc {
		return loc
	}
	raw := m.raw(text)
	text = strings.TrimRight(raw, " \t\n")
	if text == "" {
		return ""
	}
	return m.add(raw, text+"\n")
}

// raw returns s with its spans as they were written.
func (m *masked) raw(s string) string { return m.unmask(s, func(q span) string { return q.raw }) }

// value returns what s says: the inside of a quote when s is nothing else, else s as it was written.
func (m *masked) value(s string) (value string, quoted bool) {
	s = strings.TrimSpace(s)
	bare := strings.TrimRight(s, ".,;!?")
	if loc := mark.FindStringIndex(bare); loc != nil && loc[0] == 0 && loc[1] == len(bare) {
		return m.unmask(bare, func(q span) string { return q.inner }), true
	}
	return m.raw(s), false
}

func (m *masked) unmask(s string, text func(span) string) string {
	return mark.ReplaceAllStringFunc(s, func(found string) string {
		i, err := strconv.Atoi(strings.Trim(found, "\x00"))
		if err != nil || i >= len(m.spans) {
			return ""
		}
		return text(m.spans[i])
	})
}
