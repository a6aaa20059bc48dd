//go:build linux || darwin

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/session"
)

// shell starts a shell in which tenon is the program of the test.
func (d *desk) shell() {
	d.t.Helper()
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	bin := filepath.Join(d.home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, programName)); err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	cmd.Dir = d.dir
	cmd.Env = append(d.command(d.t.Context()).Env, "PATH="+bin+":"+os.Getenv("PATH"), "PS1=here> ", "INPUTRC="+filepath.Join(d.home, "inputrc"))
	d.write(filepath.Join(d.home, "inputrc"), "set enable-bracketed-paste off\n")
	d.Console = console.Start(d.t, cmd, small, console.Dark)
	d.prompt()
}

// prompt waits until the shell asks for a command, below the texts.
func (d *desk) prompt(texts ...string) console.Screen {
	d.t.Helper()
	return d.Wait(func(s console.Screen) bool {
		for _, t := range texts {
			if !s.Has(t) {
				return false
			}
		}
		return s.Row(s.Y) == "here>"
	}, "the shell and "+strings.Join(texts, ", "))
}

// TestTerminalSuspends stops the program with ctrl+z, uses the shell, and continues.
func TestTerminalSuspends(t *testing.T) {
	t.Parallel()
	d := sit(t, say())
	d.shell()
	d.Send("tenon --model " + modelName + "\r")
	d.Until(ready, status)
	d.Send("half a prompt")
	d.Until("› half a prompt")
	d.Press("ctrl+z")
	d.prompt("Stopped")
	d.restored()
	d.Send("stty -a | grep -o '[-]*icanon\\|[-]*echo ' | tr '\\n' ' '; echo\r")
	d.prompt("icanon echo")
	if d.Screen().Has("-echo") {
		t.Errorf("the terminal does not echo:\n%s", d.Screen())
	}
	d.Send("fg\r")
	s := d.Until("› half a prompt", status)
	if !s.Modes.Alternate || !s.Modes.Paste {
		t.Errorf("after fg the modes are %+v", s.Modes)
	}
	d.Send(" and more")
	d.Until("› half a prompt and more")
	d.Press("enter")
	d.idle(answer)
	d.Press("ctrl+d")
	d.prompt("To continue this session")
	d.restored()
	d.Send("exit\r")
	d.Exit()
}

// TestTerminalWithoutShell presses ctrl+z where no shell could continue the program, as in ssh -t HOST tenon: the program goes on.
func TestTerminalWithoutShell(t *testing.T) {
	t.Parallel()
	d := sit(t, say())
	d.open(d.withModel()...)
	d.Press("ctrl+z")
	d.Until("cannot suspend")
	d.say("Begin")
	d.idle(answer)
	d.leaves()
}

// TestTerminalInterrupts presses ctrl+c: it cancels the run, clears the prompt, and leaves at the second time.
func TestTerminalInterrupts(t *testing.T) {
	t.Parallel()
	t.Run("cancels", func(t *testing.T) {
		t.Parallel()
		d := sit(t, wrong().Fault(modelserver.StallInStream), say())
		d.open(d.withModel()...)
		d.say("Begin")
		d.Until("esc cancels", "An answer of which")
		d.Press("ctrl+c")
		d.idle("cancelled")
		d.leaves()
		if end := ended(t, d.journal()); end.Reason != session.ReasonCancelled {
			t.Errorf("the run ended as %q", end.Reason)
		}
	})
	t.Run("clears", func(t *testing.T) {
		t.Parallel()
		d := sit(t)
		d.open(d.withModel()...)
		d.Send("some text")
		d.Until("› some text")
		d.Press("ctrl+c")
		d.Until(ready)
		d.leaves()
	})
	t.Run("leaves", func(t *testing.T) {
		t.Parallel()
		d := sit(t)
		d.open(d.withModel()...)
		d.Press("ctrl+c")
		d.Until("press ctrl+c again to leave")
		d.Press("ctrl+c")
		if code := d.Exit(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		d.restored()
	})
}

// TestTerminalExitsAtOnce presses ctrl+c three times within half a second during a run.
func TestTerminalExitsAtOnce(t *testing.T) {
	t.Parallel()
	d := sit(t, wrong().Fault(modelserver.StallInStream))
	d.open(d.withModel()...)
	d.say("Begin")
	d.Until("esc cancels")
	d.Press("ctrl+c", "ctrl+c", "ctrl+c")
	if code := d.Exit(); code != 130 {
		t.Errorf("exit code %d, want 130:\n%s", code, d.Screen())
	}
	d.restored()
}

// TestTerminalLeavesNoCommand exits at once during a command that ignores signals. It does not outlive the program.
func TestTerminalLeavesNoCommand(t *testing.T) {
	t.Parallel()
	d := sit(t)
	d.open(d.withModel("--mode", "yolo")...)
	d.Send(`!trap "" TERM INT HUP; echo $$ > pid; echo begun; exec sleep 600` + "\r")
	d.Until("esc cancels")
	var pid string
	d.Wait(func(console.Screen) bool {
		data, err := os.ReadFile(filepath.Join(d.dir, "pid"))
		pid = strings.TrimSpace(string(data))
		return err == nil && pid != ""
	}, "the command")
	d.Press("ctrl+c", "ctrl+c", "ctrl+c")
	if code := d.Exit(); code != 130 {
		t.Errorf("exit code %d, want 130:\n%s", code, d.Screen())
	}
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(number, 0) == nil; {
		if time.Now().After(deadline) {
			_ = syscall.Kill(number, syscall.SIGKILL)
			t.Fatal("the command outlives the program")
		}
		runtime.Gosched()
	}
}

// TestTerminalIsKilled kills the program with an open question. The next one shows the question again, and its answer counts.
func TestTerminalIsKilled(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Say("I write it.").Call("write", writeNew), modelserver.Say("It is written."))
	d.open(d.withModel()...)
	d.say("Write the file")
	d.asks("new.txt?")
	d.Kill()

	d.start(small, console.Dark, "--continue")
	d.asks("new.txt?")
	d.Until("› Write the file", "I write it.")
	if d.file("new.txt") != "" {
		t.Error("the file was written without an answer")
	}
	d.Press("y")
	d.idle("It is written.")
	if d.file("new.txt") != "hello\nworld\n" {
		t.Errorf("the file is %q", d.file("new.txt"))
	}
	d.leaves()
}

// leavesInOrder leaves a terminal whatever it shows, and checks the session.
func (d *desk) leavesInOrder() {
	d.t.Helper()
	d.Signal(syscall.SIGTERM)
	d.Exit()
	d.restored()
	if r := d.tenon("sessions", "check"); r.code != 0 {
		d.t.Errorf("%s%s", r.stdout, r.stderr)
	}
}

// TestTerminalHangsUp closes the terminal during a run. Everything that was said is in the session.
func TestTerminalHangsUp(t *testing.T) {
	t.Parallel()
	d := sit(t, wrong().Fault(modelserver.StallInStream), say())
	d.open(d.withModel()...)
	d.say("Begin")
	d.Until("An answer of which", "esc cancels")
	d.Hangup()
	if r := d.tenon("sessions", "check"); r.code != 0 {
		t.Errorf("%s%s", r.stdout, r.stderr)
	}
	ended(t, d.journal())
	d.open("--continue")
	d.Until("› Begin")
	d.say("again")
	d.idle(answer)
	d.leaves()
}

// TestTerminalIsAskedToEnd restores the terminal at SIGTERM, within a run and without one.
func TestTerminalIsAskedToEnd(t *testing.T) {
	t.Parallel()
	d := sit(t, wrong().Fault(modelserver.StallInStream))
	d.open(d.withModel()...)
	d.leavesInOrder()
	d.open(d.withModel()...)
	d.say("Begin")
	d.Until("An answer of which", "esc cancels")
	d.leavesInOrder()
	ended(t, d.journal())
}

// TestTerminalResizes draws at every size, and remembers what was typed.
func TestTerminalResizes(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Say(strings.Repeat("A long answer of many words. ", 40)))
	d.open(d.withModel()...)
	d.say("Tell me")
	d.idle("A long answer")
	d.Send("a draft")
	d.Until("› a draft")
	for _, size := range [][2]int{{1, 1}, {2, 3}, {10, 4}, {300, 100}, {20, 5}, {1, 50}, {500, 1}, {80, 24}} {
		d.Resize(size[0], size[1])
		d.Press("x") // it is alive
	}
	s := d.Until("› a draftxxxxxxxx", "A long answer", status)
	if len(s.Lines) != 24 || s.Width() != 80 {
		t.Errorf("%d lines of %d columns", len(s.Lines), s.Width())
	}
	d.Press("ctrl+u")
	d.leaves()
}

// TestNoTerminal prints a sensible text where no terminal can be shown.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	d := sit(t)
	r := d.tenon()
	if r.code != 0 || !strings.Contains(r.stdout, "Usage:") || strings.Contains(r.stdout, "\x1b") {
		t.Errorf("without a terminal: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, args := range [][]string{{"--continue"}, {"--session", "abc"}, {"--inline"}} { // a script must see that nothing was opened
		if r := d.tenon(args...); r.code != 2 || !strings.Contains(r.stderr, "cli.usage") || r.stdout != "" {
			t.Errorf("%q without a terminal: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	d.env = append(d.env, "TERM=dumb")
	d.start(small, console.Silent)
	d.Exit()
	if s := d.Screen(); !strings.Contains(strings.Join(s.Above, "\n")+s.String(), "Usage:") || strings.Contains(d.Raw(), "\x1b") {
		t.Errorf("in a dumb terminal:\n%s", s)
	}
}

// TestTerminalThatAnswersNothing works without any reply to a query, and without color.
func TestTerminalThatAnswersNothing(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Say("A **strong** word and `code`."))
	d.env = append(d.env, "NO_COLOR=1", "TERM=xterm")
	d.start(small, console.Silent, d.withModel()...)
	d.Until(ready, status)
	d.say("Tell me")
	d.idle("A strong word and `code`.") // marks say what color cannot
	d.Paste("two\nlines")
	d.Until("› two", "lines")
	d.Press("ctrl+c")
	d.Until(ready)
	for y, l := range d.Screen().Lines {
		for x, c := range l {
			if c.Style.Foreground != "" || c.Style.Background != "" {
				t.Fatalf("line %d has a color in column %d: %+v", y, x, c)
			}
		}
	}
	d.leaves()
}

// TestTerminalShowsHostileText gives escape sequences to everything that the screen shows. None of them reaches the terminal.
func TestTerminalShowsHostileText(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b]52;c;b3duZWQ=\x07\u202eright to left\u202c\u009b5i"
	d := sit(t,
		modelserver.Think(hostile).Say("I say "+hostile).Call("read", `{"path":"hostile.txt"}`),
		modelserver.Call("shell", `{"command":"printf '\\033]0;owned\\007\\033[2J\\033[5i'; cat hostile.txt"}`),
		modelserver.Say("The end. "+hostile),
	)
	d.write(filepath.Join(d.dir, "hostile.txt"), hostile+"\n"+hostile+"\n")
	d.write(filepath.Join(d.dir, "\x1b[31mname\x1b]0;owned\x07.txt"), "x")
	d.open(d.withModel("--mode", "yolo")...)
	d.Paste("a prompt with " + strings.ReplaceAll(hostile, "\x1b", ""))
	d.Until("a prompt with")
	d.Press("enter")
	s := d.idle("The end.")
	d.Press("alt+e") // unfold everything
	d.Send("@name")
	d.Press("tab")
	d.Until("@")
	if strings.ContainsFunc(s.Title, unicode.IsControl) || len(s.Clipboard) > 0 {
		t.Errorf("title %q, clipboard %q", s.Title, s.Clipboard)
	}
	raw := d.Raw()
	for _, bad := range []string{"\x1b]0;owned", "\x1b]52", "\x1b[5i", "\u202e", "\u009b", "\x1b[2J\x1b[31mred"} {
		if strings.Contains(raw, bad) {
			t.Errorf("the program wrote %q", bad)
		}
	}
	d.Press("ctrl+c")
	d.Press("ctrl+c")
	d.leavesInOrder()
}
