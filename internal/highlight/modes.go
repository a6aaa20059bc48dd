package highlight

import "strings"

// inTag is the state of markup between < and >. The first states are open quotes.
const inTag = 100

// markup scans a line of HTML or XML.
func markup(s *scanner, line string) {
	i := 0
	for i < len(line) {
		comment := s.quotes[0]
		switch {
		case s.state == 1:
			i = s.quoted(line, i, i, comment)
		case s.state == inTag:
			i = s.tag(line, i)
		case strings.HasPrefix(line[i:], comment.open):
			s.state = 1
			i = s.quoted(line, i, i+len(comment.open), comment)
		case line[i] == '<' && i+1 < len(line) && (line[i+1] == '/' || line[i+1] == '!' || line[i+1] == '?' || s.class[line[i+1]] == letter):
			n := i + 2
			for n < len(line) && line[n] != ' ' && line[n] != '>' && line[n] != '/' {
				n++
			}
			s.add(Keyword, i, n)
			i, s.state = n, inTag
		case line[i] == '&':
			n := i + strings.IndexByte(line[i:min(i+12, len(line))], ';') + 1
			if n <= i {
				n = i + 1
			} else {
				s.add(Number, i, n)
			}
			i = n
		default:
			i++
		}
	}
}

// tag scans the inside of a tag.
func (s *scanner) tag(line string, i int) int {
	switch c := line[i]; {
	case c == '>':
		s.add(Keyword, i, i+1)
		s.state = 0
		return i + 1
	case c == '"' || c == '\'':
		n := len(line)
		if at := strings.IndexByte(line[i+1:], c); at >= 0 {
			n = i + 1 + at + 1
		}
		s.add(String, i, n)
		return n
	case s.class[c] == letter:
		n := i + 1
		for n < len(line) && (s.class[line[n]] == letter || s.class[line[n]] == digit || line[n] == '-' || line[n] == ':') {
			n++
		}
		s.add(Type, i, n)
		return n
	}
	return i + 1
}

// opening is the beginning of a line that says what the whole line is.
type opening struct {
	text string
	kind Kind
}

// opened scans a line that one of some openings begins, after blanks up to at.
func (s *scanner) opened(line string, at int, all ...opening) bool {
	for _, o := range all {
		if strings.HasPrefix(line[at:], o.text) {
			s.add(o.kind, at, len(line))
			return true
		}
	}
	return false
}

// prose scans a line of Markdown. Its state is 1 in a block of code.
func prose(s *scanner, line string) {
	bare := strings.TrimLeft(line, " ")
	at := len(line) - len(bare)
	switch {
	case s.opened(line, at, opening{"```", Comment}, opening{"~~~", Comment}):
		s.state = 1 - min(s.state, 1)
		return
	case s.state == 1:
		s.add(String, 0, len(line))
		return
	case s.opened(line, at, opening{"#", Keyword}, opening{">", Comment}):
		return
	case len(bare) > 1 && strings.IndexByte("-*+", bare[0]) >= 0 && bare[1] == ' ':
		s.add(Keyword, at, at+1)
		at += 2
	}
	for at < len(line) {
		open := strings.IndexByte(line[at:], '`')
		if open < 0 {
			return
		}
		end := strings.IndexByte(line[at+open+1:], '`')
		if end < 0 {
			return
		}
		s.add(String, at+open, at+open+end+2)
		at += open + end + 2
	}
}

// changes scans a line of a diff.
func changes(s *scanner, line string) {
	s.opened(line, 0, opening{"+++", Comment}, opening{"---", Comment}, opening{"diff ", Comment}, opening{"index ", Comment},
		opening{"@@", Keyword}, opening{"+", Added}, opening{"-", Removed})
}
