package complete_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden screens")

func TestTheEmptyPatternKeepsTheOrder(t *testing.T) {
	items := []complete.Item{{Text: "/permissions"}, {Text: "/help"}, {Text: "/go"}}
	for i, it := range complete.Filter("", items, complete.Shortest) {
		if it.Text != items[i].Text {
			t.Errorf("item %d is %s", i, it.Text)
		}
	}
}

func TestPopupScreens(t *testing.T) {
	commands := complete.Filter("e", []complete.Item{
		{Text: "/help", Detail: "keys and commands"},
		{Text: "/model", Detail: "choose the model of the next requests, and the thinking level"},
		{Text: "/export", Detail: "write the session to a file"},
		{Text: "/new"},
	}, complete.Shortest)
	files := complete.Filter("x", []complete.Item{
		{Text: "x.go"}, {Text: "internal/a-long/path/to/a/directory/with/日本語/x_test.go"}, {Text: "hostile\x1b[31m\u202ex\ny"},
	}, complete.Shortest)
	for name, p := range map[string]*complete.Popup{"commands": {Title: "commands"}, "files": {Title: "files 3/1200", Ends: true}, "none": {Title: "files", Empty: "no file matches"}} {
		t.Run(name, func(t *testing.T) {
			p.Set(map[string][]complete.Item{"commands": commands, "files": files}[name])
			p.Down()
			var b strings.Builder
			for _, width := range []int{20, 80, 120} {
				for _, colors := range []string{"plain", "dark"} {
					p.Theme = theme.New(colors, true)
					fmt.Fprintf(&b, "-- %d %s, height %d --\n", width, colors, p.Height(10))
					for _, line := range p.Lines(width, 4) {
						fmt.Fprintf(&b, "%s│\n", strings.ReplaceAll(line, "\x1b", `\e`))
					}
				}
			}
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || b.String() != string(want) {
				t.Errorf("%s differs (%v); got:\n%s", file, err, b.String())
			}
		})
	}
}

func FuzzPopup(f *testing.F) {
	f.Add("a/b.go", "a file", "b", uint8(20), uint8(3))
	f.Add("\x1b]0;x\x07\u202e\u200d👩\u200d👧\t\n日本", "\x9b", "日", uint8(7), uint8(1))
	f.Fuzz(func(t *testing.T, label, detail, pattern string, width, height uint8) {
		for _, ends := range []bool{false, true} {
			p := complete.Popup{Theme: theme.New("dark", true), Title: label, Empty: "none", Ends: ends}
			p.Set(append(complete.Filter(pattern, []complete.Item{{Text: label, Detail: detail}, {Text: detail}}, complete.Match), complete.Item{Text: label + detail}))
			p.Up()
			lines := p.Lines(int(width), int(height))
			if len(lines) > int(height) {
				t.Fatalf("%d lines, not %d", len(lines), height)
			}
			for _, line := range lines {
				if n := ansi.StringWidth(line); n > int(width) {
					t.Fatalf("%q has %d cells, not %d", line, n, width)
				}
				for _, r := range ansi.Strip(line) {
					if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
						t.Fatalf("%q has %q", line, r)
					}
				}
			}
		}
	})
}
