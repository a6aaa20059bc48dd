package lines

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRequired(t *testing.T) {
	tests := []struct {
		pattern string
		want    string
		fold    bool
		pure    bool
	}{
		{"hello", "hello", false, true},
		{`func \(\w+\) Read\(`, ") Read(", false, false},
		{"(?i)Hello", "hello", true, true},
		{"(?i)élan", "", false, false},
		{"(abc|def)+x", "abc|def", false, false},
		{"a*b{2,}", "b", false, false},
		{"a?|b", "", false, false},
		{"colou?r", "colour|color", false, true},
		{`(foo|bar|context)\.\w+\(`, "foo.|bar.|context.", false, false},
		{"[fF]oo", "foo", true, false},
		{`\bword\b`, "word", false, false},
		{"(?i:abc)DEF", "abcdef", true, false},
		{"(?i:abc)-1", "abc-1", true, true},
		{"a\ufffdbc", "", false, false},
		{`\w+`, "", false, false},
		{"(?:)", "", false, false},
		{"[a-z]", "", false, false},
		{"a\nb", "", false, false},
		{"(a|b|c)(d|e|f)gh", "dgh|egh|fgh", false, false},
	}
	for _, test := range tests {
		p, invalid, err := Compile(test.pattern, Options{})
		if err != nil || invalid != nil {
			t.Fatal(err, invalid)
		}
		if got := strings.Join(p.texts.all, "|"); got != test.want || p.texts.fold != test.fold || p.texts.pure != test.pure {
			t.Errorf("%s: %q, %+v; want %q, fold %t, pure %t", test.pattern, got, p.texts, test.want, test.fold, test.pure)
		}
	}
}

// Patterns that would take long to look at, if it were done carelessly.
func TestCompileOfLargePatterns(t *testing.T) {
	for name, pattern := range map[string]string{
		"nested alternatives": strings.Repeat("(", 300) + "a" + strings.Repeat("|b)", 300),
		"many parts":          strings.Repeat("(a|b)(c|d)", 5000),
		"many letters":        strings.Repeat(`\pL`, 1000),
	} {
		if _, invalid, err := Compile(pattern, Options{}); invalid != nil || err != nil {
			t.Errorf("%s: %v, %v", name, invalid, err)
		}
	}
}

func TestEachIsStopped(t *testing.T) {
	data := bytes.Repeat([]byte("some text\n"), 100_000)
	for _, pattern := range []string{"text", `\w+`, `(?i)t[^x]`} {
		p, _, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for way, s := range ways(p) {
			n := 0
			s.Each(t.Context(), data, func(_, _, _ int) bool {
				n++
				return n < 3
			})
			if n != 3 {
				t.Errorf("%s, %s: %d lines after the end", pattern, way, n-3)
			}
			ctx, cancel := context.WithCancel(t.Context())
			n = 0
			s.Each(ctx, data, func(_, _, _ int) bool {
				n++
				cancel()
				return true
			})
			if n != 1 {
				t.Errorf("%s, %s: %d lines after it was cancelled", pattern, way, n-1)
			}
		}
	}
}

// FuzzLines: the lines are those that package regexp finds, by whatever way.
func FuzzLines(f *testing.F) {
	patterns := []string{
		"hello", "(?i)task", "a|b", "(foo|bar)+x?", "^$", `\bx\b`, "[^a]*", "k(?i)s", "a\nb", "(?s)a.b", `\pL+ss`, "(?m)^x$", `\Bx|x\B`, `\b^x`, `^\b`, `$^`,
		"a\r", "\r", "[\r!]", "\r$", `x\z`, `(?i)\x{212a}`, "(?i)ſ", "a?b?c?d", "[fF]oo|(?i)bar", `.\b.`, `\w+\s\w+$`, "é", "[é-ü]+x", "\ufffd", `[^\x00-\x7f]`, "(a|ab)(c|bcd)(d*)", `x{3,5}y`,
		"(?U)a+?b", `\Ax`, "a.*b.*c", `^^a`, `^.?$`, `\D\B\d`, "[[:^word:]]x", `(?i)k`, `(?-s).`,
	}
	for _, pattern := range patterns {
		f.Add(pattern, []byte("hello\nTAS\u212a\r\nfoobarx\n\n x \nstraße aſſ\nSS\xffa\xe9b\ncolor\r"), false, false)
		f.Add(pattern, []byte("a.b\r\nK s\n\r\r\n\rx\n\xc3\nab\r\r"), true, true)
		f.Add(pattern, []byte("x\n"), false, true)
		f.Add(pattern, []byte("élan xx x5 _x\n\nabcd\nFOO\nBar é\r\nxxxxy\n5\n"), false, false)
	}
	f.Fuzz(func(t *testing.T, pattern string, data []byte, literal, ignoreCase bool) {
		p, invalid, err := Compile(pattern, Options{Literal: literal, IgnoreCase: ignoreCase})
		if err != nil {
			t.Skip("too large")
		}
		expr := strings.ToValidUTF8(pattern, "\ufffd")
		if literal || invalid != nil {
			expr = regexp.QuoteMeta(expr)
		}
		if ignoreCase {
			expr = "(?i)" + expr
		}
		re := regexp.MustCompile(expr)
		var want []string
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if re.Match(line) {
				want = append(want, string(line))
			}
		}
		if spans, _, err := Compile(pattern, Options{Literal: literal, IgnoreCase: ignoreCase, Multiline: true}); err == nil {
			text, after := spans.Plain(data), 0
			spans.Searcher().Each(t.Context(), text, func(start, end, place int) bool {
				if start < after || place < start || end < start || end > len(text) || start > 0 && text[start-1] != '\n' || end < len(text) && text[end] != '\n' && text[end] != '\r' {
					t.Errorf("%q in %q: from %d to %d after %d", pattern, text, start, end, after)
				}
				after = end + 1
				return true
			})
		}
		for way, s := range ways(p) {
			var got []string
			s.Each(t.Context(), data, func(start, end, _ int) bool {
				got = append(got, string(data[start:end]))
				return true
			})
			if !slices.Equal(got, want) {
				t.Errorf("%q in %q, %s: %q, want %q", expr, data, way, got, want)
			}
		}
	})
}

// ways is searchers that find lines by all means, or by some.
func ways(p *Pattern) map[string]*Searcher {
	all, noTexts := p.Searcher(), p.Searcher()
	noTexts.probes, noTexts.nexts = nil, nil
	return map[string]*Searcher{"all": all, "without texts": noTexts}
}
