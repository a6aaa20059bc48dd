package tokens_test

import (
	"bufio"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/window/tokens"
)

// sample is a text of testdata with its true count.
type sample struct {
	text  string
	count int // by o200k_base
}

// samples reads testdata, by file name.
func samples(t testing.TB) map[string]sample {
	t.Helper()
	list, err := os.Open("testdata/o200k.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	all := map[string]sample{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		var s sample
		var name string
		if n, _ := fmt.Sscan(lines.Text(), &s.count, &name); n < 2 {
			continue // a comment
		}
		text, err := os.ReadFile(filepath.Join("testdata", "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		s.text = strings.ReplaceAll(string(text), "\r\n", "\n")
		all[strings.TrimSuffix(name, ".txt")] = s
	}
	if len(all) < 40 {
		t.Fatalf("only %d samples", len(all))
	}
	return all
}

// allowed is the largest relative error of the count of a sample. The samples are short; for longer texts of a kind, the error is smaller.
func allowed(name string) float64 {
	switch name {
	case "language-turkish", "language-italian", "language-polish":
		return 0.20
	case "base64": // random letters
		return 0.16
	case "emoji", "tree":
		return 0.15
	}
	if strings.HasPrefix(name, "language-") {
		return 0.16 // the count cannot distinguish simplified from traditional Chinese: one is above, the other below
	}
	return 0.11
}

func TestTextIsNearTheTrueCount(t *testing.T) {
	all := samples(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		got := tokens.Text(s.text)
		wrong := float64(got)/float64(s.count) - 1
		t.Logf("%-28s %5d tokens, counted %5d: %+5.1f %%", name, s.count, got, 100*wrong)
		if math.Abs(wrong) > allowed(name) {
			t.Errorf("%s: counted %d instead of %d tokens, %+.1f %%", name, got, s.count, 100*wrong)
		}
	}
}

func TestTextOfPieces(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"a", 1},
		{" ", 1},
		{"\n\n\n", 1},
		{"the", 1},
		{" house", 1},
		{"1234567", 3}, // digits by three
		{"----------------", 1},
		{strings.Repeat(" ", 60), 1},
		{"getUserName", 3},
		{"👍", 2},
		{"\xff\xfe\x80", 1},
		{"\x00", 1},
	} {
		if got := tokens.Text(tt.text); got != tt.want {
			t.Errorf("Text(%q) = %d, want %d", tt.text, got, tt.want)
		}
	}
}

// seam is the number of tokens by which a text may exceed its two parts: if the parts fit, the whole text fits too.
const seam = 8

func checkParts(t interface{ Errorf(string, ...any) }, a, b string) {
	whole, parts := tokens.Text(a+b), tokens.Text(a)+tokens.Text(b)
	if whole < 0 || whole > parts+seam {
		t.Errorf("%q and %q have %d tokens, together %d", a, b, parts, whole)
	}
	if (whole == 0) != (a+b == "") {
		t.Errorf("%q has %d tokens", a+b, whole)
	}
	if n := len(a + b); whole > 2*n {
		t.Errorf("%q has %d bytes and %d tokens", a+b, n, whole)
	}
}

func TestTextOfParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.StringMatching(`([ \n]|[a-z]+|[A-Z]+|[0-9]+|[(){}"':;,.]+)*`)
		some := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z]*`), code)
		checkParts(t, some.Draw(t, "a"), some.Draw(t, "b"))
	})
}

func FuzzText(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.text[:len(s.text)/2], s.text[len(s.text)/2:])
	}
	f.Add("\xe4\xb8", "\xad")
	f.Fuzz(func(t *testing.T, a, b string) { checkParts(t, a, b) })
}

func TestTextAllocatesNothing(t *testing.T) {
	for name, s := range samples(t) {
		if n := testing.AllocsPerRun(3, func() { tokens.Text(s.text) }); n != 0 {
			t.Errorf("%s: %.0f allocations", name, n)
		}
	}
}
