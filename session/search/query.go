package search

import (
	"strings"
)

// Query is the parsed Text of a Request.
type Query struct {
	Terms []Term
}

// Term is a phrase.
type Term struct {
	Words  []string // as [Word] has them; never none
	Prefix bool     // the last word is a prefix
	Not    bool     // the phrase must not occur
}

// maxWords is how many words of a query count.
const maxWords = 64

// Parse understands a query. Any text is one; of a long one the first 64 words count.
func Parse(text string) Query {
	var q Query
	left := maxWords
	for text = strings.TrimSpace(text); text != "" && left > 0; text = strings.TrimSpace(text) {
		not := len(text) > 1 && text[0] == '-'
		if not {
			text = text[1:]
		}
		var one string
		var quoted bool
		if quoted = text[0] == '"'; quoted {
			one, text, _ = strings.Cut(text[1:], `"`)
		} else {
			end := strings.IndexFunc(text, isSpace)
			if end < 0 {
				end = len(text)
			}
			if i := strings.IndexByte(text[:end], '"'); i > 0 { // a"b c" is a and "b c"
				end = i
			}
			one, text = text[:end], text[end:]
		}
		prefix := !quoted && strings.HasSuffix(one, "*")
		if quoted && strings.HasPrefix(text, "*") {
			prefix, text = true, text[1:]
		}
		words := whole(one)
		if len(words) > left {
			words = words[:left]
		}
		if left -= len(words); len(words) > 0 {
			q.Terms = append(q.Terms, Term{Words: words, Prefix: prefix, Not: not})
		}
	}
	return q
}

func isSpace(r rune) bool { return strings.ContainsRune(" \t\r\n\v\f\u0085\u00a0\u3000", r) }

// whole are the words of a text, without the parts of names.
func whole(text string) []string {
	var words []string
	for w := range Words(text) {
		if !w.Part {
			words = append(words, w.Text)
		}
	}
	return words
}

// Empty reports whether the query finds nothing, because there is no word that must be there.
func (q Query) Empty() bool {
	for _, t := range q.Terms {
		if !t.Not {
			return false
		}
	}
	return true
}

// Streams are the words of an entry, as terms find them: each with a space before it, and one behind the last. Between two pieces
// stands [Gap].
type Streams struct {
	Words, Parts string // whole words, and parts of names
	Thinking     string // words and parts of what a model thought
}

// Gap is a word that no text has.
const Gap = "¶"

// StreamsOf are the words of what an entry says.
func StreamsOf(pieces []Piece) Streams {
	var words, parts, thinking, thought stream // thought are parts of names
	for i, p := range pieces {
		words, parts := &words, &parts
		if p.Kind == SaidThinking {
			words, parts = &thinking, &thought
		}
		words.Grow(len(p.Text))
		if i > 0 {
			words.add(Gap)
		}
		for w := range Words(p.Text) {
			if w.Part {
				parts.add(w.Text)
			} else {
				words.add(w.Text)
			}
		}
	}
	if thought.Len() > 0 {
		thinking.add(Gap)
		thinking.WriteString(thought.String())
	}
	return Streams{words.end(), parts.end(), thinking.end()}
}

// stream is words one after the other.
type stream struct{ strings.Builder }

func (s *stream) add(word string) {
	s.WriteByte(' ')
	s.WriteString(word)
}

func (s *stream) end() string {
	s.WriteByte(' ')
	return s.String()
}

// Match reports whether an entry with these words is found.
func (q Query) Match(s Streams, thinking bool) bool {
	for _, t := range q.Terms {
		found := t.in(s.Words) || t.in(s.Parts) || thinking && t.in(s.Thinking)
		if found == t.Not {
			return false
		}
	}
	return !q.Empty()
}

// in reports whether a stream contains the term.
func (t Term) in(words string) bool {
	row := " " + strings.Join(t.Words, " ")
	if !t.Prefix {
		row += " "
	}
	return strings.Contains(words, row)
}

// at reports whether words begin with the term.
func (t Term) at(words []string) bool {
	last := len(t.Words) - 1
	if len(words) <= last {
		return false
	}
	for i, w := range t.Words {
		if words[i] != w && !(i == last && t.Prefix && strings.HasPrefix(words[i], w)) {
			return false
		}
	}
	return true
}
