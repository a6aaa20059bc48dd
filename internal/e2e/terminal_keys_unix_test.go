//go:build linux || darwin

package e2e_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/program"
	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// keyTest presses a key of an action and checks what a person then sees. It leaves the terminal as it found it.
type keyTest struct {
	at    string // the terminal of keyDesks
	press func(d *desk, key string)
	by    func(*testing.T) // instead of both: the test that presses the only key of the action
}

// keyTests has a test for each action of the help.
func keyTests() map[keys.Action]keyTest {
	all := map[keys.Action]keyTest{
		keys.Cancel:    {by: TestTerminalRewind},
		keys.Interrupt: {by: TestTerminalInterrupts},
		keys.Quit:      {by: TestTerminal},
		keys.Suspend:   {by: TestTerminalSuspends},
	}
	for at, tests := range map[string]map[keys.Action]func(d *desk, key string){
		"prompt": promptKeys(), "transcript": transcriptKeys(), "run": runKeys(), "dialogs": dialogKeys(),
	} {
		for a, press := range tests {
			all[a] = keyTest{at: at, press: press}
		}
	}
	return all
}

// keyDesks open the terminals in which TestTerminalKeys presses keys.
var keyDesks = map[string]func(t *testing.T, answers console.Answers) *desk{
	"prompt": func(t *testing.T, answers console.Answers) *desk {
		d := sit(t, modelserver.Say("One."), modelserver.Say("Two."))
		bin := t.TempDir()
		for name, script := range map[string]string{
			"edit": "printf '%s, edited' \"$(cat \"$1\")\" > \"$1\"", "osascript": "exit 1", "pbpaste": "printf 'from the clipboard'",
			"wl-paste": "case $1 in --list-types) echo text/plain;; *) printf 'from the clipboard';; esac",
		} {
			if err := program.Write(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n")); err != nil {
				t.Fatal(err)
			}
		}
		d.env = append(d.env, "PATH="+bin+":/usr/bin:/bin", "WAYLAND_DISPLAY=wayland-0", "VISUAL="+filepath.Join(bin, "edit"))
		d.start(small, answers, d.withModel()...)
		d.Until(ready)
		d.say("first prompt")
		d.idle("One.")
		d.say("second prompt")
		d.idle("Two.")
		return d
	},
	"transcript": func(t *testing.T, answers console.Answers) *desk {
		d := sit(t,
			modelserver.Say("One:\n\n```\ncode of one\n```\n\n"+strings.Repeat("- a line\n", 30)),
			modelserver.Think("I think about it.").Call("read", readFact), modelserver.Say("Two."),
			modelserver.Call("read", `{"path":"long.txt"}`), modelserver.Call("read", `{"path":"long.txt"}`), modelserver.Say("Three."))
		d.write(filepath.Join(d.dir, "long.txt"), strings.Repeat("A line of a long file.\n", 500))
		d.start(small, answers, d.withModel()...)
		d.Until(ready)
		d.say("first prompt")
		d.idle("a line")
		d.say("second prompt")
		d.idle("Two.")
		return d
	},
	"run": func(t *testing.T, answers console.Answers) *desk {
		d := sit(t)
		d.hold(0)
		d.start(small, answers, d.withModel()...)
		d.Until(ready)
		d.say("first prompt")
		d.Until("esc cancels")
		return d
	},
	"dialogs": func(t *testing.T, answers console.Answers) *desk {
		text := `begin\n` + strings.Repeat(`line\n`, 40) + `end\n`
		var script []modelserver.Step
		for i := range 20 {
			script = append(script, modelserver.Call("write", fmt.Sprintf(`{"path":"%d.txt","content":"%s"}`, i, text)), modelserver.Say(fmt.Sprintf("Answer %d.", i)))
		}
		d := sit(t, script...)
		d.start(small, answers, d.withModel()...)
		d.Until(ready)
		return d
	},
}

// TestTerminalKeys presses each key of the help as a terminal sends it, and checks what a person sees. The second terminal lacks the newer
// protocol for keys.
func TestTerminalKeys(t *testing.T) {
	t.Parallel()
	tests := keyTests()
	for _, b := range keys.Defaults() {
		switch test := tests[b.Action]; {
		case test.by == nil && test.press == nil:
			t.Errorf("the action %s (%s) has no test", b.Action, b.Words)
		case test.by != nil && len(b.Keys) != 1:
			t.Errorf("the action %s has the keys %q, and its test presses one", b.Action, b.Keys)
		}
	}
	for terminal, answers := range map[string]console.Answers{"modern": console.Dark, "old": console.Silent} {
		for at, open := range keyDesks {
			t.Run(at+" in a terminal that is "+terminal, func(t *testing.T) {
				t.Parallel()
				d := open(t, answers)
				var now string
				t.Cleanup(func() {
					if t.Failed() {
						t.Log("in the test of the key " + now)
					}
				})
				for _, b := range keys.Defaults() {
					for _, key := range b.Keys {
						if test := tests[b.Action]; test.at == at && !(answers == console.Silent && slices.Contains(newKeys, key)) {
							now = key + ": " + b.Words
							test.press(d, key)
						}
					}
				}
				d.leavesInOrder()
			})
		}
	}
}

// newKeys are the keys that old terminals do not have.
var newKeys = []string{"shift+enter", "ctrl+shift+-"}

// prompts waits until the line of the cursor is a text.
func (d *desk) prompts(text string) {
	d.t.Helper()
	d.Wait(func(s console.Screen) bool { return s.Row(s.Y) == text }, "the line of the cursor to be "+text)
}

// writes types a text, presses keys and types an X. The prompt then has the text want. It empties the prompt.
func (d *desk) writes(text, want string, keys ...string) {
	d.t.Helper()
	d.Send(text)
	d.Press(keys...)
	d.Send("X")
	d.prompts("› " + want)
	d.Press("ctrl+e", "ctrl+u")
	d.Until(ready)
}

func promptKeys() map[keys.Action]func(d *desk, key string) {
	return map[keys.Action]func(d *desk, key string){
		keys.Submit: func(d *desk, key string) {
			d.Send("third prompt")
			d.prompts("› third prompt")
			d.Press(key)
			d.idle("› third prompt", "There is nothing left to say.")
		},
		keys.Newline: func(d *desk, key string) {
			for _, end := range []string{key, "enter"} {
				d.Send(map[string]string{key: "one", "enter": `one\`}[end])
				d.Press(end)
				d.Send("two")
				d.prompts("  two")
				d.Until("› one")
				d.Press("ctrl+u", "backspace", "ctrl+u")
				d.Until(ready)
			}
		},
		keys.Complete: func(d *desk, key string) {
			d.Send("/netw")
			d.Until("hosts that commands may reach")
			d.Press(key)
			d.Send("X")
			d.prompts("› /network X")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.HistoryPrev: func(d *desk, key string) {
			d.Press(key)
			d.prompts("› third prompt")
			d.Press(key)
			d.prompts("› second prompt")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.HistoryNext: func(d *desk, key string) {
			d.Press("up", "up")
			d.prompts("› second prompt")
			d.Press(key)
			d.prompts("› third prompt")
			d.Press(key)
			d.Until(ready)
		},
		keys.HistorySearch: func(d *desk, key string) {
			d.Press(key)
			d.Send("fir")
			d.Until("history: fir")
			d.Press("enter")
			d.prompts("› first prompt")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.External: func(d *desk, key string) {
			d.Send("a draft")
			d.Press(key)
			d.prompts("› a draft, edited")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.PasteImage: func(d *desk, key string) {
			d.Press(key)
			d.prompts("› from the clipboard")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.Undo: func(d *desk, key string) {
			d.Send("one two")
			d.Press("ctrl+w")
			d.prompts("› one")
			d.Press(key)
			d.prompts("› one two")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.Redo: func(d *desk, key string) {
			d.Send("one two")
			d.Press("ctrl+w", "ctrl+_")
			d.prompts("› one two")
			d.Press(key)
			d.prompts("› one")
			d.Press("ctrl+u")
			d.Until(ready)
		},
		keys.LineStart:      func(d *desk, key string) { d.writes("one two", "Xone two", key) },
		keys.LineEnd:        func(d *desk, key string) { d.writes("one two", "one twoX", "left", "left", key) },
		keys.WordLeft:       func(d *desk, key string) { d.writes("one two", "one Xtwo", key) },
		keys.WordRight:      func(d *desk, key string) { d.writes("one two", "oneX two", "home", key) },
		keys.DeleteWord:     func(d *desk, key string) { d.writes("one two", "one X", key) },
		keys.DeleteWordNext: func(d *desk, key string) { d.writes("one two three", "one X three", "home", "alt+right", "right", key) },
		keys.DeleteToEnd:    func(d *desk, key string) { d.writes("one two", "oneX", "home", "alt+right", key) },
		keys.DeleteToStart:  func(d *desk, key string) { d.writes("one two", "Xtwo", "alt+left", key) },
		keys.Yank:           func(d *desk, key string) { d.writes("one two", "one twotwoX", "ctrl+w", key, key) },
	}
}

// opens presses a key that opens a dialog, and closes the dialog.
func opens(title string, texts ...string) func(d *desk, key string) {
	return func(d *desk, key string) {
		d.Press(key)
		d.Until(append(texts, "─ "+title+" ─")...)
		d.Press("esc")
		d.Gone("─ " + title + " ─")
	}
}

// chosen waits until the marked message of the transcript has a text.
func (d *desk) chosen(text string) console.Screen {
	d.t.Helper()
	return d.Wait(func(s console.Screen) bool {
		return slices.ContainsFunc(s.Lines, func(l console.Line) bool {
			return strings.HasPrefix(l.String(), "▌") && strings.Contains(l.String(), text)
		})
	}, "the mark at "+text)
}

// reading presses keys that choose a message of the transcript, does something with it, and returns to the prompt.
func reading(choose []string, text string, do func(d *desk, key string)) func(d *desk, key string) {
	return func(d *desk, key string) {
		d.Press("ctrl+t")
		d.Until("▌")
		d.Press(choose...)
		d.chosen(text)
		do(d, key)
		d.Press("ctrl+t")
		d.Gone("▌")
	}
}

// copies presses a key and waits until the clipboard has a text.
func copies(text string) func(d *desk, key string) {
	return func(d *desk, key string) {
		n := len(d.Screen().Clipboard)
		d.Press(key)
		d.Wait(func(s console.Screen) bool {
			return len(s.Clipboard) > n && strings.TrimSuffix(s.Clipboard[n], "\n") == text
		}, "the clipboard to have "+text)
	}
}

// matches searches for a text in both prompts, and moves from one to the other and back.
func matches(d *desk, key string) {
	d.Press("ctrl+f")
	d.Send("prompt")
	d.Until("2 messages")
	d.Press("enter")
	here, there := "first prompt", "second prompt"
	if s := d.chosen("prompt"); s.Has("▌› second prompt") {
		here, there = there, here
	}
	d.Press(key)
	d.chosen(there)
	d.Press(key)
	d.chosen(here)
	d.Press("esc")
	d.Gone("search:")
	d.Press("esc")
	d.Gone("▌")
}

var results = regexp.MustCompile(`results [0-9.kM]+`)

var clock = regexp.MustCompile(`\d\d:\d\d:\d\d`)

func transcriptKeys() map[keys.Action]func(d *desk, key string) {
	clocks := func(d *desk, shown bool) {
		d.Wait(func(s console.Screen) bool { return clock.MatchString(s.String()) == shown }, "times to appear or to go away")
	}
	return map[keys.Action]func(d *desk, key string){
		keys.Palette: opens("Commands", "› /help", "esc close"),
		keys.Help: func(d *desk, key string) {
			for _, k := range []string{key, "?"} {
				opens("Help", "send the prompt")(d, k)
			}
		},
		keys.Sessions: opens("Sessions", "› first prompt"),
		keys.Agents:   opens("Agents", "This session has no other agents."),
		keys.AgentNext: func(d *desk, key string) { // more in TestTerminalDialogs
			d.Press(key)
			d.Until("no other agent has begun")
		},
		keys.AgentPrev: func(d *desk, key string) { // a remark about something else first
			d.Press("alt+m")
			d.Until("mouse off")
			d.Press("alt+m")
			d.Until("mouse on")
			d.Press(key)
			d.Until("no other agent has begun")
		},
		keys.NewSession: func(d *desk, key string) {
			d.Press(key)
			d.Gone("second prompt")
			d.Until("Tenon v0.0.0-test")
			d.Press("ctrl+s")
			d.Until("first prompt", "ctrl+f fork")
			d.Send("first")
			d.Until("│ › first ", "› first prompt")
			d.Press("enter")
			d.Until("› second prompt", "Two.", ready)
		},
		keys.Models: opens("Models", "› "+modelName),
		keys.Mode: func(d *desk, key string) {
			for _, mode := range []string{"edits", "auto", "plan", "ask"} {
				d.Press(key)
				d.Until(mode + " · " + modelName)
			}
		},
		keys.Thinking: func(d *desk, key string) {
			d.Press(key)
			first := d.Until("thinking ")
			d.Press(key)
			d.Wait(func(s console.Screen) bool { return s.Has("thinking ") && s.String() != first.String() }, "another level")
		},
		keys.Context: opens("Context window", "system prompt"),
		keys.Rewind:  opens("Rewind", "› second prompt", "first prompt"),
		keys.Panel: func(d *desk, key string) {
			d.Resize(120, 24)
			d.Until("│ first prompt")
			d.Press(key)
			d.Gone("│ first prompt")
			d.Press(key)
			d.Until("│ first prompt")
			d.Resize(80, 24)
			d.Gone("│ first prompt")
		},
		keys.ToggleMouse: func(d *desk, key string) {
			d.Press(key)
			d.Wait(func(s console.Screen) bool { return s.Has("mouse off") && !s.Modes.Mouse }, "no mouse")
			d.Press(key)
			d.Wait(func(s console.Screen) bool { return s.Has("mouse on") && s.Modes.Mouse }, "the mouse")
		},
		keys.Redraw: func(d *desk, key string) {
			d.Scribble("\x1b7\x1b[3;3Ha message of another program\x1b8")
			d.Until("a message of another program")
			d.Press(key)
			d.Gone("a message of another program")
		},
		keys.FocusNext: func(d *desk, key string) {
			d.Press(key)
			d.Until("▌")
			d.Press(key)
			d.Gone("▌")
		},
		keys.ScrollUp: func(d *desk, key string) {
			d.Press(key)
			d.Until("more below")
			d.Gone("Two.")
			d.Press("pgdown")
			d.Gone("more below")
		},
		keys.ScrollDown: func(d *desk, key string) {
			d.Press("pgup")
			d.Until("more below")
			d.Press(key)
			d.Gone("more below")
			d.Until("Two.")
		},
		keys.Search: func(d *desk, key string) {
			d.Press(key)
			d.Until("search:")
			d.Send("CODE OF")
			d.Until("search: CODE OF", "1 message", "code of one")
			d.Press("esc")
			d.Gone("search:", "▌")
			d.Press("pgdown", "pgdown", "pgdown")
			d.Until("Two.")
		},
		keys.FoldAll: func(d *desk, key string) {
			d.Press(key)
			d.Until("I think about it.", fact)
			d.Press(key)
			d.Gone("I think about it.", fact)
		},
		keys.Timestamps: func(d *desk, key string) {
			d.Press(key)
			clocks(d, true)
			d.Press(key)
			clocks(d, false)
		},
		keys.ItemPrev: reading(nil, "done", func(d *desk, key string) {
			d.Press(key)
			d.chosen("Two.")
		}),
		keys.ItemNext: reading([]string{"up"}, "Two.", func(d *desk, key string) {
			d.Press(key)
			d.chosen("done")
		}),
		keys.PromptPrev: reading(nil, "done", func(d *desk, key string) {
			d.Press(key)
			d.chosen("› second prompt")
			d.Press(key)
			d.chosen("› first prompt")
		}),
		keys.PromptNext: reading([]string{"[", "["}, "› first prompt", func(d *desk, key string) {
			d.Press(key)
			d.chosen("› second prompt")
		}),
		keys.Top: reading(nil, "done", func(d *desk, key string) {
			d.Press(key)
			d.Until("› first prompt", "more below")
			d.Press("end")
			d.Until("Two.")
		}),
		keys.Bottom: reading([]string{"[", "["}, "› first prompt", func(d *desk, key string) {
			d.Press(key)
			d.Until("Two.")
			d.Gone("more below")
		}),
		keys.Toggle: reading([]string{"up", "up"}, "Thought", func(d *desk, key string) {
			d.Press(key)
			d.Until("I think about it.")
			d.Press(key)
			d.Gone("I think about it.")
		}),
		keys.Copy: reading([]string{"["}, "› second prompt", copies("second prompt")),
		keys.CopyBlock: reading([]string{"["}, "› second prompt", func(d *desk, key string) {
			d.Press("up", "up")
			d.chosen("a line")
			copies("code of one")(d, key)
		}),
		keys.MatchNext: matches,
		keys.MatchPrev: matches,
		keys.Pin: reading([]string{"["}, "› second prompt", func(d *desk, key string) {
			d.Press(key)
			d.Until("pin on: second prompt")
			d.Press(key)
			d.Until("pin off: second prompt")
		}),
		keys.Trim: func(d *desk, key string) {
			d.say("Read the long file twice")
			d.idle("Three.")
			d.Press("alt+c")
			s := d.Until("─ Context window ─", " results ")
			before := results.FindString(s.String())
			d.Press(key)
			d.Wait(func(s console.Screen) bool {
				now := results.FindString(s.String())
				return now != "" && now != before
			}, "another number of tokens for results")
			d.Press("esc")
			d.Gone("─ Context window ─")
		},
		keys.Fork: func(d *desk, key string) {
			d.Press("ctrl+t")
			d.Until("▌")
			d.Press("[")
			d.chosen("› second prompt")
			d.Press(key)
			d.Gone("Two.", "▌")
			d.Until("› second prompt", ready)
		},
	}
}

// queues opens the list of queued prompts with some of them, and removes them all at the end.
func queues(do func(d *desk, key string), texts ...string) func(d *desk, key string) {
	return func(d *desk, key string) {
		for _, text := range texts {
			d.say(text)
			d.Until("◷ "+text, ready)
		}
		d.Press("alt+q")
		d.Until("─ Queued prompts ─")
		do(d, key)
		for s := d.Screen(); !s.Has("No prompt waits."); {
			before := s.Count("│")
			d.Press("ctrl+d")
			s = d.Wait(func(s console.Screen) bool { return s.Has("No prompt waits.") || s.Count("│") < before }, "a prompt to go away")
		}
		d.Press("esc")
		d.Gone("─ Queued prompts ─")
	}
}

// below reports whether a screen shows two texts, the second one below the first.
func below(first, second string) func(s console.Screen) bool {
	return func(s console.Screen) bool {
		_, y, ok := s.Find(first)
		_, z, also := s.Find(second)
		return ok && also && y < z
	}
}

func runKeys() map[keys.Action]func(d *desk, key string) {
	none := func(*desk, string) {}
	return map[keys.Action]func(d *desk, key string){
		keys.Steer: func(d *desk, key string) {
			d.Send("look at this")
			d.prompts("› look at this")
			d.Press(key)
			d.Until("↳ look at this", ready)
			queues(func(d *desk, _ string) { d.Press("ctrl+d") })(d, key)
		},
		keys.Queue: queues(none, "wait a while"),
		keys.Background: func(d *desk, key string) {
			d.say("wait a while")
			d.Until("◷ wait a while", ready)
			d.Press(key)
			d.Until("↳ wait a while")
			queues(func(d *desk, _ string) { d.Until("At the next turn"); d.Press("ctrl+d") })(d, key)
		},
		keys.MoveUp: queues(func(d *desk, key string) {
			d.Press("down")
			d.Until("› wait too")
			d.Press(key)
			d.Wait(below("wait too", "wait a while"), "another order")
		}, "wait a while", "wait too"),
		keys.MoveDown: queues(func(d *desk, key string) {
			d.Until("› wait a while")
			d.Press(key)
			d.Wait(below("wait too", "wait a while"), "another order")
		}, "wait a while", "wait too"),
		keys.Delete: queues(func(d *desk, key string) {
			d.Until("› wait a while")
			d.Press(key)
			d.Until("› wait too")
			d.Gone("wait a while")
		}, "wait a while", "wait too"),
	}
}

// permits lets the model ask whether it may write a file, and answers.
func permits(written bool, do func(d *desk, key string)) func(d *desk, key string) {
	return func(d *desk, key string) {
		n := len(d.model.Requests()) / 2
		name := fmt.Sprintf("%d.txt", n)
		d.say("Write it")
		d.asks("Change " + name + "?")
		do(d, key)
		d.idle(fmt.Sprintf("Answer %d.", n))
		if (d.file(name) != "") != written {
			d.t.Errorf("the key %s: the file is %q", key, d.file(name))
		}
	}
}

// in opens the palette for keys of lists.
func in(do func(d *desk, key string)) func(d *desk, key string) {
	return func(d *desk, key string) {
		d.Press("ctrl+p")
		d.Until("› /help")
		do(d, key)
		d.Press("esc")
		d.Gone("─ Commands ─")
	}
}

func dialogKeys() map[keys.Action]func(d *desk, key string) {
	press := func(d *desk, key string) { d.Press(key) }
	deny := func(d *desk) { d.Press("n") }
	return map[keys.Action]func(d *desk, key string){
		keys.Accept:   permits(true, press),
		keys.AllowKey: permits(true, press),
		keys.DenyKey:  permits(false, press),
		keys.Up: in(func(d *desk, key string) {
			d.Press("down", "down")
			d.Until("› /mode [MODE]")
			d.Press(key)
			d.Until("› /model")
		}),
		keys.Down: in(func(d *desk, key string) {
			d.Press(key)
			d.Until("› /model")
		}),
		keys.PageDown: in(func(d *desk, key string) {
			d.Press(key)
			d.Gone("› /help")
		}),
		keys.PageUp: in(func(d *desk, key string) {
			d.Press("pgdown")
			d.Gone("› /help")
			d.Press(key)
			d.Until("› /help")
		}),
		keys.Edit: permits(false, func(d *desk, key string) {
			d.Press(key)
			d.Until("The new arguments, as JSON:")
			d.Press("esc")
			d.Gone("The new arguments, as JSON:")
			deny(d)
		}),
		keys.Always: permits(false, func(d *desk, key string) {
			d.Press(key)
			d.Until("› Always allow           write(./")
			deny(d)
		}),
		keys.Check: func(d *desk, key string) {
			d.Press("alt+r")
			d.Until("─ Rewind ─", "SENT")
			d.Press("enter")
			d.Until("[ ] also overwrite changes by others")
			d.Press(key)
			d.Until("[✓] also overwrite changes by others")
			d.Press("esc")
			d.Until("› Write it", "SENT")
			d.Press("esc")
			d.Gone("─ Rewind ─")
		},
		keys.Rename: func(d *desk, key string) {
			d.Press("ctrl+s")
			d.Until("─ Sessions ─", "ctrl+r rename")
			d.Press(key)
			d.Until("enter rename")
			d.Press("ctrl+u")
			d.Send("A better name")
			d.Press("enter")
			d.Until("› A better name")
			d.Press("esc")
			d.Gone("─ Sessions ─")
		},
		keys.ForkRow: func(d *desk, key string) {
			d.Press("ctrl+s")
			d.Until("─ Sessions ─", "› A better name", "ctrl+f fork")
			d.Press(key)
			d.Until("the model of the session")
			permits(false, func(d *desk, _ string) { deny(d) })(d, key)
			d.Press("ctrl+s")
			d.Until("› Write it", "A better name")
			d.Press("esc")
			d.Gone("─ Sessions ─")
		},
		keys.Details: permits(false, func(d *desk, key string) {
			d.Until("+ begin", "+ end", "tab shows all")
			d.Press(key)
			d.Until("lines 1-")
			d.Gone("+ end")
			d.Press(key)
			d.Until("+ end")
			deny(d)
		}),
	}
}
