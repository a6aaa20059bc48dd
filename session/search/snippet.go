package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The size of snippets, in bytes.
const (
	snippetSize   = 200
	snippetBefore = 60 // of these, before the first mark
)

// Snippet is the piece of what an entry says that shows best why the query found it.
func (q Query) Snippet(pieces []Piece, thinking bool) (Said, Snippet) {
	var (
		best  Piece
		marks []Mark
		most  int
	)
	for _, p := range pieces {
		if p.Kind == SaidThinking && !thinking {
			continue
		}
		found, terms := q.marks(p.Text)
		if best.Text == "" || terms > most {
			best, marks, most = p, found, terms
		}
	}
	return best.Kind, snippet(best.Text, marks)
}

// marks are the places in a text that the query finds, in order and apart, and how many of its terms are among them.
func (q Query) marks(text string) (marks []Mark, terms int) {
	streams := [2][]Word{}
	names := [2][]string{}
	for w := range Words(text) {
		i := 0
		if w.Part {
			i = 1
		}
		streams[i], names[i] = append(streams[i], w), append(names[i], w.Text)
	}
	for _, t := range q.Terms {
		before := len(marks)
		for i, words := range streams {
			for at := range words {
				if !t.Not && t.at(names[i][at:]) {
					marks = append(marks, Mark{Start: words[at].Start, End: words[at+len(t.Words)-1].End})
				}
			}
		}
		if len(marks) > before {
			terms++
		}
	}
	slices.SortFunc(marks, func(a, b Mark) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	apart := marks[:0]
	for _, m := range marks {
		if n := len(apart); n > 0 && m.Start < apart[n-1].End {
			apart[n-1].End = max(apart[n-1].End, m.End)
			continue
		}
		apart = append(apart, m)
	}
	return apart, terms
}

// snippet is a piece of a text around its first mark, on one line.
func snippet(text string, marks []Mark) Snippet {
	from := 0
	if len(marks) > 0 {
		from = wordAt(text, marks[0].Start-snippetBefore)
	}
	end := len(text)
	if end-from > snippetSize {
		for end = from + snippetSize; end > from && !utf8.RuneStart(text[end]); end-- {
		}
		if i := strings.LastIndexAny(text[from:end], " \t\n"); i > snippetSize*3/4 {
			end = from + i
		}
	}
	var out Snippet
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	begin := b.Len()
	space := false // there was one, and there is a word before it
	for i, r := range text[from:end] {
		at := from + i
		for len(marks) > 0 && at >= marks[0].End {
			closeMark(&out, b.Len())
			marks = marks[1:]
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = b.Len() > begin
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		if len(marks) > 0 && at == marks[0].Start {
			out.Marks = append(out.Marks, Mark{Start: b.Len(), End: -1})
		}
		b.WriteRune(r)
	}
	closeMark(&out, b.Len())
	if end < len(text) {
		b.WriteString("…")
	}
	out.Text = b.String()
	return out
}

// closeMark ends the last mark, if it is open.
func closeMark(s *Snippet, at int) {
	if n := len(s.Marks); n > 0 && s.Marks[n-1].End < 0 {
		s.Marks[n-1].End = at
	}
}

// wordAt is the first beginning of a word, or of a character of one that is too long, from a place on.
func wordAt(text string, at int) int {
	if at <= 0 {
		return 0
	}
	for !utf8.RuneStart(text[at]) {
		at++
	}
	if i := strings.IndexAny(text[at:min(len(text), at+snippetBefore/2)], " \t\n"); i >= 0 {
		return at + i + 1
	}
	return at
}
