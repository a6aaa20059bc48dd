//go:build linux || darwin

package console_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/internal/testkit/console"
)

// TestMain lets the test binary be a program of Bubble Tea, too.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "tea" {
		if _, err := tea.NewProgram(model{}).Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

var small = console.Size{Width: 40, Height: 10}

// shell starts bash with a prompt that no other text has.
func shell(t *testing.T, size console.Size, answers console.Answers) *console.Console {
	cmd := exec.Command("bash", "--norc", "--noprofile")
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PS1=here> ", "HOME=" + cmd.Dir, "LANG=C.UTF-8", "LC_ALL=C.UTF-8"}
	c := console.Start(t, cmd, size, answers)
	c.Until("here>")
	return c
}

// prompt waits until the shell shows the texts and then asks for the next command.
func prompt(c *console.Console, texts ...string) {
	c.Wait(func(s console.Screen) bool {
		return s.Row(s.Y) == "here>" && !slices.ContainsFunc(texts, func(t string) bool { return !s.Has(t) })
	}, fmt.Sprintf("%q and a prompt", texts))
}

func TestShell(t *testing.T) {
	c := shell(t, small, console.Dark)
	c.Send("stty size; tty -s && echo a terminal\r")
	prompt(c, "10 40", "a terminal")
	c.Resize(50, 12)
	c.Send("stty size\r")
	prompt(c, "12 50")

	c.Send("echo helo")
	c.Press("left", "l", "enter")
	prompt(c, "hello")
	c.Send("sh -c 'echo begin; exec sleep 1000'; echo never\r") // the interrupt must reach the command, and not the shell between two commands
	c.Wait(func(s console.Screen) bool { return s.Row(s.Y-1) == "begin" }, "the command to begin")
	c.Press("ctrl+c")
	prompt(c, "^C")
	c.Send("echo code $?\r")
	prompt(c, "code 130")

	c.Send(`printf '\033]0;a title\a\033[1;31mred\033[0m 日本 e\xcc\x81.\n'` + "\r")
	s := c.Wait(func(s console.Screen) bool {
		return s.Title == "a title" && s.Has("red 日本 e\u0301.") && s.Row(s.Y) == "here>"
	}, "the title and the text")
	x, y, _ := s.Find("red 日本 e\u0301.")
	if cell := s.Lines[y][x]; cell.Style.Foreground != "1" || !cell.Style.Bold {
		t.Errorf("the style is %+v", cell.Style)
	}
	if x, _, _ := s.Find("e\u0301."); x != 9 {
		t.Errorf("the character after two wide ones is in column %d", x)
	}
	c.Send("exit 7\r")
	if code := c.Exit(); code != 7 {
		t.Errorf("exit code %d", code)
	}
	if u := c.Unknown(); u != nil {
		t.Errorf("unknown sequences: %q", u)
	}
}

// TestScrolledLines keeps what left the screen at its top, in order.
func TestScrolledLines(t *testing.T) {
	c := shell(t, small, console.Dark)
	c.Send("clear; for i in $(seq 1 30); do echo line $i; done\r")
	s := c.Until("line 30", "here>")
	if above := strings.Join(s.Above, "\n"); !strings.HasSuffix(above, "line 20\nline 21") || s.Row(0) != "line 22" {
		t.Errorf("above the screen:\n%s\nand on it:\n%s", above, s)
	}
}

func TestVi(t *testing.T) {
	vi, err := exec.LookPath("vim")
	if err != nil {
		t.Skip("vim is not installed")
	}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Repeat("a line of text\n", 50)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(vi, "-u", "NONE", "-i", "NONE", "-n", "text")
	cmd.Dir = filepath.Dir(file)
	cmd.Env = []string{"LANG=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	c := console.Start(t, cmd, small, console.Dark)
	s := c.Until("a line of text", "50 lines")
	if !s.Modes.Alternate || s.Count("a line of text") != 9 {
		t.Errorf("alternate: %v\n%s", s.Modes.Alternate, s)
	}
	c.Send("ggOtop\x1b")
	c.Wait(func(s console.Screen) bool { return s.Row(0) == "top" && s.Row(1) == "a line of text" }, "a new first line")
	c.Send("3dd")
	c.Wait(func(s console.Screen) bool { return s.Row(0) == "a line of text" }, "the line to go away")
	c.Press("pgdown", "pgup", "G")
	c.Send("othe end\x1b")
	c.Until("the end")
	c.Send(":wq\r")
	if code := c.Exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if s := c.Screen(); s.Modes.Alternate || s.Modes.CursorHidden {
		t.Errorf("vi left the terminal in %+v", s.Modes)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasSuffix(string(text), "text\nthe end\n") {
		t.Errorf("%v: %q", err, text)
	}
}

func TestLess(t *testing.T) {
	c := shell(t, small, console.Dark)
	c.Send("seq 1 100 | less -X; echo done\r")
	c.Until("9", ":")
	c.Press("down", "down")
	s := c.Wait(func(s console.Screen) bool { return s.Row(8) == "11" }, "two lines more")
	if s.Row(0) != "3" {
		t.Errorf("%s", s)
	}
	c.Press("up")
	c.Wait(func(s console.Screen) bool { return s.Row(0) == "2" && s.Row(8) == "10" }, "one line less")
	c.Press("q")
	c.Until("done")
}

func TestEnds(t *testing.T) {
	c := shell(t, small, console.Dark)
	c.Kill()
	if code := c.Exit(); code != 128+9 {
		t.Errorf("exit code %d after SIGKILL", code)
	}
	c = shell(t, small, console.Dark)
	if code := c.Hangup(); code != 128+int(syscall.SIGHUP) {
		t.Errorf("exit code %d after the end of the terminal", code)
	}
}

// recorder is a test that fails without an end.
type recorder struct {
	*testing.T
	failed string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	panic(r)
}

// TestAFailedWait shows the screen and says why.
func TestAFailedWait(t *testing.T) {
	r := &recorder{T: t}
	c := console.Start(r, exec.Command("echo", "hello"), small, console.Dark)
	defer func() {
		if recover() != r || !strings.Contains(r.failed, `waiting for ["other"]: the program has closed the terminal`) || !strings.Contains(r.failed, "|hello ") {
			t.Errorf("it says %s", r.failed)
		}
	}()
	c.Until("other")
}

// model is a program of Bubble Tea that shows the last message of a person, the color of the background and the size.
type model struct {
	last, background string
	size             tea.WindowSizeMsg
	inline           bool
}

func (m model) Init() tea.Cmd { return tea.RequestBackgroundColor }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size = msg
	case tea.BackgroundColorMsg:
		m.background = map[bool]string{true: "dark", false: "light"}[msg.IsDark()]
	case tea.PasteMsg:
		m.last = "pasted " + strings.ReplaceAll(msg.Content, "\r", "|")
	case tea.MouseClickMsg:
		m.last = fmt.Sprintf("click %d,%d", msg.X, msg.Y)
	case tea.FocusMsg:
		m.last = "focus"
	case tea.KeyPressMsg:
		m.last = "key " + msg.String()
		switch msg.String() {
		case "q":
			return m, tea.Quit
		case "i":
			m.inline = !m.inline
		case "c":
			return m, tea.SetClipboard("copied")
		case "s":
			return m, tea.Suspend
		}
	}
	return m, nil
}

func (m model) View() tea.View {
	var b strings.Builder
	fmt.Fprintf(&b, "last: %s\nbackground: %s\nsize: %dx%d\n", m.last, m.background, m.size.Width, m.size.Height)
	for i := range max(0, m.size.Height-5) {
		fmt.Fprintf(&b, "\x1b[3%dm%s\x1b[m 日本語 👩‍👩‍👧 e\u0301 %d\n", i%8, strings.Repeat("=", i), i)
	}
	b.WriteString("\x1b]8;;https://example.com\x1b\\the end\x1b]8;;\x1b\\")
	v := tea.NewView(b.String())
	v.AltScreen, v.ReportFocus, v.MouseMode, v.WindowTitle = !m.inline, true, tea.MouseModeCellMotion, "tea; time"
	v.ProgressBar = tea.NewProgressBar(tea.ProgressBarDefault, 42)
	v.Cursor = tea.NewCursor(3, 1)
	return v
}

func brew(t *testing.T, answers console.Answers, env ...string) *console.Console {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args[0] = "tea"
	cmd.Env = append([]string{"HOME=" + t.TempDir(), "COLORTERM=truecolor", "LANG=C.UTF-8"}, env...)
	return console.Start(t, cmd, console.Size{Width: 60, Height: 20}, answers)
}

func TestBubbleTea(t *testing.T) {
	for name, answers := range map[string]console.Answers{"dark": console.Dark, "light": console.Light, "": console.Silent} {
		t.Run(name, func(t *testing.T) {
			c := brew(t, answers)
			s := c.Until("the end", "size: 60x20", strings.TrimSpace("background: "+name))
			if s.Title != "tea; time" || !s.Modes.Alternate || !s.Modes.Paste || !s.Modes.Mouse || s.X != 3 || s.Y != 1 || s.Progress != "1;42" {
				t.Errorf("title %q, cursor %d,%d, progress %q, %+v", s.Title, s.X, s.Y, s.Progress, s.Modes)
			}
			if modern := answers != console.Silent; (s.Modes.Keyboard != 0) != modern {
				t.Errorf("the keyboard's flags are %d", s.Modes.Keyboard)
			}
			x, y, _ := s.Find("the end")
			if link := s.Lines[y][x].Link; link != "https://example.com" {
				t.Errorf("the link is %q", link)
			}
			for _, k := range []string{"a", "ctrl+c", "esc", "enter", "shift+tab", "up", "f1", "f5", "pgdown", "alt+x", "ctrl+shift+left", "delete", "home"} {
				c.Press(k)
				c.Until("last: key " + k)
			}
			if answers != console.Silent {
				for _, k := range []string{"shift+enter", "ctrl+enter", "alt+enter", "ctrl+1"} {
					c.Press(k)
					c.Until("last: key " + k)
				}
			}
			c.Paste("two\nlines\x1b[31m")
			c.Until("last: pasted two|lines")
			c.Click(0, 5, 6)
			c.Until("last: click 5,6")
			c.Focus(true)
			c.Until("last: focus")

			c.Resize(1, 1)
			c.Wait(func(s console.Screen) bool { return len(s.Lines) == 1 }, "a screen of one cell")
			c.Resize(70, 25)
			c.Until("size: 70x25", "the end")
			c.Press("c")
			c.Wait(func(s console.Screen) bool { return len(s.Clipboard) == 1 && s.Clipboard[0] == "copied" }, "the copy")

			c.Press("i")
			c.Wait(func(s console.Screen) bool { return !s.Modes.Alternate && s.Has("the end") }, "the main screen")
			c.Press("q")
			if code := c.Exit(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if s := c.Screen(); s.Modes != (console.Modes{}) {
				t.Errorf("it left %+v", s.Modes)
			}
			if u := c.Unknown(); u != nil {
				t.Errorf("unknown sequences: %q", u)
			}
		})
	}
}
