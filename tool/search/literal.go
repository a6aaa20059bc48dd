package search

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// matcher finds the lines that match a pattern.
type matcher struct {
	re       *regexp.Regexp
	literals [][]byte // a line that has none of them does not match; empty: any may
	fold     bool     // the literals are lower case, for lower-case text
	exact    bool     // a line that has one of them matches
}

// newMatcher compiles a pattern. What is no regular expression is taken literally; invalid says why.
func newMatcher(pattern string, literal, ignoreCase bool) (m matcher, invalid, err error) {
	pattern = strings.ToValidUTF8(pattern, "\ufffd")
	if !literal {
		if m, invalid = compile(pattern, ignoreCase); invalid == nil {
			return m, nil, nil
		}
	}
	m, err = compile(regexp.QuoteMeta(pattern), ignoreCase)
	return m, invalid, err
}

func compile(expr string, ignoreCase bool) (m matcher, err error) {
	if ignoreCase {
		expr = "(?i)" + expr
	}
	if m.re, err = regexp.Compile(expr); err != nil {
		return m, err
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return m, err
	}
	parsed = parsed.Simplify()
	m.exact = parsed.Op == syntax.OpLiteral && parsed.Flags&syntax.FoldCase == 0 && !slices.Contains(parsed.Rune, '\n')
	need := required(parsed)
	for _, one := range need.texts {
		m.literals = append(m.literals, []byte(one))
	}
	m.fold = need.fold
	return m, nil
}

// need is texts of which a match has at least one. No texts: nothing is known.
type need struct {
	texts []string
	fold  bool // in any case; the texts are lower case
}

// worth is the length of the shortest text: the longer, the fewer lines have it.
func (n need) worth() int {
	worth := 0
	for i, text := range n.texts {
		if i == 0 || len(text) < worth {
			worth = len(text)
		}
	}
	return worth
}

// maxTexts is how many texts are looked for at once.
const maxTexts = 8

// required is what each match of an expression has in it.
func required(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if strings.ContainsRune(text, utf8.RuneError) {
			return need{} // it stands for any byte that is no UTF-8
		}
		if re.Flags&syntax.FoldCase == 0 {
			return need{texts: []string{text}}
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
			return need{}
		}
		return need{texts: []string{strings.ToLower(text)}, fold: true}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best need
		for _, sub := range re.Sub {
			if n := required(sub); n.worth() > best.worth() {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all need
		for i, sub := range re.Sub {
			n := required(sub)
			if len(n.texts) == 0 || i > 0 && n.fold != all.fold || len(all.texts)+len(n.texts) > maxTexts {
				return need{}
			}
			all.texts, all.fold = append(all.texts, n.texts...), n.fold
		}
		return all
	}
	return need{}
}

// lines calls yield with the bounds of each line of data that matches, without its end, until yield returns false or ctx ends:
// some expressions are slow. Lower is scratch space that it may use; it returns it, grown or not.
func (m *matcher) lines(ctx context.Context, data, lower []byte, yield func(start, end int) bool) []byte {
	text := data
	if m.fold && len(m.literals) > 0 {
		// These two letters have lower-case forms in ASCII, which the literals stand for.
		if bytes.Contains(data, []byte("\u212a")) || bytes.Contains(data, []byte("\u017f")) {
			m.everyLine(ctx, data, yield)
			return lower
		}
		lower = appendLower(lower[:0], data)
		text = lower
	}
	if len(m.literals) == 0 {
		m.everyLine(ctx, data, yield)
		return lower
	}
	next := make([]int, len(m.literals)) // where each literal occurs next; len(text): nowhere
	for i := range next {
		next[i] = -1
	}
	for at := 0; at < len(text) && ctx.Err() == nil; {
		first := len(text)
		for i, literal := range m.literals {
			if next[i] < at {
				if next[i] = bytes.Index(text[at:], literal) + at; next[i] < at {
					next[i] = len(text)
				}
			}
			first = min(first, next[i])
		}
		if first == len(text) {
			break
		}
		start := bytes.LastIndexByte(text[:first], '\n') + 1
		end, after := lineEnd(data, first)
		if (m.exact || m.re.Match(data[start:end])) && !yield(start, end) {
			break
		}
		at = after
	}
	return lower
}

func (m *matcher) everyLine(ctx context.Context, data []byte, yield func(start, end int) bool) {
	for start := 0; start < len(data) && ctx.Err() == nil; {
		end, after := lineEnd(data, start)
		if m.re.Match(data[start:end]) && !yield(start, end) {
			return
		}
		start = after
	}
}

// lineEnd is where the line around an offset ends, and where the next one starts.
func lineEnd(data []byte, at int) (end, after int) {
	end, after = len(data), len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		end, after = at+i, at+i+1
	}
	if end > at && data[end-1] == '\r' {
		end--
	}
	return end, after
}

// appendLower appends data with the capitals of ASCII made small.
func appendLower(out, data []byte) []byte {
	n := len(out)
	out = append(out, data...)
	for i, c := range out[n:] {
		if 'A' <= c && c <= 'Z' {
			out[n+i] = c + 'a' - 'A'
		}
	}
	return out
}
