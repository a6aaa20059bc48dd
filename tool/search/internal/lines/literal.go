package lines

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxTexts  = 8   // texts of a set
	maxLength = 100 // bytes of a concatenated text
)

// texts is a set of alternatives: a match is, or contains, at least one of them. Empty: unknown.
type texts struct {
	all  []string
	fold bool // the case of ASCII letters does not matter; the texts are lower case
	pure bool // each text is a match
}

// worth estimates how rare the texts are; higher is rarer.
func (t texts) worth() int {
	if len(t.all) == 0 {
		return 0
	}
	short := len(t.all[0])
	for _, text := range t.all {
		short = min(short, len(text))
	}
	if short == 0 {
		return 0
	}
	return short*maxTexts + maxTexts - len(t.all)
}

// folded returns the set without regard to case. It stays pure only without letters.
func (t texts) folded() texts {
	if t.fold {
		return t
	}
	out := texts{fold: true, pure: t.pure}
	for _, text := range t.all {
		low := string(appendLower(nil, []byte(text)))
		out.pure = out.pure && low == text && !strings.ContainsFunc(text, func(r rune) bool { return 'a' <= r && r <= 'z' })
		out.all = append(out.all, low)
	}
	return out
}

// alike folds both sets if one of them is folded.
func alike(a, b texts) (texts, texts) {
	if a.fold != b.fold {
		return a.folded(), b.folded()
	}
	return a, b
}

func (t texts) or(other texts) texts {
	if len(t.all) == 0 || len(other.all) == 0 || len(t.all)+len(other.all) > maxTexts {
		return texts{}
	}
	t, other = alike(t, other)
	return texts{slices.Concat(t.all, other.all), t.fold, t.pure && other.pure}
}

func (t texts) then(other texts) texts {
	if len(t.all)*len(other.all) > maxTexts {
		return texts{}
	}
	t, other = alike(t, other)
	out := texts{fold: t.fold, pure: t.pure && other.pure}
	for _, a := range t.all {
		for _, b := range other.all {
			if len(a)+len(b) > maxLength && a != "" && b != "" {
				return texts{}
			}
			out.all = append(out.all, a+b)
		}
	}
	return out
}

// known is the known texts of an expression.
type known struct {
	whole texts // each match is one of them
	part  texts // each match contains one of them
}

// required returns texts of which each match contains one.
func required(re *syntax.Regexp) texts {
	k := analyze(re)
	best := k.best()
	best.pure = best.pure && k.whole.worth() == best.worth()
	return best
}

// best returns the rarer set.
func (k known) best() texts {
	switch whole, part := k.whole.worth(), k.part.worth(); {
	case whole == 0 && part == 0:
		return texts{}
	case whole >= part:
		return k.whole
	}
	return k.part
}

func analyze(re *syntax.Regexp) known {
	switch re.Op {
	case syntax.OpLiteral:
		return known{whole: literal(re)}
	case syntax.OpCharClass:
		return known{whole: class(re.Rune)}
	case syntax.OpEmptyMatch:
		return known{whole: texts{all: []string{""}, pure: true}}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return known{whole: texts{all: []string{""}}}
	case syntax.OpCapture:
		return analyze(re.Sub[0])
	case syntax.OpPlus:
		return known{part: analyze(re.Sub[0]).best()}
	case syntax.OpQuest:
		return known{whole: analyze(re.Sub[0]).whole.or(texts{all: []string{""}, pure: true})}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		all := analyze(re.Sub[0])
		all.part = all.best()
		for _, sub := range re.Sub[1:] {
			k := analyze(sub)
			all.whole, all.part = all.whole.or(k.whole), all.part.or(k.best())
		}
		return all
	}
	return known{}
}

// literal returns the text of a literal, unless it folds beyond ASCII.
func literal(re *syntax.Regexp) texts {
	text := string(re.Rune)
	fold := re.Flags&syntax.FoldCase != 0
	// U+FFFD matches any invalid byte, and no line contains a newline.
	if strings.ContainsRune(text, utf8.RuneError) || strings.Contains(text, "\n") ||
		fold && strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return texts{}
	}
	if fold {
		text = strings.ToLower(text)
	}
	// A carriage return at the end of a line is not a part of the line.
	return texts{[]string{text}, fold, !strings.Contains(text, "\r")}
}

func class(ranges []rune) texts {
	t := texts{pure: true}
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(t.all) == maxTexts/2 || r == utf8.RuneError || r == '\n' || !utf8.ValidRune(r) {
				return texts{}
			}
			t.all = append(t.all, string(r))
			t.pure = t.pure && r != '\r'
		}
	}
	return t
}

// concat joins the known texts of adjacent expressions.
func concat(subs []*syntax.Regexp) known {
	empty := texts{all: []string{""}, pure: true}
	run, best, whole := empty, texts{}, true
	flush := func(part texts) {
		for _, t := range []texts{run, part} {
			if t.worth() > best.worth() {
				best = t
			}
		}
	}
	for _, sub := range subs {
		k := analyze(sub)
		if len(k.whole.all) > 0 {
			if longer := run.then(k.whole); len(longer.all) > 0 {
				run = longer
				continue
			}
		}
		whole = false
		flush(k.part)
		if run = k.whole; len(run.all) == 0 {
			run = empty
		}
	}
	if whole {
		return known{whole: run, part: run}
	}
	flush(texts{})
	return known{part: best}
}

// appendLower appends data with ASCII letters in lower case.
func appendLower(out, data []byte) []byte {
	n := len(out)
	out = append(out, data...)
	for i, c := range out[n:] {
		out[n+i] = lower(c)
	}
	return out
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
