// Package lines finds the lines of a text that match a regular expression, fast.
//
// A match has literal text in it more often than not: that is looked for first, by its rarest byte. The lines that have it, or
// where that does not help all lines, are read by an automaton, which takes each byte once. What it cannot do is left to package
// regexp. The lines are always those that package regexp finds.
package lines

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Pattern says which lines match. It is safe for concurrent use.
type Pattern struct {
	re    *regexp.Regexp
	texts texts      // a line that has none of them does not match; none: any may
	auto  *automaton // nil: it would be too large
}

// Compile reads a pattern. What is no regular expression is taken literally; invalid says why.
func Compile(pattern string, literal, ignoreCase bool) (p *Pattern, invalid, err error) {
	pattern = strings.ToValidUTF8(pattern, "\ufffd")
	if !literal {
		if p, invalid = compile(pattern, ignoreCase); invalid == nil {
			return p, nil, nil
		}
	}
	p, err = compile(regexp.QuoteMeta(pattern), ignoreCase)
	return p, invalid, err
}

func compile(expr string, ignoreCase bool) (*Pattern, error) {
	if ignoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	parsed = parsed.Simplify()
	return &Pattern{re: re, texts: required(parsed), auto: newAutomaton(parsed)}, nil
}

// Find is where the first match in a line begins, or -1. It takes much longer than to find the line.
func (p *Pattern) Find(line []byte) int {
	if m := p.re.FindIndex(line); m != nil {
		return m[0]
	}
	return -1
}

// Searcher searches one text after the other in the same memory, at most a few megabytes. It is for one goroutine at a time.
type Searcher struct {
	*Pattern
	finder
	machine *machine // nil: package regexp does it
}

// Searcher returns a new one.
func (p *Pattern) Searcher() *Searcher {
	s := &Searcher{Pattern: p, finder: finder{probes: probes(p.texts)}}
	s.nexts = make([]int, len(s.probes))
	if p.auto != nil {
		s.machine = newMachine(p.auto)
	}
	return s
}

// Each calls yield for each line that matches until yield returns false or ctx ends: with its bounds, without its end, and with a
// place in or behind the match, or somewhere in front of it.
func (s *Searcher) Each(ctx context.Context, data []byte, yield func(start, end, place int) bool) {
	at := 0
	if len(s.probes) > 0 && !s.otherForms(data) {
		at = s.likely(ctx, data, yield)
	}
	for at < len(data) && s.machine != nil {
		place, result := s.machine.scan(ctx, data, at)
		switch result {
		case ended, stopped:
			return
		case gaveUp:
			s.machine, at = nil, place
		case found:
			start, end, after := around(data, place)
			if !yield(start, end, place) {
				return
			}
			at = after
		}
	}
	for at < len(data) && ctx.Err() == nil {
		_, end, after := around(data, at)
		if s.re.Match(data[at:end]) && !yield(at, end, at) {
			return
		}
		at = after
	}
}

// otherForms reports whether data has a letter that is, in another case, one of ASCII.
func (s *Searcher) otherForms(data []byte) bool {
	return s.texts.fold && (bytes.Contains(data, []byte("\u212a")) || bytes.Contains(data, []byte("\u017f")))
}

// likely goes through the lines that have one of the texts. It returns where it gave up because they are everywhere, or the end.
func (s *Searcher) likely(ctx context.Context, data []byte, yield func(start, end, place int) bool) int {
	s.reset()
	for at := 0; at < len(data) && ctx.Err() == nil; {
		place := s.next(data, at)
		if place == len(data) {
			break
		}
		start, end, after := around(data, place)
		if (s.texts.pure || s.matches(ctx, data[start:after], end-start)) && !yield(start, end, place) {
			break
		}
		at = after
		if s.looks += 4; s.machine != nil && s.looks > 256+at/16 {
			return at
		}
	}
	return len(data)
}

// matches judges one line, with its end.
func (s *Searcher) matches(ctx context.Context, line []byte, length int) bool {
	if s.machine != nil {
		_, result := s.machine.scan(ctx, line, 0)
		if result != gaveUp {
			return result == found
		}
		s.machine = nil
	}
	return s.re.Match(line[:length])
}

// around is the bounds of the line around a place, and where the next one starts.
func around(data []byte, at int) (start, end, after int) {
	start = bytes.LastIndexByte(data[:at], '\n') + 1
	end, after = len(data), len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		end, after = at+i, at+i+1
	}
	if end > start && data[end-1] == '\r' {
		end--
	}
	return start, end, after
}
