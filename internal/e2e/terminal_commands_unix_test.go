//go:build linux || darwin

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/console"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// slashes has a line for each slash command, and for most of them what a person then sees.
var slashes = []struct {
	line  string
	shows []string
	then  func(t *testing.T, d *desk) // the next steps of the person
}{
	{line: "/help", shows: []string{"─ Help ─", "send the prompt", "esc close"}},
	{line: "/keys", shows: []string{"─ Help ─", "send the prompt", "esc close"}},
	{line: "/model", shows: []string{"─ Models ─", "› anthropic/claude-sonnet-4-6"}, then: func(_ *testing.T, d *desk) {
		d.Send("haiku-5-5")
		d.Until("› anthropic/claude-haiku-5-5")
		d.Press("enter")
		d.Until("edits · anthropic/claude-haiku-5-5")
	}},
	{line: "/model anthropic/claude-opus-5-5", shows: []string{"edits · anthropic/claude-opus-5-5"}},
	{line: "/mode", shows: []string{"─ Mode ─", "inspect", "plan", "auto", "yolo"}, then: func(_ *testing.T, d *desk) {
		d.Send("plan")
		d.Until("› plan")
		d.Press("enter")
		d.Until("plan · " + modelName)
	}},
	{line: "/mode ask", shows: []string{status}},
	{line: "/mode sleepy", shows: []string{"sleepy"}},
	{line: "/role", shows: []string{"─ Roles ─", "› builder", "planner", "reviewer", "none"}, then: func(_ *testing.T, d *desk) {
		d.Send("planner")
		d.Until("› planner")
		d.Press("enter")
		d.Until("plan · " + modelName + " · planner")
	}},
	{line: "/role cook", shows: []string{`unknown role "cook"`}},
	{line: "/thinking", shows: []string{"─ Thinking ─", "medium", "max"}},
	{line: "/network example.com", shows: []string{"commands may reach: example.com"}},
	{line: "/new", shows: []string{"Tenon v0.0.0-test", ready}, then: func(t *testing.T, d *desk) { d.gone(t) }},
	{line: "/clear", shows: []string{"Tenon v0.0.0-test", ready}, then: func(t *testing.T, d *desk) { d.gone(t) }},
	{line: "/sessions", shows: []string{"─ Sessions ─", "› Write the file", "this terminal"}, then: func(_ *testing.T, d *desk) {
		d.Send("hello")
		d.Until("In the text", "› Write the file")
	}},
	{line: "/resume", shows: []string{"─ Sessions ─", "› Write the file"}},
	{line: "/fork", shows: []string{"Written.", ready, "/resume has the original"}},
	{line: "/rewind", shows: []string{"─ Rewind ─", "› Write the file"}},
	{line: "/undo", shows: []string{"files restored: 1"}},
	{line: "/redo", shows: []string{"has no undo to revert"}},
	{line: "/compact", shows: []string{"nothing to summarize"}},
	{line: "/context", shows: []string{"─ Context window ─", "system prompt", "tools"}},
	{line: "/pin", shows: []string{"pin on: Written."}},
	{line: "/cost", shows: []string{"· 50 tokens in, 24 out, $0.0005"}},
	{line: "/budget", shows: []string{"run: $0.0000, of $20.00 · session: $0.0005, no limit"}},
	{line: "/budget 5", shows: []string{"limit of each run: $5.00"}},
	{line: "/stats", shows: []string{"─ Usage ─", "REQS"}},
	{line: "/export out.md", shows: []string{"wrote out.md"}, then: func(t *testing.T, d *desk) {
		if text := d.file("out.md"); !strings.Contains(text, "Written.") {
			t.Errorf("the file is %q", text)
		}
	}},
	{line: "/copy", shows: []string{"copied"}, then: func(t *testing.T, d *desk) {
		d.Wait(func(s console.Screen) bool { return slices.Equal(s.Clipboard, []string{"Written."}) }, "the answer in the clipboard")
	}},
	{line: "/diff", shows: []string{"─ Changed files ─", "› new.txt  +2 -0"}, then: func(_ *testing.T, d *desk) {
		d.Press("enter")
		d.Until("hello", "world")
	}},
	{line: "/todo", shows: []string{"─ Tasks ─", "│ ▸ Run the check"}},
	{line: "/mcp", shows: []string{"─ MCP servers ─", "There is no MCP server."}},
	{line: "/mcp docs", shows: []string{`there is no MCP server "docs"`}},
	{line: "/lsp", shows: []string{"─ Language servers ─", "No language server has started in this session."}},
	{line: "/jobs", shows: []string{"─ Background jobs ─", "There is no background job."}},
	{line: "/agents", shows: []string{"─ Agents ─", "This session has no other agents."}},
	{line: "/parallel", shows: []string{"there are no parallel runs; /parallel 3 PROMPT begins them"}},
	{line: "/parallel 3", shows: []string{"write the number of agents and the prompt"}},
	{line: "/parallel 99 Do it", shows: []string{"parallel runs need 1 to 16 agents"}},
	{line: "/queue", shows: []string{"─ Queued prompts ─", "No prompt waits."}},
	{line: "/permissions", shows: []string{"─ Permissions ─", "There is no rule"}},
	{line: "/skills", shows: []string{"─ Skills ─", "greet"}},
	{line: "/skill greet", shows: []string{`› Load the skill "greet" and follow it.`, "Another answer."}},
	{line: "/loop", shows: []string{"there is no open goal"}},
	{line: "/loop Reach it", shows: []string{"goal blocked: no progress in 3 rounds: open work", "loop 4/50"}, then: func(_ *testing.T, d *desk) {
		d.idle()
		d.Send("/loop off")
		d.Press("enter")
		d.Until("goal dropped")
		d.Gone("loop 4/50")
	}},
	{line: "/init", shows: []string{"Tenon wrote this draft", "Another answer."}},
	{line: "/doctor", shows: []string{"─ Doctor ─", "version", "v0.0.0-test", "80 columns, with color"}},
	{line: "/trust", shows: []string{"this project has no configuration that needs trust"}},
	{line: "/login", shows: []string{"─ Welcome to Tenon ─"}},
	{line: "/state", shows: []string{"─ State ─", `"provider": "anthropic"`}},
	{line: "/debug", shows: []string{"─ Journal ─", "Write the file"}},
	{line: "/theme", shows: []string{"─ Theme ─", "color-blind-dark"}, then: func(_ *testing.T, d *desk) {
		d.Send("plain")
		d.Until("› plain")
		d.Press("enter")
		d.Wait(func(s console.Screen) bool {
			for _, l := range s.Lines {
				if slices.ContainsFunc(l, func(c console.Cell) bool { return c.Style.Foreground != "" }) {
					return false
				}
			}
			return true
		}, "a screen without colors")
	}},
	{line: "/theme light", shows: []string{"theme: light"}},
	{line: "/theme dawn", shows: []string{"there is no theme dawn"}},
	{line: "/vim", shows: []string{"vim on"}},
	{line: "/rename A new title", shows: []string{"renamed to A new title"}, then: func(_ *testing.T, d *desk) {
		d.Wait(func(s console.Screen) bool { return strings.Contains(s.Title, "A new title") }, "the title")
	}},
	{line: "/hepl", shows: []string{"there is no command /hepl; did you mean /help?"}},
	{line: "!echo sum $((40+2))", shows: []string{"sum 42"}},
}

// gone waits until the old session is off the screen. The new one has the same model and mode.
func (d *desk) gone(t *testing.T) {
	s := d.Gone("Written.")
	if !s.Has("edits · " + modelName) {
		t.Errorf("the status of the new session is %q", s.Row(-1))
	}
}

// TestSlashCommands types each slash command into a session with one run.
func TestSlashCommands(t *testing.T) {
	t.Parallel()
	for i, c := range slashes {
		if !sample.Takes(i, 4, 12) {
			continue
		}
		t.Run(strings.Trim(c.line, "/!"), func(t *testing.T) {
			t.Parallel()
			d := sit(t,
				modelserver.Call("write", writeNew).Call("TodoWrite", `{"todos":[{"content":"Run the check","status":"in_progress"}]}`),
				modelserver.Say("Written."), modelserver.Say("Another answer."))
			skill := filepath.Join(d.home, ".agents", "skills", "greet")
			if err := os.MkdirAll(skill, 0o700); err != nil {
				t.Fatal(err)
			}
			d.write(filepath.Join(skill, "SKILL.md"), "---\nname: greet\ndescription: Greets people\n---\nSay hello.\n")
			d.open(d.withModel("--mode", "edits")...)
			d.say("Write the file")
			d.idle("Written.")
			d.Send(c.line)
			d.Until(c.line[1:])
			d.Press("enter")
			d.Until(c.shows...)
			if c.then != nil {
				c.then(t, d)
			}
			d.leavesInOrder()
		})
	}
}

// A person sees that a language server has started.
func TestSlashLSP(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := sit(t, modelserver.Call("edit", `{"path":"other.txt","old_text":"Nothing","new_text":"bad"}`), modelserver.Say("Written."))
	d.config(fmt.Sprintf(`{"lsp": {"servers": {"fake": {"command": %q, "args": [%q], "files": [".txt"]}}}}`, self, languageServer))
	d.write(filepath.Join(d.dir, "other.txt"), "Nothing\n")
	d.open(d.withModel("--mode", "edits")...)
	d.say("Edit the file")
	d.idle("Written.")
	d.Send("/lsp")
	d.Until("lsp")
	d.Press("enter")
	d.Until("─ Language servers ─", "fake: ") // ready, or starting on a slow machine
	d.leavesInOrder()
}

// TestSlashExit leaves by command.
func TestSlashExit(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"/exit", "/quit"} {
		d := sit(t)
		d.open(d.withModel()...)
		d.say(line)
		if code := d.Exit(); code != 0 {
			t.Errorf("%s: exit code %d", line, code)
		}
		d.restored()
	}
}
