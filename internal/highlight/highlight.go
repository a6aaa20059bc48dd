// Package highlight finds keywords, strings, comments, numbers and types in code, for colors. It is a scanner with a table for each language, not a
// parser: it is quick and right for usual code, and wrong for some unusual code.
package highlight

import (
	"strings"
	"sync"
)

// Kind is the kind of a piece of code.
type Kind uint8

// The kinds.
const (
	Keyword Kind = iota + 1
	String
	Comment
	Number
	Type // also keys of data, attributes and variables of shells
	Added
	Removed
)

// Span is a piece of code of a kind: the bytes from Start to End.
type Span struct {
	Kind       Kind
	Start, End int
}

// Known reports whether the package knows a language by name or file extension.
func Known(name string) bool { return find(name) != nil }

// Language returns the name of the language of a file; empty if it is unknown.
func Language(path string) string {
	base := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	if find(base) != nil { // Dockerfile, Makefile
		return base
	}
	if dot := strings.LastIndexByte(base, '.'); dot >= 0 && find(base[dot+1:]) != nil {
		return base[dot+1:]
	}
	return ""
}

// Line returns the spans of a line of a text without its newline, in their order. They do not overlap. It takes linear time. state is 0 for the first line of the text, then the next of the line before.
func Line(language string, state int, line string) (spans []Span, next int) {
	l := find(language)
	if l == nil {
		return nil, 0
	}
	s := scanner{language: l, state: state}
	s.scan(line)
	return s.spans, s.state
}

// find returns the tables of a language.
func find(name string) *language {
	if len(name) > 20 {
		return nil
	}
	l := table()[strings.ToLower(name)]
	if l != nil {
		l.once.Do(l.prepare)
	}
	return l
}

var table = sync.OnceValue(func() map[string]*language {
	all := map[string]*language{}
	for _, l := range languages() {
		for name := range strings.FieldsSeq(l.names) {
			all[name] = l
		}
	}
	return all
})

// language is the tables of a language.
type language struct {
	names           string // and extensions of files
	line            string // beginnings of comments to the end of the line
	quotes          []quote
	keywords, types string
	word            string // further characters of words
	fold            bool   // words have no case
	capital         bool   // words that begin with a capital are types
	spaced          bool   // a comment begins only after a blank
	keys            string // characters after a word at the beginning of a line that make it a key
	scan            func(s *scanner, line string)

	once   sync.Once
	lines  []string
	class  [256]class
	words  map[string]Kind
	longer int // the length of the longest word in words
}

// quote is a pair of marks around a string or a comment.
type quote struct {
	open, end string
	kind      Kind
	raw       bool // a backslash has no meaning
	multi     bool // it continues on the next line
	short     bool // it is one character; else the mark is no quote
}

type class uint8

const (
	other class = iota
	letter
	digit
	mark // of a comment or a string
)

func (l *language) prepare() {
	for c := range 256 {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80 || strings.IndexByte(l.word, byte(c)) >= 0:
			l.class[c] = letter
		case c >= '0' && c <= '9':
			l.class[c] = digit
		}
	}
	l.lines = strings.Fields(l.line)
	for _, m := range l.lines {
		l.class[m[0]] = mark
	}
	for _, q := range l.quotes {
		l.class[q.open[0]] = mark
	}
	l.words = map[string]Kind{}
	for text, kind := range map[string]Kind{l.keywords: Keyword, l.types: Type} {
		for w := range strings.FieldsSeq(text) {
			l.words[w] = kind
			l.longer = max(l.longer, len(w))
		}
	}
}

// scanner finds the spans of one line after the other.
type scanner struct {
	*language
	state int // 1 + the index of the quote that is open; or a state of scan
	spans []Span
}

func (s *scanner) add(k Kind, from, to int) {
	if to > from {
		s.spans = append(s.spans, Span{k, from, to})
	}
}

func (s *scanner) scan(line string) {
	if s.language.scan != nil {
		s.language.scan(s, line)
		return
	}
	s.code(line, 0)
}

// code scans a line from a place on.
func (s *scanner) code(line string, i int) {
	if s.state > 0 && s.state <= len(s.quotes) {
		i = s.quoted(line, 0, 0, s.quotes[s.state-1])
	}
	begun := false // a word was in the statement
	for i < len(line) {
		switch s.class[line[i]] {
		case letter:
			from := i
			i = s.name(line, i, !begun)
			begun = line[from:i] != "-" // a list of YAML
		case digit:
			n := i + 1
			for n < len(line) && (s.class[line[n]] == digit || line[n] == '.' || s.class[line[n]] == letter && line[n] < 0x80) {
				n++
			}
			s.add(Number, i, n)
			i = n
		case mark:
			i = s.marked(line, i)
		default:
			begun = begun && line[i] != '{' && line[i] != ';'
			i++
		}
	}
}

// name scans a word.
func (s *scanner) name(line string, i int, first bool) int {
	n := i + 1
	for n < len(line) && (s.class[line[n]] == letter || s.class[line[n]] == digit) {
		n++
	}
	word := line[i:n]
	if s.keys != "" && first {
		rest := strings.TrimLeft(line[n:], " \t")
		if rest != "" && strings.IndexByte(s.keys, rest[0]) >= 0 {
			s.add(Type, i, n)
			return n
		}
	}
	var kind Kind
	if len(word) <= s.longer {
		if s.fold {
			word = strings.ToLower(word)
		}
		kind = s.words[word]
	}
	if kind == 0 && s.capital && word[0] >= 'A' && word[0] <= 'Z' || word[0] == '$' {
		kind = Type
	}
	if kind > 0 {
		s.add(kind, i, n)
	}
	return n
}

// marked scans a comment or a string, if one begins here.
func (s *scanner) marked(line string, i int) int {
	for n := range s.quotes {
		if q := s.quotes[n]; strings.HasPrefix(line[i:], q.open) {
			if q.short && !short(line[i+len(q.open):], q.end) {
				continue
			}
			s.state = n + 1
			return s.quoted(line, i, i+len(q.open), q)
		}
	}
	for _, m := range s.lines {
		if strings.HasPrefix(line[i:], m) && (!s.spaced || i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			s.add(Comment, i, len(line))
			return len(line)
		}
	}
	return i + 1
}

// short reports whether a character and the end of its quote follow.
func short(rest, end string) bool {
	if strings.HasPrefix(rest, `\`) {
		return true
	}
	for i := range rest { // the second character
		if i > 0 {
			return strings.HasPrefix(rest[i:], end)
		}
	}
	return false
}

// quoted scans a string or a comment that began at from, and whose content continues at i.
func (s *scanner) quoted(line string, from, i int, q quote) int {
	for i < len(line) {
		switch {
		case line[i] == '\\' && !q.raw:
			i += 2
		case strings.HasPrefix(line[i:], q.end):
			i += len(q.end)
			s.state = 0
			kind := q.kind
			if kind == String && strings.Contains(s.keys, `"`) && strings.HasPrefix(strings.TrimLeft(line[i:], " \t"), ":") {
				kind = Type // a key of JSON
			}
			s.add(kind, from, i)
			return i
		default:
			i++
		}
	}
	s.add(q.kind, from, len(line))
	if !q.multi {
		s.state = 0
	}
	return len(line)
}
