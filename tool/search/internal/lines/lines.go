// Package lines finds the lines of a text that match a regular expression, fast, or matches that span lines.
//
// Most matches contain literal text. The package looks for the rarest byte of this text, and package regexp reads only the lines that have
// the text. It reads all lines if the pattern requires no text. The result is always the lines that package regexp finds.
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
	texts texts // every match contains one of them; none: unknown
	spans bool  // a match may span lines
}

// Options say how to read a pattern.
type Options struct {
	Literal    bool // plain text, not a regular expression
	IgnoreCase bool
	Newlines   bool // a match may span lines
	Multiline  bool // the same, and . matches newlines
}

// Compile compiles a pattern. It reads an invalid regular expression as plain text; invalid is the reason.
func Compile(pattern string, o Options) (p *Pattern, invalid, err error) {
	pattern = strings.ToValidUTF8(pattern, "\ufffd")
	if !o.Literal {
		if p, invalid = compile(pattern, o); invalid == nil {
			return p, nil, nil
		}
	}
	p, err = compile(regexp.QuoteMeta(pattern), o)
	return p, invalid, err
}

func compile(expr string, o Options) (*Pattern, error) {
	flags := ""
	if o.IgnoreCase {
		flags = "i"
	}
	spans := o.Newlines || o.Multiline
	if spans {
		flags += "m"
	}
	if o.Multiline {
		flags += "s"
	}
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return &Pattern{re: re, texts: required(parsed.Simplify()), spans: spans}, nil
}

// Find returns the offset of the first match in a line, or -1. It is much slower than finding the line.
func (p *Pattern) Find(line []byte) int {
	if m := p.re.FindIndex(line); m != nil {
		return m[0]
	}
	return -1
}

// Searcher searches texts one by one. It is not safe for concurrent use.
type Searcher struct {
	*Pattern
	finder
}

// Searcher returns a new searcher for the pattern.
func (p *Pattern) Searcher() *Searcher {
	s := &Searcher{Pattern: p, finder: finder{probes: probes(p.texts)}}
	s.nexts = make([]int, len(s.probes))
	return s
}

// Plain returns the data that Each reads. If a match may span lines, its lines end without a carriage return.
func (p *Pattern) Plain(data []byte) []byte {
	if p.spans {
		return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return data
}

// Each calls yield for each matching line until yield returns false or ctx ends. The arguments are the bounds of the line without its
// newline, and a place in the line near the match. If a match may span lines, the bounds are those of its lines.
func (s *Searcher) Each(ctx context.Context, data []byte, yield func(start, end, place int) bool) {
	likely := len(s.probes) > 0 && !s.otherForms(data)
	s.reset()
	if s.spans {
		s.eachSpan(ctx, data, likely, yield)
		return
	}
	for at := 0; at < len(data) && ctx.Err() == nil; {
		place := at
		if likely {
			if place = s.next(data, at); place == len(data) {
				return
			}
		}
		start, end, after := around(data, place)
		if (likely && s.texts.pure || s.re.Match(data[start:end])) && !yield(start, end, place) {
			return
		}
		at = after
	}
}

// eachSpan is Each for matches that may span lines. The next match begins on a later line.
func (s *Searcher) eachSpan(ctx context.Context, data []byte, likely bool, yield func(start, end, place int) bool) {
	for at := 0; at < len(data) && ctx.Err() == nil; {
		if likely && s.next(data, at) == len(data) {
			return
		}
		m := s.re.FindIndex(data[at:])
		if m == nil || at+m[0] == len(data) {
			return
		}
		first, last := at+m[0], at+m[1]
		if last > first && data[last-1] == '\n' { // the line after it is not a part of it
			last--
		}
		start, _, _ := around(data, first)
		_, end, after := around(data, last)
		if !yield(start, end, first) {
			return
		}
		at = after
	}
}

// otherForms reports whether data has a letter beyond ASCII that folds to an ASCII letter.
func (s *Searcher) otherForms(data []byte) bool {
	return s.texts.fold && (bytes.Contains(data, []byte("\u212a")) || bytes.Contains(data, []byte("\u017f")))
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
