//go:build linux || darwin

package e2e_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

var update = flag.Bool("update", false, "write the golden screens")

// durations vary; the blanks after them fill a column.
var durations = regexp.MustCompile(` <?\d+(\.\d+)?m?s\b *`)

// picture is what a screen shows: its lines, and the styles of their characters.
type picture struct {
	lines  []string
	legend string   // a letter for each style
	styles []string // a row for each line: letters with the number of characters; "." has no style
}

// picture returns what a screen shows, without what varies.
func (d *desk) picture(s console.Screen) (p picture) {
	letters, legend := map[console.Style]string{{}: "."}, []string{}
	for _, line := range s.Lines {
		text, styles := d.steady(line)
		p.lines = append(p.lines, strings.TrimRight(text, " "))
		var row []string
		n, before := 0, ""
		for i, r := range text + "\x00" {
			letter := ""
			if r != 0 {
				style := styles[i]
				if letter = letters[style]; letter == "" {
					letter = string(rune('a' + len(legend)))
					letters[style] = letter
					legend = append(legend, letter+" "+described(style))
				}
			}
			if letter != before && n > 0 {
				row = append(row, before+strconv.Itoa(n))
				n = 0
			}
			n, before = n+1, letter
		}
		if k := len(row); k > 0 && row[k-1][0] == '.' {
			row = row[:k-1]
		}
		p.styles = append(p.styles, strings.Join(row, " "))
	}
	p.legend = strings.Join(legend, "; ")
	return p
}

// steady returns the text of a line without what varies, and the style of each of its bytes. A blank has the style of the character before it
// if both look the same.
func (d *desk) steady(line console.Line) (text string, styles []console.Style) {
	var b strings.Builder
	var last console.Style
	for _, c := range line {
		if c.Tail {
			continue
		}
		style := c.Style
		if c.Text = cmp.Or(c.Text, " "); c.Text == " " && invisible(style) {
			if style = (console.Style{}); invisible(last) {
				style = last
			}
		}
		last = style
		b.WriteString(c.Text)
		styles = append(styles, slices.Repeat([]console.Style{style}, len(c.Text))...)
	}
	for len(styles) > 0 && b.String()[len(styles)-1] == ' ' && invisible(styles[len(styles)-1]) {
		styles = styles[:len(styles)-1]
		text = b.String()[:len(styles)]
		b.Reset()
		b.WriteString(text)
	}
	text = strings.ReplaceAll(b.String(), d.home, "/home/me/at/some/place") // both have the same length
	for _, at := range slices.Backward(durations.FindAllStringIndex(text, -1)) {
		usual := " 12ms"
		if strings.HasSuffix(text[at[0]:at[1]], " ") {
			usual = fmt.Sprintf("%-*s", at[1]-at[0], usual)
		}
		text = text[:at[0]] + usual + text[at[1]:]
		styles = slices.Replace(styles, at[0], at[1], slices.Repeat([]console.Style{styles[at[0]]}, len(usual))...)
	}
	return text, styles
}

// invisible reports whether a blank looks the same with the style as without it.
func invisible(s console.Style) bool {
	return s.Background == "" && !s.Underline && !s.Reverse && !s.Strike
}

// described is a style in words.
func described(s console.Style) string {
	var words []string
	for _, w := range []struct {
		word string
		on   bool
	}{
		{string(s.Foreground), s.Foreground != ""},
		{"on " + string(s.Background), s.Background != ""},
		{"bold", s.Bold},
		{"dim", s.Dim},
		{"italic", s.Italic},
		{"underline", s.Underline},
		{"blink", s.Blink},
		{"reverse", s.Reverse},
		{"strike", s.Strike},
	} {
		if w.on {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, " ")
}

// section is the part of a golden file for one look: the legend, the lines that differ from the text of the file, and the styles, unless
// they are those of the dark look.
func (p picture) section(look string, lines, dark []string) string {
	out := []string{"== " + look + ": " + p.legend}
	for i, line := range p.lines {
		if i >= len(lines) || line != lines[i] {
			out = append(out, fmt.Sprintf("%2d ~ %s", i+1, line))
		}
	}
	if slices.Equal(p.styles, dark) {
		return strings.Join(append(out, "styles as in the dark look"), "\n") + "\n"
	}
	for i, row := range p.styles {
		if row != "" {
			out = append(out, fmt.Sprintf("%2d | %s", i+1, row))
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// album collects pictures of a screen in all looks, for -update.
type album struct {
	mu  sync.Mutex
	all map[string]map[string]picture // by the name of the file and the look
}

func (a *album) add(name, look string, p picture) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[name] == nil {
		a.all[name] = map[string]picture{}
	}
	a.all[name][look] = p
}

// write writes the golden files.
func (a *album) write(t *testing.T) {
	for name, by := range a.all {
		dark := by["dark"]
		text := strings.Join(dark.lines, "\n") + "\n" + dark.section("dark", dark.lines, nil)
		for _, look := range []string{"light", "none"} {
			text += by[look].section(look, dark.lines, dark.styles)
		}
		if err := os.WriteFile(goldenFile(name), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func goldenFile(name string) string { return filepath.Join("testdata", "terminal", name+".txt") }

// golden waits until the screen is that of a file below testdata/terminal: its text, and its styles in a look. With -update it takes a picture
// as soon as the screen has the texts.
func (d *desk) golden(a *album, name, look string, texts ...string) {
	d.t.Helper()
	if *update {
		a.add(name, look, d.picture(d.settled(texts...)))
		return
	}
	file, err := os.ReadFile(goldenFile(name))
	if err != nil {
		d.t.Fatal(err)
	}
	text, rest, _ := strings.Cut(string(file), "\n== ")
	var want string
	var dark []string
	for part := range strings.SplitSeq(rest, "\n== ") {
		if part = "== " + strings.TrimSuffix(part, "\n") + "\n"; strings.HasPrefix(part, "== "+look+":") {
			want = part
		}
		if strings.HasPrefix(part, "== dark:") && look != "dark" {
			dark = rowsOf(part, strings.Count(text, "\n")+1)
		}
	}
	var differ string
	d.t.Cleanup(func() {
		if d.t.Failed() && differ != "" {
			d.t.Logf("%s, %s: the first line that differs:\n%s", name, look, differ)
		}
	})
	d.Wait(func(s console.Screen) bool {
		got := d.picture(s).section(look, strings.Split(text, "\n"), dark)
		differ = ""
		if got != want {
			g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
			i := 0
			for i < len(g)-1 && i < len(w)-1 && g[i] == w[i] {
				i++
			}
			differ = fmt.Sprintf("got  %q\nwant %q", g[i], w[i])
		}
		return got == want
	}, "the screen of "+goldenFile(name)+", look "+look+"; if it is right that it changed, run go test ./internal/e2e -run TestTerminalLooks -update")
}

// rowsOf returns the styles of the lines in a section.
func rowsOf(section string, lines int) []string {
	rows := make([]string, lines)
	for line := range strings.Lines(section) {
		number, row, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if i, err := strconv.Atoi(strings.TrimSpace(number)); ok && err == nil && i <= lines {
			rows[i-1] = row
		}
	}
	return rows
}

// settled waits for texts, and for the state of each proposed call.
func (d *desk) settled(texts ...string) console.Screen {
	d.t.Helper()
	return d.Wait(func(s console.Screen) bool {
		return !s.Has("○") && !slices.ContainsFunc(texts, func(t string) bool { return !s.Has(t) })
	}, fmt.Sprintf("%q", texts))
}

// TestTerminalLooks compares the main screens of a session with files, at the sizes that people use, on a dark and a light background and
// without color.
func TestTerminalLooks(t *testing.T) {
	t.Parallel()
	a := &album{all: map[string]map[string]picture{}}
	if *update {
		t.Cleanup(func() { a.write(t) })
	}
	for _, size := range []console.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 60}} {
		for _, look := range []string{"dark", "light", "none"} {
			name := func(state string) string { return fmt.Sprintf("%s-%dx%d", state, size.Width, size.Height) }
			t.Run(look+name(""), func(t *testing.T) {
				t.Parallel()
				d := sit(t,
					modelserver.Think("The file may tell.").Say("I look at the fact first.").Call("Read", `{"file_path":"fact.txt"}`),
					modelserver.Call("Write", `{"file_path":"new.txt","content":"hello\nworld\n"}`),
					modelserver.Say("## Keys\n\nThere are **seventeen** keys:\n\n| metal | keys |\n|---|---|\n| brass | 12 |\n| iron | 5 |\n\n```go\nfunc keys() int { return 17 }\n```\n"),
				)
				answers := map[string]console.Answers{"light": console.Light}[look]
				if look == "none" {
					d.env = append(d.env, "NO_COLOR=1")
				}
				d.start(size, answers, d.withModel()...)
				d.golden(a, name("start"), look, ready, status, "~/project", "Tenon")
				d.say("How many keys are there? Write them down.")
				d.golden(a, name("permission"), look, "new.txt?", "y once", "$0.0005 · ~/project")
				d.Press("n")
				d.golden(a, name("answer"), look, ready, "Keys", "done · 3 turns", "$0.0008 · ~/project")
				d.Press("f1")
				d.golden(a, name("help"), look, "─ Help ─", "esc close")
				d.Press("esc")
				d.Gone("─ Help ─")
				d.Press("ctrl+p")
				d.golden(a, name("palette"), look, "─ Commands ─", "esc close")
				d.Press("esc")
				d.Gone("─ Commands ─")
				d.leaves()
			})
		}
	}
}

// TestTerminalAttach opens a second terminal on a session that is open in the first. Both see the question, and one of them answers it.
func TestTerminalAttach(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Call("write", writeNew), modelserver.Say("So be it."), modelserver.Say("Hello, both."))
	d.open(d.withModel()...)
	d.say("Write the file")
	d.asks("new.txt?")
	first := d.Console
	second := console.Start(t, d.command(t.Context(), "attach"), small, console.Dark)
	second.Until("› Write the file", "new.txt?", "y once")
	second.Press("y")
	second.Until("So be it.")
	d.Console = first
	d.idle("So be it.")
	if d.file("new.txt") == "" {
		t.Error("the file was not written")
	}
	second.Send("Who is there?")
	second.Until("› Who is there?")
	second.Press("enter")
	d.idle("Who is there?", "Hello, both.")
	second.Until("Hello, both.", ready)
	second.Press("ctrl+d")
	if code := second.Exit(); code != 0 {
		t.Errorf("the second terminal: exit code %d\n%s", code, second.Screen())
	}
	d.Press("x", "ctrl+u") // the first one lives on
	d.leaves()
}
