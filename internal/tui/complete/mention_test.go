package complete_test

import (
	"reflect"
	"testing"

	"github.com/tenon-agent/tenon/internal/tui/complete"
)

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text string
		want []complete.Mention
	}{
		{"no mention", nil},
		{"mail me@example.org", nil},
		{"@", nil},
		{"look at @main.go, please", []complete.Mention{{Path: "main.go", Start: 8, End: 16}}},
		{"@main.go:10-40.", []complete.Mention{{Path: "main.go", From: 10, To: 40, End: 14}}},
		{"@main.go:10", []complete.Mention{{Path: "main.go", From: 10, To: 10, End: 11}}},
		{"@main.go:40-10", []complete.Mention{{Path: "main.go", From: 10, To: 40, End: 14}}},
		{`(@"a b.txt":7) and @src/`, []complete.Mention{{Path: "a b.txt", From: 7, To: 7, Start: 1, End: 13}, {Path: "src/", Start: 19, End: 24}}},
		{`@"a \"b\" \\c"`, []complete.Mention{{Path: `a "b" \c`, End: 14}}},
		{`@"open`, nil},
		{"@日本.txt", []complete.Mention{{Path: "日本.txt", End: 11}}},
	} {
		if got := complete.Mentions(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %+v, want %+v", c.text, got, c.want)
		}
	}
}

func TestWhatWriteWritesMentionsReads(t *testing.T) {
	for _, path := range []string{"a", "a b", `a"b`, `a\b`, "a.", "a:10", "dir/", "(x)", "日本 語", "it's"} {
		text := "x " + complete.Write(path) + " y"
		got := complete.Mentions(text)
		if len(got) != 1 || got[0].Path != path || got[0].From != 0 {
			t.Errorf("%q: %q is %+v", path, text, got)
		}
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("@a:1-2 @\"b c\":3", "x y")
	f.Fuzz(func(t *testing.T, text, path string) {
		end := 0
		for _, m := range complete.Mentions(text) {
			if m.Start < end || m.End > len(text) || m.End <= m.Start || text[m.Start] != '@' || m.From > m.To {
				t.Fatalf("%+v of %q", m, text)
			}
			end = m.End
		}
		complete.Writing(text)
		for _, dropped := range complete.Dropped(text) {
			if dropped == "" {
				t.Fatalf("%q drops nothing", text)
			}
		}
	})
}

func TestWriting(t *testing.T) {
	for _, c := range []struct {
		before string
		want   complete.Token
		ok     bool
	}{
		{"see @", complete.Token{Start: 4}, true},
		{"see @ma", complete.Token{Start: 4, Pattern: "ma"}, true},
		{"see @ma x", complete.Token{}, false},
		{`see @"a b`, complete.Token{Start: 4, Pattern: "a b", Quoted: true}, true},
		{`see @"a b" x`, complete.Token{}, false},
		{"@main.go:10-", complete.Token{Pattern: "main.go", Lines: ":10-"}, true},
		{"me@example", complete.Token{}, false},
		{"@one\ntwo", complete.Token{}, false},
	} {
		got, ok := complete.Writing(c.before)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %+v %t", c.before, got, ok)
		}
	}
}

func TestDropped(t *testing.T) {
	for _, c := range []struct {
		paste string
		want  []string
	}{
		{"just text", nil},
		{"", nil},
		{"/", nil},
		{"/usr/bin/env bash", []string{"/usr/bin/env bash"}}, // no such file
		{"/a/b.png", []string{"/a/b.png"}},
		{"  /a/b\\ c.png \n", []string{"/a/b c.png"}},
		{"'/a/b c.png' \"/d/e f\"", []string{"/a/b c.png", "/d/e f"}},
		{"/a/b c.png", []string{"/a/b c.png"}},
		{"file:///a/b%20c.png\r\nfile://localhost/d\r\n", []string{"/a/b c.png", "/d"}},
		{"file://server/share/x", nil},
		{"/a relative", []string{"/a relative"}},
		{"/a\nsecond line", nil},
		{`C:\Shots\a b.png`, []string{`C:\Shots\a b.png`}},
		{`"C:\Shots\a b.png"`, []string{`C:\Shots\a b.png`}},
		{"file:///C:/x/y.png", []string{"C:/x/y.png"}},
		{"/a\x1b[31m", nil},
		{"'/a", nil},
	} {
		if got := complete.Dropped(c.paste); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.paste, got, c.want)
		}
	}
}
