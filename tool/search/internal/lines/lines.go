// Package lines finds the lines of a text that match a regular expression, fast.
//
// Most matches contain literal text. The package first looks for the rarest byte of this text. An automaton reads the candidate lines,
// or all lines, byte by byte. Package regexp handles patterns that are too large for the automaton. The result is always the lines that
// package regexp finds.
package lines

import (
	"bytes"
	"context"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Pattern is a compiled pattern. It is safe for concurrent use.
type Pattern struct {
	re    *regexp.Regexp
	texts texts      // every match contains one of them; none: unknown
	auto  *automaton // nil: too large
}

// Compile compiles a pattern. It reads an invalid regular expression as plain text; invalid is the reason.
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

// Find returns the offset of the first match in a line, or -1. It is much slower than finding the line.
func (p *Pattern) Find(line []byte) int {
	if m := p.re.FindIndex(line); m != nil {
		return m[0]
	}
	return -1
}

// Searcher searches texts one by one in the same memory, at most a few megabytes. It is not safe for concurrent use.
type Searcher struct {
	*Pattern
	finder
	machine *machine // nil: use package regexp
}

// Searcher returns a new searcher for the pattern.
func (p *Pattern) Searcher() *Searcher {
	s := &Searcher{Pattern: p, finder: finder{probes: probes(p.texts)}}
	s.nexts = make([]int, len(s.probes))
	if p.auto != nil {
		s.machine = newMachine(p.auto)
	}
	return s
}

// Each calls yield for each matching line until yield returns false or ctx ends. The arguments are the bounds of the line without its
// newline, and a place in the line near the match.
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

// otherForms reports whether data has a letter beyond ASCII that folds to an ASCII letter.
func (s *Searcher) otherForms(data []byte) bool {
	return s.texts.fold && (bytes.Contains(data, []byte("\u212a")) || bytes.Contains(data, []byte("\u017f")))
}

// likely searches the lines that have one of the texts. It returns the end, or the place where it gave up because the texts are too
// frequent.
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

// matches reports whether a line with its newline matches.
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

// around returns the bounds of the line at a place, and the start of the next line.
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
