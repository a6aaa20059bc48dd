package search

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRequired(t *testing.T) {
	tests := []struct {
		pattern string
		want    []string
		fold    bool
	}{
		{"hello", []string{"hello"}, false},
		{`func \(\w+\) Read\(`, []string{") Read("}, false},
		{"(?i)Hello", []string{"hello"}, true},
		{"(?i)élan", nil, false},
		{"(abc|def)+x", []string{"abc", "def"}, false},
		{"a*b{2,}", []string{"b"}, false},
		{"a?|b", nil, false},
		{`\w+`, nil, false},
		{"(?:)", nil, false},
	}
	for _, test := range tests {
		m, invalid, err := newMatcher(test.pattern, false, false)
		if err != nil || invalid != nil {
			t.Fatal(err, invalid)
		}
		var got []string
		for _, one := range m.literals {
			got = append(got, string(one))
		}
		if !slices.Equal(got, test.want) || m.fold != test.fold {
			t.Errorf("%s: %q, fold %t; want %q, %t", test.pattern, got, m.fold, test.want, test.fold)
		}
	}
}

// With and without the shortcuts the same lines match.
func FuzzLines(f *testing.F) {
	for _, pattern := range []string{"hello", "(?i)task", "a|b", "(foo|bar)+x?", "^$", `\bx\b`, "[^a]*", "k(?i)s", "a\nb", "(?s)a.b", `\pL+ss`, "(?m)^x$"} {
		f.Add(pattern, []byte("hello\nTAS\u212a\r\nfoobarx\n\n x \nstraße aſſ\nSS"), false, false)
		f.Add(pattern, []byte("a.b\r\nK s\n"), true, true)
	}
	f.Fuzz(func(t *testing.T, pattern string, data []byte, literal, ignoreCase bool) {
		m, invalid, err := newMatcher(pattern, literal, ignoreCase)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		m.lines(t.Context(), data, nil, func(start, end int) bool {
			got = append(got, string(data[start:end]))
			return true
		})
		expr := strings.ToValidUTF8(pattern, "\ufffd")
		if literal || invalid != nil {
			expr = regexp.QuoteMeta(expr)
		}
		if ignoreCase {
			expr = "(?i)" + expr
		}
		re := regexp.MustCompile(expr)
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if re.Match(line) {
				want = append(want, string(line))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", expr, got, want)
		}
	})
}
