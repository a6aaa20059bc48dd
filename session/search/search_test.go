package search_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" \t.,;!":                       "",
		"One two":                       "one two",
		"foo/bar.go:12":                 "foo bar go 12",
		"snake_case":                    "snake case",
		"camelCase":                     "camelcase +camel +case",
		"NewBranch HTTPServer":          "newbranch +new +branch httpserver +http +server",
		"ServeHTTP x2Y ABC Abc aB":      "servehttp +serve +http x2y +x2 +y abc abc ab +a +b",
		"ÉcoleNormale":                  "ecolenormale +ecole +normale",
		"Ünïcödé ΆΘΩ Straße":            "unicode αθω straße",
		"会话 a水车b":                       "会 话 a 水 车 b",
		"テスト 한국어 ไทย":                   "テ ス ト 한 국 어 ไ ท ย",
		"привет мир":                    "привет мир",
		"cafe\u0301":                    "cafe",
		"a\x00b\xff\xfec\ufffdd":        "a b c d",
		"e=mc²":                         "e mc²",
		"don't":                         "don t",
		strings.Repeat("x", 100) + " y": strings.Repeat("x", 64) + " y",
		strings.Repeat("é", 50):         strings.Repeat("e", 32),
		"\u0301":                        "\u0301",
	} {
		var got []string
		for w := range search.Words(text) {
			if text[w.Start:w.End] == "" {
				t.Errorf("%q: a word from %d to %d", text, w.Start, w.End)
			}
			if w.Part {
				w.Text = "+" + w.Text
			}
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
	for range search.Words("aB c") {
		break
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]search.Term{
		"":          nil,
		`" - * "`:   nil,
		"Foo":       {{Words: []string{"foo"}}},
		"foo*":      {{Words: []string{"foo"}, Prefix: true}},
		"foo.ba*":   {{Words: []string{"foo", "ba"}, Prefix: true}},
		"-foo bar":  {{Words: []string{"foo"}, Not: true}, {Words: []string{"bar"}}},
		`a"b c"d`:   {{Words: []string{"a"}}, {Words: []string{"b", "c"}}, {Words: []string{"d"}}},
		`-"b c"*`:   {{Words: []string{"b", "c"}, Not: true, Prefix: true}},
		`"open`:     {{Words: []string{"open"}}},
		"a-b":       {{Words: []string{"a", "b"}}},
		"aB":        {{Words: []string{"ab"}}},
		"会话\u3000x": {{Words: []string{"会", "话"}}, {Words: []string{"x"}}},
	} {
		got := search.Parse(text).Terms
		if !slices.EqualFunc(got, want, func(a, b search.Term) bool {
			return slices.Equal(a.Words, b.Words) && a.Prefix == b.Prefix && a.Not == b.Not
		}) {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
	words := 0
	for _, term := range search.Parse(strings.Repeat("a.b c ", 1000)).Terms {
		words += len(term.Words)
	}
	if words != 64 {
		t.Errorf("a long query has %d words", words)
	}
}

func TestPiecesAreBounded(t *testing.T) {
	long := strings.Repeat("0123456789 é", 100_000)
	m := llm.Message{Role: llm.RoleAssistant, Content: llm.Content{
		llm.Text{Text: long}, llm.ToolCall{Name: "x", Arguments: `{"a":"` + long + `"}`}, llm.Text{Text: "more"},
	}}
	total := 0
	for _, p := range search.Pieces(session.Message{Message: m}) {
		total += len(p.Text)
		if !utf8.ValidString(p.Text) {
			t.Error("a piece ends in half a character")
		}
	}
	if total > 1<<20 || total < 1<<20-8 {
		t.Errorf("%d bytes", total)
	}
	for arguments, want := range map[string]string{
		`{"path":"a.go","n":[1,{"deep":true}]}`: "x path a.go n 1 deep ",
		`{"half":"a`:                            `x {"half":"a`,
		``:                                      "x ",
	} {
		m.Content = llm.Content{llm.ToolCall{Name: "x", Arguments: arguments}}
		if got := search.Pieces(session.Message{Message: m}); got[0].Text != want || got[0].Kind != search.SaidCall {
			t.Errorf("%s says %+v", arguments, got)
		}
	}
}

// Whatever the text and the query are: nothing panics, and what is shown is a valid piece with marks in it when something was
// found.
func FuzzSearch(f *testing.F) {
	f.Add("The mill in foo/bar.go", `mill "foo bar"* -x`)
	f.Add("camelCase\x00会话\xff", "Case 会*")
	f.Add(strings.Repeat("long ", 99)+"needle", "needle long")
	f.Fuzz(func(t *testing.T, text, query string) {
		pieces := []search.Piece{{Kind: search.SaidUser, Text: text}}
		q := search.Parse(query)
		_, s := q.Snippet(pieces, true)
		if !utf8.ValidString(s.Text) || len(s.Text) > 1000 {
			t.Errorf("it shows %q", s.Text)
		}
		at := 0
		for _, m := range s.Marks {
			if m.Start < at || m.End <= m.Start || m.End > len(s.Text) || !utf8.ValidString(s.Text[m.Start:m.End]) {
				t.Fatalf("marks %v in %q", s.Marks, s.Text)
			}
			at = m.End
		}
		if q.Match(search.StreamsOf(pieces), true) && len(s.Marks) == 0 {
			t.Errorf("found, and not marked in %q", s.Text)
		}
	})
}
