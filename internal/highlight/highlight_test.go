package highlight_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/highlight"
)

var names = map[highlight.Kind]string{
	highlight.Keyword: "K", highlight.String: "S", highlight.Comment: "C", highlight.Number: "N", highlight.Type: "T", highlight.Added: "A", highlight.Removed: "R",
}

// shown writes code with its spans in brackets.
func shown(code string, spans []highlight.Span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		fmt.Fprintf(&b, "%s%s[%s]", code[at:s.Start], names[s.Kind], code[s.Start:s.End])
		at = s.End
	}
	return b.String() + code[at:]
}

// spansOf returns the spans of a text of several lines.
func spansOf(language, code string) (all []highlight.Span) {
	state, base := 0, 0
	for line := range strings.SplitSeq(code, "\n") {
		var of []highlight.Span
		of, state = highlight.Line(language, state, line)
		for _, s := range of {
			all = append(all, highlight.Span{Kind: s.Kind, Start: s.Start + base, End: s.End + base})
		}
		base += len(line) + 1
	}
	return all
}

func TestSpans(t *testing.T) {
	for _, test := range []struct{ language, code, want string }{
		{"go", "func f(x int) string { // no\n\treturn `a\nb` + \"c\\\"\" + 'x' + 0x1f }", "K[func] f(x T[int]) T[string] { C[// no]\n\tK[return] S[`a]\nS[b`] + S[\"c\\\"\"] + S['x'] + N[0x1f] }"},
		{"Go", "/* a\nb */ x := map[string]any{}", "C[/* a]\nC[b */] x := K[map][T[string]]T[any]{}"},
		{"py", "def f(self):\n  '''a\n  b'''\n  x = Foo(1.5) # c", "K[def] f(K[self]):\n  S['''a]\nS[  b''']\n  x = T[Foo](N[1.5]) C[# c]"},
		{"rust", "fn f<'a>(x: &'a str) -> char { 'x' }", "K[fn] f<'a>(x: &'a T[str]) -> T[char] { S['x'] }"},
		{"ts", "const x: number = `a${b}`; // c", "K[const] x: T[number] = S[`a${b}`]; C[// c]"},
		{"c", "#include <a.h>\nint x = 'a'; /* c */", "K[#include] <a.h>\nT[int] x = S['a']; C[/* c */]"},
		{"sh", "if [ \"$#\" -gt 1 ]; then # c\necho $x ${y#z}; fi", "K[if] [ S[\"$#\"] -gt N[1] ]; K[then] C[# c]\nK[echo] T[$x] T[$]{y#z}; K[fi]"},
		{"sql", "SELECT 'a' from T -- c", "K[SELECT] S['a'] K[from] T C[-- c]"},
		{"json", `{"a": "b", "n": [1, true, null]}`, `{T["a"]: S["b"], T["n"]: [N[1], K[true], K[null]]}`},
		{"yaml", "a-b: 'x' # c\n- n: true", "T[a-b]: S['x'] C[# c]\n- T[n]: K[true]"},
		{"toml", "[a.b]\nx = \"y\" # c", "[T[a.b]]\nT[x] = S[\"y\"] C[# c]"},
		{"html", "<!-- a\nb --><p class=\"x\">t &amp; u</p>", "C[<!-- a]\nC[b -->]K[<p] T[class]=S[\"x\"]K[>]t N[&amp;] uK[</p]K[>]"},
		{"css", ".a { color: #fff; } /* c */", ".a { T[color]: #fff; } C[/* c */]"},
		{"md", "# h\n- a `b`\n```\nx\n```\ny", "K[# h]\nK[-] a S[`b`]\nC[```]\nS[x]\nC[```]\ny"},
		{"diff", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z", "C[--- a]\nC[+++ b]\nK[@@ -1 +1 @@]\nR[-x]\nA[+y]\n z"},
		{"dockerfile", "FROM go AS b\nRUN x # y", "K[FROM] go K[AS] b\nK[RUN] x C[# y]"},
		{"makefile", "all: x\n\t$(GO) build\nX := 1", "T[all]: x\n\tT[$](GO) build\nT[X] := N[1]"},
		{"lua", "local x = [[a\nb]] --[[ c ]] -- d", "K[local] x = S[[[a]\nS[b]]] C[--[[ c ]]] C[-- d]"},
		{"hs", "f' :: Int -> Int -- c", "f' :: T[Int] -> T[Int] C[-- c]"},
		{"elixir", "def f(x), do: \"#{x}\" # c", "K[def] f(x), K[do]: S[\"#{x}\"] C[# c]"},
		{"unknown", "if x", "if x"},
	} {
		if got := shown(test.code, spansOf(test.language, test.code)); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.language, got, test.want)
		}
	}
}

func TestLanguageOfAFile(t *testing.T) {
	for path, want := range map[string]string{"a/b.go": "go", "Makefile": "makefile", `c:\x\Dockerfile`: "dockerfile", "a.tar.gz": "", "go": "go", "x.TSX": "tsx", "": ""} {
		if got := highlight.Language(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

var all = strings.Fields("go python js rust c c++ java kotlin swift ruby php bash sql json yaml toml html css markdown diff dockerfile makefile lua c# haskell elixir")

func TestLanguagesAreKnown(t *testing.T) {
	for _, name := range all {
		if !highlight.Known(name) {
			t.Error(name)
		}
	}
}

// Spans are in order and within the text.
func FuzzSpans(f *testing.F) {
	for _, code := range []string{"func f() { /* a\n */ \"x\\", "'''a\n\"\"\"", "<a b='c\nd'>&x;<!--", "`\\\n\\", "```\n'\n```", "'\xff'", "--[[\n]]", "a:\n\tb"} {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		for _, name := range all {
			at := 0
			spans := spansOf(name, code)
			for _, s := range spans {
				if s.Start < at || s.End <= s.Start || s.End > len(code) || s.Kind == 0 {
					t.Fatalf("%s: %v of %q", name, spans, code)
				}
				at = s.End
			}
		}
	})
}

func BenchmarkSpans(b *testing.B) {
	code := strings.Repeat("func (l *List) lines(i int) []string { // the lines\n\treturn l.items[i].Lines(l.width - 1, \"x\", 0x1f)\n}\n", 1000)
	b.SetBytes(int64(len(code)))
	b.ReportAllocs()
	for b.Loop() {
		spansOf("go", code)
	}
}
