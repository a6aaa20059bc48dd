//go:build linux || darwin

package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// small is the size of a terminal that was opened without a thought.
var small = console.Size{Width: 80, Height: 24}

// desk is a person at a terminal: a project to work in, a model that answers by a script, and the program.
type desk struct {
	*project
	*console.Console
	model *modelserver.Server

	mu     sync.Mutex
	asked  int // requests that the model got
	script []modelserver.Step
	holds  map[int]chan struct{} // the model answers these requests when the channel is closed
}

// sit prepares a project and the model.
func sit(t testing.TB, script ...modelserver.Step) *desk {
	t.Helper()
	d := &desk{project: newProject(t), script: script, holds: make(map[int]chan struct{})}
	home := fmt.Sprintf("/tmp/t%016x", rand.Uint64()) // a name of the same length each time, so that lines break at the same words
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	d.home, d.dir, d.data = home, filepath.Join(home, "project"), filepath.Join(home, "data")
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.write(filepath.Join(d.dir, "fact.txt"), fact+"\n")
	d.model = wayOf(t, "anthropic").serve(d.project, modelserver.Func(d.answer))
	d.env = append(d.env, "PATH="+os.Getenv("PATH"), "LANG=C.UTF-8", "COLORTERM=truecolor", "SHELL=/bin/sh")
	t.Cleanup(func() {
		if v := d.model.Violations(); len(v) > 0 {
			t.Errorf("the model got wrong requests: %v", v)
		}
	})
	return d
}

// answer plays the script, one step for each request.
func (d *desk) answer(*modelserver.Request) modelserver.Step {
	d.mu.Lock()
	i := d.asked
	d.asked++
	held := d.holds[i]
	d.mu.Unlock()
	if held != nil {
		<-held
	}
	if i >= len(d.script) {
		return modelserver.Say("There is nothing left to say.")
	}
	return d.script[i]
}

// hold lets the model wait with the answer to request i until the returned function is called.
func (d *desk) hold(i int) (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	held := make(chan struct{})
	d.holds[i] = held
	release = sync.OnceFunc(func() { close(held) })
	d.t.Cleanup(release)
	return release
}

const (
	modelName = "anthropic/claude-sonnet-4-6"
	ready     = "Ask, or / for commands" // the hint of an empty prompt
	status    = "ask · " + modelName     // the beginning of the status line
)

// open starts the program and waits until it takes prompts.
func (d *desk) open(args ...string) {
	d.t.Helper()
	d.start(small, console.Dark, args...)
	d.Until(ready, modelName)
}

// start starts the program.
func (d *desk) start(size console.Size, answers console.Answers, args ...string) {
	d.t.Helper()
	d.Console = console.Start(d.t, d.command(d.t.Context(), args...), size, answers)
}

// command is the program with the model of the test, unless it continues a session.
func (d *desk) withModel(args ...string) []string {
	return append([]string{"--model", modelName}, args...)
}

// say types a prompt and sends it.
func (d *desk) say(text string) {
	d.t.Helper()
	d.Send(text)
	d.Until(lastLine(text))
	d.Press("enter")
}

func lastLine(text string) string { return text[strings.LastIndex(text, "\n")+1:] }

// asks waits for a dialog with a question that takes keys.
func (d *desk) asks(question string) console.Screen {
	d.t.Helper()
	return d.Until(question, "enter choose", "y once")
}

// idle waits until no run is on: the prompt is empty and nothing says how to cancel.
func (d *desk) idle(texts ...string) console.Screen {
	d.t.Helper()
	return d.Wait(func(s console.Screen) bool {
		return !s.Has("esc cancels") && s.Has(ready) && !slices.ContainsFunc(texts, func(t string) bool { return !s.Has(t) })
	}, "the end of the run, with the texts "+strings.Join(texts, ", "))
}

// leaves presses ctrl+d and checks what the program leaves.
func (d *desk) leaves() {
	d.t.Helper()
	d.Until(ready)
	d.Press("ctrl+d")
	if code := d.Exit(); code != 0 {
		d.t.Errorf("exit code %d:\n%s", code, d.Screen())
	}
	d.restored()
}

// restored checks that the terminal is as it was, and that nothing wrote to it that terminals do not know.
func (d *desk) restored() {
	d.t.Helper()
	if m := d.Screen().Modes; m != (console.Modes{}) {
		d.t.Errorf("the program left the terminal in the modes %+v", m)
	}
	if u := d.Unknown(); u != nil {
		d.t.Errorf("the program wrote sequences that no terminal knows: %q", u)
	}
}

// heard returns the last request to the model.
func (d *desk) heard() string {
	all := d.model.Requests()
	if len(all) == 0 {
		return ""
	}
	return string(all[len(all)-1].Body)
}

// file returns the text of a file of the project; empty if there is none.
func (d *desk) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(d.dir, name))
	return string(text)
}

const writeNew = `{"path":"new.txt","content":"hello\nworld\n"}`

// TestTerminal starts the program, asks a question, reads the answer, and leaves.
func TestTerminal(t *testing.T) {
	t.Parallel()
	d := sit(t,
		modelserver.Think("The file may tell.").Say("I look.").Call("read", readFact),
		modelserver.Say("## Keys\n\nThere are **seventeen** keys:\n\n- brass\n- iron\n\n```go\nfunc keys() int { return 17 }\n```\n"),
	)
	d.start(small, console.Dark, d.withModel()...)
	s := d.Until(ready, status, "~/project")
	if !s.Modes.Alternate || !s.Modes.Paste || s.Row(s.Y) != "› "+ready+", @ for files, ! to run a command" || s.X != 2 {
		t.Errorf("the cursor is at %d,%d, the modes are %+v\n%s", s.X, s.Y, s.Modes, s)
	}
	d.say("How many keys?")
	s = d.idle("› How many keys?", "Thought", "I look.", "fact.txt", "Keys", "There are seventeen keys:", "brass", "func keys() int { return 17 }", "done · 2 turns")
	if s.Has("**") || s.Has("##") || s.Has("```") {
		t.Errorf("the screen shows the marks of Markdown:\n%s", s)
	}
	if x, y, _ := s.Find("seventeen"); !s.Lines[y][x].Style.Bold {
		t.Errorf("the strong word is %+v", s.Lines[y][x].Style)
	}
	d.leaves()
	if !d.Screen().Has("To continue this session: tenon --session " + d.session()) {
		t.Errorf("it leaves with\n%s", d.Screen())
	}
}

// TestTerminalStreams shows the part of an answer that arrived, and esc cancels the rest. The next prompt works.
func TestTerminalStreams(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Say("The **first** part arrives soon.\n\nThe second never does, because the server says nothing more at all.").Fault(modelserver.StallInStream), say())
	d.open(d.withModel()...)
	d.say("Tell me")
	d.Until("The first part arrives soon.", "esc cancels")
	d.Press("esc")
	s := d.idle("The first part arrives soon.", "cancelled")
	if s.Has("never does") {
		t.Errorf("%s", s)
	}
	d.say("Again")
	d.idle(answer)
	d.leaves()
}

// TestTerminalPermission answers the question about a call in every way.
func TestTerminalPermission(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(d *desk)
		file   string // new.txt afterwards
		hears  string // the model
		rule   string // granted
	}{
		{"once", func(d *desk) { d.Press("y") }, "hello\nworld\n", "", ""},
		{"with enter", func(d *desk) { d.Press("enter") }, "hello\nworld\n", "", ""},
		{"for the session", func(d *desk) { d.Press("down", "enter") }, "hello\nworld\n", "", "write(./new.txt)"},
		{"never", func(d *desk) { d.Press("n") }, "", "denied", ""},
		{"never, with a reason", func(d *desk) {
			d.Press("down", "down", "down", "down", "down")
			d.Until("› Deny with a reason")
			d.Press("enter")
			d.Until("The reason, for the model:")
			d.Send("write it in German")
			d.Press("enter")
		}, "", "write it in German", ""},
		{"edited", func(d *desk) {
			d.Press("e")
			d.Until(`hello\nworld`)
			d.Press("left", "left", "left", "left", "left") // before the last \n
			d.Send("!")
			d.Until(`world!\n`)
			d.Press("enter")
		}, "hello\nworld!\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := sit(t, modelserver.Call("write", writeNew), modelserver.Say("So be it."))
			d.open(d.withModel()...)
			d.say("Write the file")
			s := d.asks("new.txt?")
			for _, want := range []string{"+ hello", "+ world", "› Allow once", "Allow in this session  write(./new.txt)", "Always allow", "Edit the arguments", "Deny with a reason"} {
				if !s.Has(want) {
					t.Errorf("the dialog lacks %q:\n%s", want, s)
				}
			}
			if s.Title == "" || !strings.HasPrefix(s.Title, "?") {
				t.Errorf("the title of the window is %q", s.Title)
			}
			c.answer(d)
			d.idle("So be it.")
			if got := d.file("new.txt"); got != c.file {
				t.Errorf("the file is %q, want %q", got, c.file)
			}
			if heard := d.heard(); !strings.Contains(strings.ToLower(heard), strings.ToLower(c.hears)) {
				t.Errorf("the model heard\n%s", heard)
			}
			d.leaves()
		})
	}
}

// TestTerminalCommandAsks approves a command of the person. The answer starts no run of the model, and /diff shows the file of the command.
func TestTerminalCommandAsks(t *testing.T) {
	t.Parallel()
	d := sit(t, say())
	d.open(d.withModel()...)
	d.Send("!touch made.txt\r")
	d.asks("Run this command?")
	d.Press("y")
	d.Until("✓ shell touch made.txt", ready)
	d.say("Begin")
	if s := d.idle(answer); s.Has("✗") {
		t.Errorf("the answer to a question about a command failed:\n%s", s)
	}
	d.Send("/diff\r")
	d.Until("─ Changed files ─", "› made.txt")
}

// TestTerminalGrant asks once for a command that a person allowed for the session.
func TestTerminalGrant(t *testing.T) {
	t.Parallel()
	call := func(text string) modelserver.Step {
		return modelserver.Call("write", `{"path":"new.txt","content":"`+text+`"}`)
	}
	d := sit(t, call("one"), call("two"), modelserver.Say("Both are written."))
	d.open(d.withModel()...)
	d.say("Write twice")
	d.asks("new.txt?")
	d.Press("down")
	d.Until("› Allow in this session")
	d.Press("enter")
	d.idle("Both are written.")
	if got := d.file("new.txt"); got != "two" {
		t.Errorf("the file is %q", got)
	}
	d.leaves()
}

// TestTerminalQuestion answers a question of the model with an option, and with own words.
func TestTerminalQuestion(t *testing.T) {
	t.Parallel()
	ask := modelserver.Call("AskUserQuestion", `{"questions":[{"question":"Which database?","header":"DB","multiSelect":false,"options":[
		{"label":"Postgres","description":"as the others"},{"label":"SQLite","description":"a file"}]}]}`)
	for name, answer := range map[string]func(d *desk) string{
		"an option": func(d *desk) string { d.Press("down"); d.Until("› SQLite"); return "SQLite" },
		"own words": func(d *desk) string {
			d.Press("down", "down")
			d.Until("› your own answer")
			d.Send("a text file")
			d.Until("a text file")
			return "a text file"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sit(t, ask, modelserver.Say("Understood."))
			d.open(d.withModel()...)
			d.say("Choose")
			d.Until("Which database?", "Postgres", "SQLite", "enter answer")
			want := answer(d)
			d.Press("enter")
			d.idle("Understood.")
			if heard := d.heard(); !strings.Contains(heard, want) {
				t.Errorf("the model heard\n%s", heard)
			}
			d.leaves()
		})
	}
}

// TestTerminalDrafts steers a run with one prompt and queues another for after it.
func TestTerminalDrafts(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Call("read", readFact), modelserver.Say("First answer."), modelserver.Say("Second answer."))
	release := d.hold(0)
	d.open(d.withModel()...)
	d.say("Begin")
	d.Until("esc cancels")
	d.say("then rest")
	d.Until("◷ then rest", ready)
	d.Send("look at the fact")
	d.Until("› look at the fact")
	d.Press("alt+enter")
	d.Until("↳ look at the fact", ready)
	release()
	s := d.idle("› You, meanwhile: look at the fact", "First answer.", "› then rest", "Second answer.")
	_, steered, _ := s.Find("look at the fact")
	_, first, _ := s.Find("First answer.")
	if steered > first || s.Has("◷") || s.Has("↳") {
		t.Errorf("%s", s)
	}
	d.leaves()
}

// TestTerminalUndo undoes a run, redoes it, rewinds it and forks the session.
func TestTerminalUndo(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Call("write", writeNew), modelserver.Say("Written."), modelserver.Say("In the fork."))
	d.open(d.withModel("--mode", "edits")...)
	d.say("Write the file")
	d.idle("Written.")
	if d.file("new.txt") == "" {
		t.Fatal("there is no file")
	}
	d.say("/undo")
	d.Wait(func(s console.Screen) bool { return d.file("new.txt") == "" && s.Has(ready) }, "the file to go away")
	d.say("/redo")
	d.Wait(func(console.Screen) bool { return d.file("new.txt") != "" }, "the file to come back")
	first := d.session()
	d.say("/fork")
	d.Until("Written.", ready)
	d.say("Where am I?")
	d.idle("In the fork.")
	if now := d.session(); now == first {
		t.Errorf("the session is still %s", now)
	}
	d.leaves()
}

// TestTerminalRewind opens the rewind with esc twice, and goes back to before the second prompt.
func TestTerminalRewind(t *testing.T) {
	t.Parallel()
	d := sit(t, modelserver.Say("One."), modelserver.Call("write", writeNew), modelserver.Say("Two."), modelserver.Say("Three."))
	d.open(d.withModel("--mode", "edits")...)
	d.say("first prompt")
	d.idle("One.")
	d.say("second prompt")
	d.idle("Two.")
	d.Press("esc", "esc")
	d.Until("Rewind", "second prompt", "first prompt", "enter choose")
	d.Press("enter")
	d.Until("Files and conversation", "new.txt")
	d.Press("enter")
	d.Wait(func(s console.Screen) bool {
		return d.file("new.txt") == "" && !s.Has("Two.") && s.Has("› second prompt")
	}, "the file and the answer to go away, and the prompt to come back")
	d.Send(", but better")
	d.Press("enter")
	d.idle("› second prompt, but better", "Three.")
	d.leaves()
}
