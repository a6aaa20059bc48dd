package command

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/term/termtest"
)

// A table aligns its columns, shows each cell on one line, and is never wider than the terminal.
func TestTable(t *testing.T) {
	tty := &termtest.Terminal{Columns: 40}
	env := &Env{Stdout: tty, Stderr: tty, Getenv: func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }}
	got := env.Table([]string{"ID", ">N", "TITLE"}, [][]string{{"a", "7", "one\nline"}, {"bcd", "1234", strings.Repeat("long ", 20)}})
	want := "ID      N  TITLE\n" +
		"a       7  one line\n" +
		"bcd  1234  long long long long long lon…\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := env.Table(nil, [][]string{{"a", "b"}, {"ccc", ""}}); got != "a    b\nccc\n" {
		t.Errorf("got %q", got)
	}
}

// A narrow terminal lacks columns, and a long name has its own line.
func TestFigures(t *testing.T) {
	f := Figures{{"N", 5, 0}, {"MORE", 8, 30}}
	for _, c := range []struct {
		columns int
		name    string
		want    string
	}{
		{30, "name", "name" + strings.Repeat(" ", 13) + "    1       2\n"},
		{20, "name", "name" + strings.Repeat(" ", 11) + "    1\n"},
		{20, strings.Repeat("n", 18), strings.Repeat("n", 18) + "\n" + strings.Repeat(" ", 15) + "    1\n"},
	} {
		if got := f.Line(c.columns, c.name, "1", "2"); got != c.want {
			t.Errorf("%d columns: got %q, want %q", c.columns, got, c.want)
		}
	}
}

// Values of Lines are one line of JSON each, and a note for people is not among them.
func TestPrint(t *testing.T) {
	var out, errs strings.Builder
	env := &Env{Stdout: &out, Stderr: &errs}
	r := Result{JSON: Lines([]int{1, 2}), Text: "text\n", Note: "note"}
	for _, asJSON := range []bool{true, false} {
		if err := env.Print(asJSON, r); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "1\n2\ntext\n" || errs.String() != "note\n" {
		t.Errorf("got %q and %q", out.String(), errs.String())
	}
}
