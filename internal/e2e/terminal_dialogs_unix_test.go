//go:build linux || darwin

package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// dialogTest opens a dialog and gives one of its answers.
type dialogTest struct {
	of     string // the function of package dialog that makes it
	answer string
	script []modelserver.Step
	args   []string
	before func(d *desk) // the program starts
	do     func(d *desk)
}

// dialogTests are the answers that TestTerminalPermission, TestTerminalQuestion, TestTerminalRewind and TestSlashCommands do not give.
func dialogTests() []dialogTest {
	write := func(name string) modelserver.Step {
		return modelserver.Call("write", `{"path":"`+name+`","content":"text"}`)
	}
	three := modelserver.Call("write", `{"path":"a.txt","content":"a"}`).Call("write", `{"path":"b.txt","content":"b"}`).Call("write", `{"path":"c.txt","content":"c"}`)
	done := modelserver.Say("So be it.")
	ask := func(questions string) []modelserver.Step {
		return []modelserver.Step{modelserver.Call("AskUserQuestion", `{"questions":[`+questions+`]}`), done}
	}
	const (
		colors = `{"question":"Which colors?","multiSelect":true,"options":["red","green","blue"]}`
		base   = `{"question":"Which database?","options":["Postgres","SQLite"],"default":"SQLite"}`
		name   = `{"question":"Which name?"}`
	)
	return []dialogTest{
		{of: "NewPermission", answer: "always", script: []modelserver.Step{write("a.txt"), done, write("a.txt"), done}, do: func(d *desk) {
			d.say("Write the file")
			d.asks("a.txt?")
			d.Press("a")
			d.Until("› Always allow           write(./a.txt)", "Allows")
			d.Press("enter")
			d.idle("So be it.")
			d.Press("ctrl+n")
			d.Gone("So be it.")
			d.say("Write the file again")
			d.idle("So be it.")
			d.opensWith("/permissions", "─ Permissions ─", "write(./a.txt)", "you")
		}},
		{of: "NewPermission", answer: "several calls, one by one", script: []modelserver.Step{three, done}, do: func(d *desk) {
			d.say("Write three files")
			d.Until("Permission for 3 calls", "The model wants to make these calls:", "› undecided    write a.txt", "y allow", "Allow all", "Deny all")
			d.Press("y")
			d.Until("  allow        write a.txt", "› undecided    write b.txt")
			d.Press("n")
			d.Until("  deny         write b.txt", "› undecided    write c.txt")
			d.Press("enter")
			d.Until("Permission 3 of 3", "Change c.txt?", "esc all calls")
			d.Press("esc")
			d.Until("Permission for 3 calls")
			d.Press("tab")
			d.Until("› Allow once")
			d.Press("enter")
			d.idle("So be it.")
			d.has("a.txt", "a", "b.txt", "", "c.txt", "c")
		}},
		{of: "NewPermission", answer: "several calls, all", script: []modelserver.Step{three, done}, do: func(d *desk) {
			d.say("Write three files")
			d.Until("Permission for 3 calls", "y allow")
			d.Press("down", "down", "down")
			d.Until("› Allow all")
			d.Press("enter")
			d.idle("So be it.")
			d.has("a.txt", "a", "b.txt", "b", "c.txt", "c")
		}},
		{of: "NewPermission", answer: "several calls, none", script: []modelserver.Step{three, done}, do: func(d *desk) {
			d.say("Write three files")
			d.Until("Permission for 3 calls", "y allow")
			d.Press("down", "down", "down", "down")
			d.Until("› Deny all")
			d.Press("enter")
			d.idle("So be it.")
			d.has("a.txt", "", "b.txt", "", "c.txt", "")
		}},
		{of: "NewPermission", answer: "the choice deny", script: []modelserver.Step{write("a.txt"), done}, do: func(d *desk) {
			d.say("Write the file")
			d.asks("a.txt?")
			d.Press("down", "down", "down", "down")
			d.Until("› Deny")
			d.Press("enter")
			d.idle("So be it.")
			d.has("a.txt", "")
		}},
		{of: "NewPermission", answer: "an edited command", script: []modelserver.Step{modelserver.Call("Bash", `{"command":"touch one && echo done"}`), done}, do: func(d *desk) {
			d.say("Make a file")
			d.asks("Run this command?")
			d.Until("$ touch one && echo done", "1. touch one", "2. echo done", "Edit the command", "Allow in this session  shell(")
			d.Press("e")
			d.Until("touch one && echo done", "enter send")
			d.Press("ctrl+u")
			d.Send("touch two")
			d.Press("enter")
			d.idle("So be it.")
			if _, err := os.Stat(filepath.Join(d.dir, "two")); err != nil {
				d.t.Error(err)
			}
		}},
		{of: "NewPermission", answer: "a host of the network", script: []modelserver.Step{modelserver.Call("WebFetch", `{"url":"https://docs.example.com/page"}`), done}, do: func(d *desk) {
			d.say("Read the page")
			d.asks("Reach docs.example.com")
			d.Until("over the network?", "Allow in this session  fetch(docs.example.com")
			d.Press("n")
			d.idle("So be it.")
		}},
		{of: "NewPermission", answer: "outside the sandbox", script: []modelserver.Step{modelserver.Call("Bash", `{"command":"touch free","dangerouslyDisableSandbox":true,"reason":"the sandbox lacks a device"}`), done}, do: func(d *desk) {
			d.say("Make a file")
			d.asks("Run this command outside the sandbox?")
			d.Until("$ touch free", "the model's reason: the sandbox lacks a device")
			d.Press("y")
			d.idle("So be it.")
			if _, err := os.Stat(filepath.Join(d.dir, "free")); err != nil {
				d.t.Error(err)
			}
		}},
		{of: "NewPermission", answer: "later", script: []modelserver.Step{write("a.txt"), done}, do: func(d *desk) {
			d.say("Write the file")
			d.asks("a.txt?")
			d.Press("esc")
			d.Gone("─ Permission ─")
			d.Until("tab")
			d.Press("tab")
			d.asks("a.txt?")
			d.Press("y")
			d.idle("So be it.")
			d.has("a.txt", "text")
		}},
		{of: "NewPermission", answer: "keys for the prompt", script: []modelserver.Step{write("a.txt"), done}, do: func(d *desk) {
			release := d.hold(0)
			d.say("Write the file")
			d.Until("esc cancels")
			d.Send("a yes")
			d.prompts("› a yes")
			release()
			d.Until("a.txt?", "keys go to your prompt")
			d.Send("y")
			d.Until("› a yesy", "keys go to your prompt; tab answers here")
			d.Press("tab")
			d.Until("enter choose", "y once")
			d.Press("y")
			d.Gone("─ Permission ─")
			d.Until("So be it.")
			d.has("a.txt", "text")
			d.Until("› a yesy")
		}},
		{of: "NewQuestions", answer: "several, the default, own words", script: ask(colors + "," + base + "," + name), do: func(d *desk) {
			d.say("Choose")
			d.Until("Question 1 of 3", "Which colors?", "[ ] red", "space choose")
			d.Press("space", "down", "down", "space")
			d.Until("[✓] red", "[ ] green", "› [✓] blue")
			d.Press("enter")
			d.Until("Question 2 of 3", "Which database?", "› SQLite (default)", "esc question before")
			d.Press("esc")
			d.Until("Question 1 of 3", "[✓] red")
			d.Press("enter")
			d.Until("Question 2 of 3", "› SQLite (default)")
			d.Press("enter")
			d.Until("Question 3 of 3", "Which name?")
			d.Send("Tenon")
			d.Press("ctrl+j")
			d.Send("or another")
			d.Until("› Tenon", "or another")
			d.Press("enter")
			d.idle("So be it.")
			for _, want := range []string{"red; blue", "SQLite", `Tenon\nor another`} {
				if !strings.Contains(d.heard(), want) {
					d.t.Errorf("the model did not hear %q", want)
				}
			}
		}},
		{of: "NewTrust", answer: "no", before: (*desk).configures, do: func(d *desk) {
			d.opensWith("/trust", "─ Trust this directory? ─", "tenon.json", "› No, ignore its settings", "y yes")
			d.Press("enter")
			d.Gone("─ Trust this directory? ─")
			d.opensWith("/trust", "─ Trust this directory? ─")
		}},
		{of: "NewTrust", answer: "yes", before: (*desk).configures, do: func(d *desk) {
			d.opensWith("/trust", "─ Trust this directory? ─", "› No, ignore its settings", "y yes")
			d.Press("up")
			d.Until("› Yes, trust it")
			d.Press("enter")
			d.Until("trusted; new sessions use the configuration")
			d.opensWith("/trust", "this project has no configuration that needs trust")
		}},
		{of: "NewConfirm", answer: "stay, then leave", do: func(d *desk) {
			d.hold(0)
			d.say("Begin")
			d.Until("esc cancels")
			d.Press("ctrl+n")
			d.Until("─ Leave the run? ─", "› Stay")
			d.Press("n")
			d.Gone("─ Leave the run? ─")
			d.Until("› Begin", "esc cancels")
			d.Press("ctrl+n")
			d.Until("─ Leave the run? ─")
			d.Press("up")
			d.Until("› End the run")
			d.Press("enter")
			d.Gone("› Begin", "esc cancels")
			d.Until(ready)
		}},
		{of: "NewModels", answer: "details", do: func(d *desk) {
			d.opensWith("/model", "─ Models ─", "› "+modelName, "tab details")
			d.Press("tab")
			d.Until("context window: 1.0M tokens", "abilities: ")
			d.Press("esc")
			d.Until("WINDOW")
			d.Press("esc")
			d.Gone("─ Models ─")
		}},
		{of: "NewThinking", answer: "a level", do: func(d *desk) {
			d.opensWith("/thinking", "─ Thinking ─")
			d.Send("high")
			d.Until("› high")
			d.Press("enter")
			d.Until("thinking high")
		}},
		{of: "NewThemes", answer: "a preview, and none", do: func(d *desk) {
			dark := d.color(modelName)
			d.opensWith("/theme", "─ Theme ─")
			d.Send("light")
			d.Wait(func(s console.Screen) bool { return d.color(modelName) != dark }, "the colors of another theme")
			d.Press("esc", "esc")
			d.Gone("─ Theme ─")
			d.Wait(func(console.Screen) bool { return d.color(modelName) == dark }, "the colors from before")
		}},
		{of: "NewSessions", answer: "preview, resume, delete", script: []modelserver.Step{modelserver.Say("In the first one."), modelserver.Say("In the second one.")}, do: func(d *desk) {
			d.say("first prompt")
			d.idle("In the first one.")
			d.Press("ctrl+n")
			d.Gone("first prompt")
			d.say("second prompt")
			d.idle("In the second one.")
			d.Press("ctrl+s")
			d.Until("› second prompt", "first prompt")
			d.Press("down")
			d.Until("› first prompt", "ctrl+d delete")
			d.Press("tab")
			d.Until("You: first prompt", ": In the first one.")
			d.Press("tab")
			d.Until("› first prompt")
			d.Press("enter")
			d.Until("› first prompt", "In the first one.", ready)
			d.Press("ctrl+s")
			d.Until("─ Sessions ─", "second prompt")
			d.Send("second")
			d.Until("› second prompt")
			d.Press("ctrl+d")
			d.Until("Move the session second prompt to the trash?")
			d.Press("esc")
			d.Until("› second prompt")
			d.Press("ctrl+d")
			d.Until("Move the session second prompt to the trash?")
			d.Press("enter")
			d.Gone("second prompt")
		}},
		{of: "NewRewind", answer: "only the files", script: []modelserver.Step{write("a.txt"), done}, args: []string{"--mode", "edits"}, do: func(d *desk) {
			d.rewinds("Only the files", "down", "down")
			d.Wait(func(console.Screen) bool { return d.file("a.txt") == "" }, "the file to go away")
			d.Until("So be it.", ready)
		}},
		{of: "NewRewind", answer: "only the conversation", script: []modelserver.Step{write("a.txt"), done}, args: []string{"--mode", "edits"}, do: func(d *desk) {
			d.rewinds("Only the conversation", "down")
			d.Gone("So be it.")
			d.prompts("› Write the file")
			d.has("a.txt", "text")
		}},
		{of: "NewRewind", answer: "over a change of another program", script: []modelserver.Step{write("a.txt"), done}, args: []string{"--mode", "edits"}, do: func(d *desk) {
			d.say("Write the file")
			d.idle("So be it.")
			d.write(filepath.Join(d.dir, "a.txt"), "of another program")
			d.Press("alt+r")
			d.Until("─ Rewind ─", "SENT")
			d.Press("enter")
			d.Until("1 problem", "keep     a.txt")
			d.Press("space")
			d.Until("[✓] also overwrite changes by others", "enter rewind")
			d.Press("enter")
			d.Wait(func(console.Screen) bool { return d.file("a.txt") == "" }, "the file to go away")
		}},
		{of: "NewContext", answer: "pin", script: []modelserver.Step{modelserver.Say("A long answer of many words: " + strings.Repeat("word ", 900))}, do: func(d *desk) {
			d.say("Tell me")
			d.idle("word word")
			d.Press("alt+c")
			d.Until("answers", "› ", "A long answer", "p pin or unpin")
			d.Press("p")
			d.Until("pinned")
			d.Press("p")
			d.Gone("pinned")
		}},
		{of: "NewQueue", answer: "edit, send", do: func(d *desk) {
			d.hold(0)
			d.say("Begin")
			d.Until("esc cancels")
			d.say("then rest")
			d.Until("◷ then rest", ready)
			d.Press("alt+q")
			d.Until("› then rest", "enter edit")
			d.Press("enter")
			d.prompts("› then rest")
			d.Send(" well")
			d.prompts("› then rest well")
			d.Press("enter")
			d.Until("◷ then rest well", ready)
			d.Press("alt+q")
			d.Until("After the run", "› then rest well")
			d.Press("alt+s")
			d.Until("At the next turn")
		}},
		{of: "NewJobs", answer: "end, output", script: []modelserver.Step{modelserver.Call("Bash", `{"command":"echo begun; sleep 600","run_in_background":true}`), done}, args: []string{"--mode", "yolo"}, do: func(d *desk) {
			d.say("Watch")
			d.idle("So be it.")
			d.opensWith("/jobs", "─ Background jobs ─", "running", "ctrl+d end")
			d.Press("ctrl+d")
			d.Until("End the job job1?")
			d.Press("esc")
			d.Until("running", "enter output")
			d.Press("ctrl+d")
			d.Until("End the job job1?")
			d.Press("enter")
			d.Until("killed")
			d.Press("enter")
			d.Until("─ job1 ─", "│ begun")
		}},
		{of: "NewAgents", answer: "show, stop", script: []modelserver.Step{done}, do: func(d *desk) {
			d.say("Begin")
			d.idle("So be it.")
			end := d.hires()
			d.Until("explorer: find the callers, in the background", "1 agent")
			d.Press("alt+a")
			d.Until("─ Agents ─", "› find the callers", "running", "ctrl+d stop")
			d.Press("enter")
			d.Until("agent find the callers · running · esc back", "I look around.", "ctrl+c cancels")
			d.Gone("So be it.")
			d.Send("look at tests, too")
			d.Press("enter")
			d.Until("◷ look at tests, too")
			d.Press("esc")
			d.Gone("esc back")
			d.Until("So be it.")
			d.Press("alt+n")
			d.Until("agent find the callers · running", "I look around.")
			d.Press("alt+n")
			d.Gone("esc back")
			d.Press("alt+p")
			d.Until("agent find the callers · running")
			d.Press("alt+p")
			d.Gone("esc back")
			d.Press("alt+a")
			d.Until("› find the callers")
			d.Press("ctrl+d")
			d.Until("Stop the agent find the callers?")
			d.Press("enter")
			end()
			d.Until("cancelled")
			d.Press("esc")
			d.Until("explorer: find the callers · cancelled")
		}},
		{of: "NewContest", answer: "one result, later", script: []modelserver.Step{write("a.txt"), done}, args: []string{"--mode", "edits"}, do: func(d *desk) { // more in TestTerminalParallel
			d.say("/parallel 1 Write the file")
			d.Until("─ Parallel runs ─", "selected: it is the only result", "› a.txt  +1 -0")
			d.Press("esc")
			d.Gone("─ Parallel runs ─")
			d.has()
		}},
		{of: "NewRules", answer: "remove a grant", script: []modelserver.Step{write("a.txt"), done, write("a.txt"), done}, do: func(d *desk) {
			d.say("Write the file")
			d.asks("a.txt?")
			d.Press("down")
			d.Until("› Allow in this session")
			d.Press("enter")
			d.idle("So be it.")
			d.opensWith("/permissions", "─ Permissions ─", "› allow  write(./a.txt)", "granted", "ctrl+d remove")
			d.Press("ctrl+d")
			d.Until("Remove the grant write(./a.txt)?")
			d.Press("enter")
			d.Gone("write(./a.txt)")
			d.Press("esc")
			d.say("Write it again")
			d.asks("a.txt?")
		}},
		{of: "NewSkills", answer: "use", before: (*desk).skilled, do: func(d *desk) {
			d.opensWith("/skills", "─ Skills ─", "› greet", "enter use")
			d.Press("enter")
			d.prompts("› /skill greet")
		}},
		{of: "NewRoles", answer: "details, a role, none", args: []string{"--mode", "edits"}, do: func(d *desk) {
			d.opensWith("/role", "─ Roles ─", "› builder", "tab details")
			d.Press("tab")
			d.Until("Changes the project and verifies the result.", "built in")
			d.Press("esc")
			d.Until("ROLE")
			d.Send("reviewer")
			d.Until("› reviewer")
			d.Press("enter")
			d.Until("role reviewer", "plan · "+modelName+" · reviewer")
			d.opensWith("/role", "─ Roles ─", "reviewer", "none")
			d.Send("none")
			d.Until("› none")
			d.Press("enter")
			d.Gone("· reviewer")
			d.Until("edits · " + modelName)
		}},
		{of: "NewPrompt", answer: "a text, from the palette", script: []modelserver.Step{done}, do: func(d *desk) {
			d.say("Begin")
			d.idle("So be it.")
			d.Press("ctrl+p")
			d.Until("─ Commands ─")
			d.Send("rename")
			d.Until("› /rename [TITLE]")
			d.Press("enter")
			d.Until("─ Rename the session ─", "› Begin")
			d.Press("ctrl+u", "enter")
			d.Until("enter a text, or leave with esc")
			d.Send("A better name")
			d.Press("enter")
			d.Until("renamed to A better name")
		}},
		{of: "NewHelp", answer: "a search", do: func(d *desk) {
			d.Press("f1")
			d.Until("─ Help ─", "send the prompt")
			d.Send("palette")
			d.Until("command palette", "/palette")
			d.Gone("send the prompt")
			d.Press("esc")
			d.Until("send the prompt")
			d.Press("esc")
			d.Gone("─ Help ─")
		}},
		{of: "NewPage", answer: "a search", script: []modelserver.Step{done}, do: func(d *desk) {
			d.say("Begin")
			d.idle("So be it.")
			d.opensWith("/state", "─ State ─", "lines 1-", "ctrl+f search")
			d.Press("ctrl+f")
			d.Send("sonnet")
			d.Until("search: sonnet", "claude-sonnet-4-6")
			d.Press("enter", "n", "N", "pgdown", "pgup", "end", "home")
			d.Until("lines 1-")
			d.Press("esc")
			d.Gone("─ State ─")
		}},
		{of: "NewFirstRun", answer: "a key", args: []string{}, before: (*desk).unset, do: func(d *desk) {
			d.Send("anthropic")
			d.Until("› Anthropic")
			d.Press("enter")
			d.Until("Enter the API key for Anthropic.")
			d.Send("sk-ant-wrong-key")
			d.Until("› ••••")
			if d.Screen().Has("wrong") {
				d.t.Errorf("the screen shows the key:\n%s", d.Screen())
			}
			d.Press("enter")
			d.Until("Enter the API key for Anthropic.", "401")
			d.Send("sk-e2e-0123456789abcdefghij")
			d.Until("› ••••")
			d.Press("enter")
			d.Gone("─ Welcome to Tenon ─")
			d.Until("ask · anthropic/")
			d.say("Begin")
			d.idle("There is nothing left to say.")
		}},
		{of: "NewFirstRun", answer: "no model", args: []string{}, before: (*desk).unset, do: func(d *desk) {
			d.Send("No model")
			d.Until("› No model")
			d.Press("enter")
			d.Gone("─ Welcome to Tenon ─")
			d.Until("ask · offline")
		}},
		{of: "NewFirstRun", answer: "later", args: []string{}, before: (*desk).unset, do: func(d *desk) {
			d.Press("esc")
			d.Gone("─ Welcome to Tenon ─")
			d.opensWith("/login", "─ Welcome to Tenon ─")
		}},
	}
}

// opensWith gives a slash command and waits for what it shows.
func (d *desk) opensWith(line string, texts ...string) {
	d.t.Helper()
	d.Send(line)
	d.prompts("› " + line)
	d.Press("enter")
	d.Until(texts...)
}

// has compares files of the project: names and texts, which are empty for files that must not exist.
func (d *desk) has(files ...string) {
	d.t.Helper()
	for pair := range slices.Chunk(files, 2) {
		if got := d.file(pair[0]); got != pair[1] {
			d.t.Errorf("%s is %q, want %q", pair[0], got, pair[1])
		}
	}
}

// color returns the color of a text on the screen.
func (d *desk) color(text string) console.Color {
	s := d.Screen()
	x, y, ok := s.Find(text)
	if !ok {
		return ""
	}
	return s.Lines[y][x].Style.Foreground
}

// rewinds writes a file and opens the rewind with a scope.
func (d *desk) rewinds(scope string, keys ...string) {
	d.t.Helper()
	d.say("Write the file")
	d.idle("So be it.")
	d.has("a.txt", "text")
	d.Press("alt+r")
	d.Until("─ Rewind ─", "SENT")
	d.Press("enter")
	d.Until("› Files and conversation", "1 file change", "remove   a.txt")
	d.Press(keys...)
	d.Until("› "+scope, "enter rewind")
	d.Press("enter")
	d.Gone("─ Rewind ─")
}

// hires gives a task to an agent of this test, in the journals. The returned function waits until a person stops the agent, and settles the
// task.
func (d *desk) hires() (end func()) {
	d.t.Helper()
	ctx := d.t.Context()
	store, err := sqlite.Open(filepath.Join(d.data, "sessions.db"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = store.Close() })
	var owner session.SessionID
	for s, err := range store.List(ctx, index.Query{}) {
		if err != nil {
			d.t.Fatal(err)
		}
		owner = s.ID
	}
	child, err := store.Create(ctx, session.Created{Dir: d.dir, Parent: session.Origin{Session: owner}})
	if err != nil {
		d.t.Fatal(err)
	}
	w, err := store.Open(ctx, child, session.Lease{Owner: "a test"})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = w.Close() })
	_, began := w.Append(ctx, session.Stamp{Run: "r1"}, session.RunStarted{Run: "r1"}, session.Message{Message: llm.AssistantText("I look around.")})
	_, given := store.Annotate(ctx, owner,
		session.TaskCreated{Task: "t1", Name: "find the callers", Text: "Find them.", Role: "explorer", Background: true},
		session.TaskStarted{Task: "t1", Attempt: 1, Session: child})
	if err := errors.Join(began, given); err != nil {
		d.t.Fatal(err)
	}
	return func() {
		d.t.Helper()
		for e, err := range store.Watch(ctx, child, 0) {
			if err != nil {
				d.t.Fatal(err)
			}
			if _, ok := e.Body.(session.Abort); ok {
				break
			}
		}
		if _, err := store.Annotate(ctx, owner, session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCancelled}}); err != nil {
			d.t.Fatal(err)
		}
	}
}

// configures gives the project a configuration.
func (d *desk) configures() {
	if err := os.Mkdir(filepath.Join(d.dir, ".tenon"), 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.write(filepath.Join(d.dir, ".tenon", "tenon.json"), `{"model":"`+modelName+`"}`)
}

// skilled gives the person a skill.
func (d *desk) skilled() {
	skill := filepath.Join(d.home, ".agents", "skills", "greet")
	if err := os.MkdirAll(skill, 0o700); err != nil {
		d.t.Fatal(err)
	}
	d.write(filepath.Join(skill, "SKILL.md"), "---\nname: greet\ndescription: Greets people\n---\nSay hello.\n")
}

// unset takes the key away.
func (d *desk) unset() {
	d.env = append(slices.DeleteFunc(d.env, func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_API_KEY=") }), "TENON_DISCOVER=off")
}

// TestTerminalDialogs opens each dialog and gives each of its answers once.
func TestTerminalDialogs(t *testing.T) {
	t.Parallel()
	elsewhere := map[string]func(*testing.T){
		"NewPicker": TestTerminalKeys, "NewPalette": TestTerminalKeys, "NewModes": TestSlashCommands, "NewFiles": TestSlashCommands, "NewDiff": TestSlashCommands,
		"NewDrawn": TestSlashCommands, "NewServers": TestTheLifeOfAnMCPServer,
	}
	tests := dialogTests()
	for _, name := range dialogs(t) {
		if elsewhere[name] == nil && !slices.ContainsFunc(tests, func(c dialogTest) bool { return c.of == name }) {
			t.Errorf("the dialog of %s has no test", name)
		}
	}
	for _, c := range tests {
		t.Run(strings.TrimPrefix(c.of, "New")+": "+c.answer, func(t *testing.T) {
			t.Parallel()
			d := sit(t, c.script...)
			if c.before != nil {
				c.before(d)
			}
			if c.of == "NewFirstRun" {
				d.start(small, console.Dark)
				d.Until("─ Welcome to Tenon ─", "No model", "With an API key")
			} else {
				d.open(d.withModel(c.args...)...)
			}
			c.do(d)
			d.leavesInOrder()
		})
	}
}

var makes = regexp.MustCompile(`(?m)^func (New\w+)`)

// dialogs returns the functions of package dialog that make a dialog.
func dialogs(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../tui/dialog/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range makes.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	if len(names) < 20 {
		t.Errorf("only %q make dialogs", names)
	}
	return names
}
