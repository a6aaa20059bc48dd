package cli

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/term/termtest"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// onTerminal runs a command line in this process, on a terminal, and returns what the terminal then shows.
func onTerminal(t *testing.T, client llm.Client, vars map[string]string, args ...string) (code int, lines []string) {
	t.Helper()
	tty := &termtest.Terminal{Columns: 80}
	vars["TENON_DATA_DIR"] = t.TempDir()
	code = Main(t.Context(), args, command.Env{
		Stdout: tty, Stderr: tty, Client: client,
		Getenv: func(name string) string { return vars[name] },
	})
	return code, termtest.Show(strings.Join(tty.Taken(), ""))
}

// steady makes what differs from run to run the same.
func steady(lines []string) string {
	text := strings.Join(lines, "\n")
	text = regexp.MustCompile(`(session )[0-9a-z]{12}\b`).ReplaceAllString(text, "${1}ID")
	return regexp.MustCompile(`<?\d+(\.\d+)?m?s\b`).ReplaceAllString(text, "TIME")
}

func TestARunOnATerminal(t *testing.T) {
	client := llmtest.New(t, `
		text <intent>look into the file</intent>
		text I look
		text  into it.
		call read {"path":"help.go"}
		---
		call read {"path":"no such file"}
		---
		text It is
		text  the text view.
	`)
	code, lines := onTerminal(t, client, map[string]string{"NO_COLOR": "1"}, "run", "what is it")
	got := steady(lines)
	want := regexp.MustCompile(`^model test/script \(given by the caller\)
I look into it\.
✓ read help\.go · \d+ lines · TIME
✗ read no such file · .*

It is the text view\.
done: 3 turns, \d+ tokens in, \d+ out, TIME, session ID
$`)
	if code != command.ExitDone || !want.MatchString(got) {
		t.Errorf("exit code %d, shows\n%s", code, got)
	}
}

func TestNothingReachesTheTerminalThatItActsOn(t *testing.T) {
	client := llmtest.New(t, `
		text "\x1b]0;owned\x07\x1b[2Jhello\u009b1m"
		call read {"path":"\u001b[31mred\nline.txt"}
		call "no\u001b[1mtool" {}
		---
		text "bye\x1b[0m"
	`)
	tty := &termtest.Terminal{Columns: 80}
	dir := t.TempDir()
	Main(t.Context(), []string{"run", "--debug", "h\x1b[1mi"}, command.Env{
		Stdout: tty, Stderr: tty, Client: client,
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir, "NO_COLOR": "1"}[name] },
	})
	all := strings.Join(tty.Taken(), "")
	if i := strings.IndexFunc(all, func(r rune) bool { return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 }); i >= 0 {
		t.Errorf("a control character in %q", all[max(i-40, 0):min(i+40, len(all))])
	}
	for _, want := range []string{"␛]0;owned␇", "bye␛[0m"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not shown as text", want)
		}
	}
}

func TestWhatGoesToAPipeIsNotChanged(t *testing.T) {
	var out, told bytes.Buffer
	dir := t.TempDir()
	code := Main(t.Context(), []string{"run", "colour"}, command.Env{
		Stdout: &out, Stderr: &told, Client: llmtest.New(t, `text "\x1b[1mbold\x1b[0m"`),
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir}[name] },
	})
	if code != command.ExitDone || out.String() != "\x1b[1mbold\x1b[0m\n" {
		t.Errorf("exit code %d, %q, %q", code, out.String(), told.String())
	}
}

func TestADumbTerminalHasNoStatusLine(t *testing.T) {
	tty := &termtest.Terminal{Columns: 80}
	dir := t.TempDir()
	Main(t.Context(), []string{"run", "hello"}, command.Env{
		Stdout: tty, Stderr: tty, Client: llmtest.New(t, "text Hello."),
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir, "TERM": "dumb"}[name] },
	})
	if all := strings.Join(tty.Taken(), ""); strings.ContainsAny(all, "\x1b\r") {
		t.Errorf("got %q", all)
	}
}

func TestLongLinesOfARunWrapAtWords(t *testing.T) {
	client := llmtest.New(t, `
		call shell {"command":"git push origin main"}
		---
		text Done.
	`)
	_, lines := onTerminal(t, client, map[string]string{"CLICOLOR_FORCE": "1"}, "run", "push")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "denied:") })
	if at < 0 || !strings.HasPrefix(lines[at+1], "    ") {
		t.Fatalf("shows\n%s", strings.Join(lines, "\n"))
	}
	for _, l := range lines[at : at+3] {
		if n := term.Cells(l); n > 80 {
			t.Errorf("%d columns: %q", n, l)
		}
	}
}

func TestAnAnswerThatRestartsOnATerminal(t *testing.T) {
	client := llmtest.New(t, "text \"Half an\\n\\nanswer\\n\"\nreset network \"it broke\"\ntext The whole answer.")
	code, lines := onTerminal(t, client, map[string]string{}, "run", "hello")
	text := strings.Join(lines, "\n")
	for _, want := range []string{"Half an", "! the answer above broke off (test/script: network: it broke); it starts again", "The whole answer."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if code != command.ExitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestAnAnswerThatGoesOnAfterTheLengthLimitIsOneText(t *testing.T) {
	var out bytes.Buffer
	dir := t.TempDir()
	code := Main(t.Context(), []string{"run", "tell a story"}, command.Env{
		Stdout: &out, Stderr: io.Discard,
		Client: llmtest.New(t, "text It was a dark and\nstop length\n---\ntext \" stormy night.\""),
		Getenv: func(name string) string { return map[string]string{"TENON_DATA_DIR": dir}[name] },
	})
	if code != command.ExitDone || out.String() != "It was a dark and stormy night.\n" {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}
