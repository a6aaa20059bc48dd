package dialog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden screens in testdata")

// noon is the time of all tests.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func options(t testing.TB) *Options {
	t.Helper()
	m, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Options{Theme: theme.New("plain", true), Keys: m, Now: func() time.Time { return noon }}
}

func (s size) String() string { return fmt.Sprintf("%dx%d", s.width, s.height) }

// screen is a dialog in a terminal: in a box, or at the bottom.
func screen(d Dialog, o *Options, s size) []string {
	return Box(d, s.width, s.height, o.Theme)
}

// golden compares the screens of a dialog with a file in testdata: the text in all sizes, which all themes share, the styles of three
// themes in the smallest size, and the text for screen readers.
func golden(t *testing.T, name string, o *Options, d Dialog) {
	t.Helper()
	var b strings.Builder
	section := func(title string, lines []string) {
		fmt.Fprintf(&b, "-- %s --\n", title)
		for _, line := range lines {
			b.WriteString(strings.TrimRight(strings.ReplaceAll(line, "\x1b", "␛"), " ") + "\n")
		}
	}
	sizes := []size{{80, 24}, {120, 40}, {200, 60}}
	for _, s := range sizes {
		var texts []string
		for _, name := range []string{"plain", "dark", "light"} {
			o.Theme = theme.New(name, true)
			lines := screen(d, o, s)
			checkLines(t, lines, s.width, s.height)
			for i := range lines {
				lines[i] = strings.TrimRight(ansi.Strip(lines[i]), " ") // backgrounds have blanks
			}
			texts = append(texts, strings.Join(lines, "\n"))
		}
		if texts[1] != texts[0] || texts[2] != texts[0] {
			t.Errorf("%s at %s: themes show different texts", name, s)
		}
		section(s.String(), strings.Split(texts[0], "\n"))
	}
	for _, name := range []string{"dark", "light", "plain"} {
		o.Theme = theme.New(name, true)
		section(sizes[0].String()+" "+name, screen(d, o, sizes[0]))
	}
	ascii := *theme.New("plain", true)
	ascii.ASCII = true
	o.Theme, o.Reader = &ascii, true
	reader := screen(d, o, sizes[0])
	section("reader", strings.Split(ansi.Strip(strings.Join(reader, "\n")), "\n"))
	o.Theme, o.Reader = theme.New("plain", true), false
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != b.String() {
		t.Errorf("%s changed; look at it, and run the test with -update:\n%s", file, b.String())
	}
}

// checkLines proves that lines fit and have no control characters but those of styles.
func checkLines(t testing.TB, lines []string, width, height int) {
	t.Helper()
	if len(lines) > height {
		t.Errorf("%d lines in a height of %d", len(lines), height)
	}
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Errorf("%d cells in a width of %d: %q", n, width, line)
		}
		if rest := styleless(line); strings.ContainsFunc(rest, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
			t.Errorf("control characters in %q", line)
		}
	}
}

// styleless removes complete style sequences and nothing else.
func styleless(line string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "\x1b[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 || rest[end] != 'm' {
			b.WriteString("\x1b")
			return b.String()
		}
		line = rest[end+1:]
	}
}
