package diff_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/diff"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const sample = `--- a/main.go
+++ b/main.go
@@ -8,9 +8,10 @@ package main
 
 import "fmt"
 
-func greet(name string) string {
-	return "Hello " + name
+func greet(name, title string) string {
+	// A title is polite.
+	return "Hello " + title + " " + name
 }
 
 func main() {
@@ -30,4 +31,3 @@ func other() {
 	a := 1
-	b := 2
 	c := "a long line that does not fit into a narrow terminal and continues on the next line"
 }
\ No newline at end of file
`

// golden compares a text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; run the test with -update and look at the difference. Got:\n%s", path, got)
	}
}

func TestGolden(t *testing.T) {
	for _, width := range []int{20, 60, 80, 120, 200} {
		for _, name := range []string{"dark", "plain"} {
			th := theme.New(name, true)
			lines := diff.Lines(sample, width, th, diff.Options{Path: "main.go", Split: width >= 140})
			checkLines(t, lines, width)
			text := strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "^") + "\n"
			golden(t, fmt.Sprintf("%s-%d.txt", name, width), text)
		}
	}
}

func checkLines(t *testing.T, lines []string, width int) {
	t.Helper()
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Fatalf("%q takes %d of %d columns", line, n, width)
		}
		if plain := ansi.Strip(line); strings.ContainsAny(plain, "\n\t") || plain != term.Harmless(plain) {
			t.Fatalf("%q is not harmless", line)
		}
	}
}

func plain(text string, width int, o diff.Options) string {
	var all []string
	for _, line := range diff.Lines(text, width, theme.New("plain", true), o) {
		all = append(all, strings.TrimRight(ansi.Strip(line), " "))
	}
	return strings.Join(all, "\n")
}

func TestWordsThatChanged(t *testing.T) {
	for _, test := range [][3]string{
		{"a b c d e f", "a b x d e f", "a b [x] d e f"},
		{"f(x, y)", "f(x, y, z)", "f(x, y[, z])"},
		{"entirely other", "12345 + 6789", "12345 + 6789"},
		{"one two three four five", "one 2 3 four five", "one [2 3] four five"},
		{"日本語 text here", "日本人 text here", "[日本人] text here"},
	} {
		lines := diff.Lines(fmt.Sprintf("@@ -1 +1 @@\n-%s\n+%s\n", test[0], test[1]), 60, theme.New("plain", true), diff.Options{})
		got := strings.NewReplacer("\x1b[1m", "[", "\x1b[0m", "]").Replace(lines[1])
		if got = strings.TrimPrefix(got, "  1 + "); got != test[2] {
			t.Errorf("%q is %q, want %q", test[1], got, test[2])
		}
	}
}

func TestLongDiffsAreCut(t *testing.T) {
	text := "@@ -0,0 +1,500 @@\n" + strings.Repeat("+x\n", 500)
	if got := plain(text, 40, diff.Options{Max: 4}); got != "      1 + x\n      2 + x\n      3 + x\n… 497 more lines" {
		t.Errorf("%q", got)
	}
	if got := plain("@@ -0,0 +1,2 @@\n+x\n+y\n", 40, diff.Options{Max: 2}); got != "  1 + x\n  2 + y" {
		t.Errorf("%q", got)
	}
}

func TestUnchangedLinesAreFolded(t *testing.T) {
	text := "@@ -1,10 +1,11 @@\n" + strings.Repeat(" x\n", 6) + "+y\n" + strings.Repeat(" x\n", 4)
	want := "⋯ 5 unchanged lines\n 6  6   x\n    7 + y\n 7  8   x\n⋯ 3 unchanged lines"
	if got := plain(text, 40, diff.Options{Context: 1}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSeveralFilesAndOtherTexts(t *testing.T) {
	for text, want := range map[string]string{
		"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-- c\n": "x\n1   - a\n  1 + b\ny\n1   - - c",
		"no diff\n+a\n-b\n c\n": "no diff\n+ a\n- b\n  c",
		"":                      "",
		"@@ -1,1 +1,1 @@\n--- x\n+++ y\n@@ nonsense\n": "1   - -- x\n  1 + ++ y\n⋯",
	} {
		if got := plain(text, 40, diff.Options{}); got != want {
			t.Errorf("%q is\n%s\nwant\n%s", text, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, text := range []string{
		sample, "@@ -1 +1 @@\n-a\x1b[2J\n+\u202eb\n", "@@ -1,2 @@ @@\n", "@@\n+++ \n--- \n+++ /dev/null\n", "@@ -9999999999999,-1 +2,2 @@\n\n+\n",
		"@@ -1 +1 @@\n-" + strings.Repeat("a b ", 2000) + "\n+" + strings.Repeat("c b ", 2000), "@@ -1 +1 @@\n-漢字e\u0301\t\n+👩‍👩‍👧‍👦\r\n",
	} {
		f.Add(text, 80, 10)
		f.Add(text, 3, 0)
		f.Add(text, 180, 1)
	}
	f.Fuzz(func(t *testing.T, text string, width, most int) {
		width, most = 1+(width&0x7fffffff)%200, (most&0x7fffffff)%50
		for _, name := range []string{"dark", "terminal"} {
			lines := diff.Lines(text, width, theme.New(name, true), diff.Options{Max: most, Split: true, Path: "a.go"})
			checkLines(t, lines, width)
			if most > 0 && len(lines) > most {
				t.Fatalf("%d lines of %d", len(lines), most)
			}
		}
	})
}

// A diff of a megabyte is drawn up to its limit.
func BenchmarkLines(b *testing.B) {
	th := theme.New("dark", true)
	for _, size := range []int{1, 1000} {
		text := strings.Repeat(sample, size)
		b.Run(fmt.Sprint(len(text)>>10, "kB"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				diff.Lines(text, 120, th, diff.Options{Path: "main.go", Max: 200})
			}
		})
	}
}
