//go:build unix

package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
)

// hooked opens a conversation with hooks of the person. Each event is also a line of JSON in a file, which log returns.
func hooked(t *testing.T, own string, answer func(*llm.Request) (llm.Message, error), o Opening) (c *Opened, log func() []map[string]any) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "events")
	all := map[string][]any{}
	if own != "" {
		if err := json.Unmarshal([]byte(own), &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range hooks.Events() {
		one := map[string]any{"type": "command", "command": `printf '%s\n' "$(cat)" >> ` + file}
		all[string(e)] = append(all[string(e)], map[string]any{"hooks": []any{one}})
	}
	text, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "config"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "tenon.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Client = llmtest.Func(func(_ context.Context, r *llm.Request) (llm.Message, error) { return answer(r) })
	c = openedAt(t, dir, "", o)
	return c, func() (events []map[string]any) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var e map[string]any
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			events = append(events, e)
		}
		return events
	}
}

// run prompts, allows every call, and returns the entries of the run.
func run(t *testing.T, c *Opened, text string) (entries []session.Event) {
	t.Helper()
	for e, err := range c.Conversation.Run(t.Context(), conversation.Prompt{Message: llm.UserText(text)}) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
		if q, ok := e.Body.(session.Asking); ok {
			answers := make([]ask.Answer, len(q.Calls))
			for i := range answers {
				answers[i].Allow = true
			}
			if err := c.Conversation.Answer(context.WithoutCancel(t.Context()), q.ID, answers...); err != nil {
				t.Fatal(err)
			}
		}
	}
	return entries
}

func eventNames(events []map[string]any) (all []string) {
	for _, e := range events {
		all = append(all, fmt.Sprint(e["hook_event_name"]))
	}
	return all
}

// A session has all its events, in their order, with the fields that Claude Code documents.
func TestTheEventsOfHooks(t *testing.T) {
	var child, root atomic.Int32
	c, log := hooked(t, "", func(r *llm.Request) (llm.Message, error) {
		if slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == "complete" }) {
			child.Add(1)
			return callsOf(llm.ToolCall{Name: "complete", Arguments: `{"summary": "done"}`})
		}
		switch root.Add(1) {
		case 1:
			return callsOf(llm.ToolCall{Name: "write", Arguments: `{"path":"sub/a.txt","content":"a"}`})
		case 2:
			return callsOf(llm.ToolCall{Name: "shell", Arguments: `{"command":"pwd; exit 3","dir":"sub","timeout":7}`})
		case 3:
			return callsOf(llm.ToolCall{Name: "agent", Arguments: `{"task":"look","name":"Looker","role":"explorer"}`})
		}
		return llm.AssistantText("Done. " + strings.Repeat("The work goes on. ", 400)), nil
	}, Opening{Ask: true, Permissions: Permissions{Mode: permission.AskMode}})
	run(t, c, "Go.")
	run(t, c, "Go on.")
	if err := c.Conversation.Set(t.Context(), session.Change{Mode: string(permission.Edits)}); err != nil {
		t.Fatal(err)
	}
	if _, problem, err := c.agent.Compact(t.Context(), ""); err != nil {
		t.Fatal(problem, err)
	}
	if err := c.agent.Close(); err != nil {
		t.Fatal(err)
	}
	events := log()
	var main []string
	byName := make(map[string]map[string]any)
	for _, e := range events {
		name := fmt.Sprint(e["hook_event_name"])
		if e["agent_id"] == nil && name != "Notification" {
			main = append(main, name)
		}
		if byName[name] == nil || e["agent_id"] != nil {
			byName[name] = e
		}
		if e["session_id"] != string(c.Conversation.Session()) || e["cwd"] != c.Dir || e["permission_mode"] == nil {
			t.Errorf("%v", e)
		}
	}
	want := "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreToolUse PostToolUseFailure CwdChanged PreToolUse PermissionRequest PostToolUse Stop " +
		"UserPromptSubmit Stop ConfigChange PreCompact PostCompact SessionStart SessionEnd"
	if got := strings.Join(main, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for name, fields := range map[string]map[string]any{
		"SessionStart":       {"source": "startup"},
		"UserPromptSubmit":   {"prompt": "Go."},
		"PermissionRequest":  {"tool_name": "Write"},
		"PostToolUseFailure": {"tool_name": "Bash", "is_interrupt": false},
		"CwdChanged":         {"old_cwd": c.Dir, "new_cwd": filepath.Join(c.Dir, "sub")},
		"Notification":       {"notification_type": "permission_prompt", "message": "Tenon needs your permission to use Write"},
		"SubagentStart":      {"agent_type": "explorer"},
		"SubagentStop":       {"agent_type": "explorer"},
		"Stop":               {"stop_hook_active": false},
		"ConfigChange":       {"source": "session"},
		"PreCompact":         {"trigger": "manual"},
		"PostCompact":        {"trigger": "manual"},
		"SessionEnd":         {"reason": "prompt_input_exit"},
	} {
		for field, value := range fields {
			if got := byName[name][field]; got != value {
				t.Errorf("%s: %s is %v, want %v", name, field, got, value)
			}
		}
	}
	for _, e := range events {
		input, _ := e["tool_input"].(map[string]any)
		switch {
		case e["hook_event_name"] != "PreToolUse" || e["agent_id"] != nil:
		case e["tool_name"] == "Write" && input["file_path"] == filepath.Join(c.Dir, "sub/a.txt") && input["content"] == "a":
		case e["tool_name"] == "Bash" && input["command"] == "pwd; exit 3" && fmt.Sprint(input["timeout"]) == "7000":
		case e["tool_name"] == "Agent" && input["prompt"] == "look" && input["subagent_type"] == "explorer" && input["description"] == "Looker":
		default:
			t.Errorf("%v", e)
		}
	}
}

// The answers of hooks have their effect: on a call, a result, the end of a run, a change and a permission.
func TestTheAnswersOfHooks(t *testing.T) {
	say := func(event, specific string) string {
		text, _ := json.Marshal(`echo '{"hookSpecificOutput":{"hookEventName":"` + event + `",` + specific + `}}'`)
		return fmt.Sprintf(`{"%s":[{"matcher":"Write|Bash|Edit|session|","hooks":[{"type":"command","command":%s}]}]}`, event, text)
	}
	echo := func(event, output string) string {
		text, _ := json.Marshal("echo '" + output + "'")
		return fmt.Sprintf(`{"%s":[{"hooks":[{"type":"command","command":%s}]}]}`, event, text)
	}
	write := llm.ToolCall{Name: "write", Arguments: `{"path":"a.txt","content":"a"}`}
	patch := llm.ToolCall{Name: "patch", Arguments: `{"patch":"*** Begin Patch\n*** Add File: a.txt\n+a\n*** Add File: b.txt\n+b\n*** End Patch"}`}
	for _, test := range []struct {
		name, hooks string
		call        llm.ToolCall
		mode        permission.Mode
		asks        int    // questions to the person
		result      string // a part of the result
		file        string // a.txt afterwards
		reason      session.Reason
	}{
		{"ask", say("PreToolUse", `"permissionDecision":"ask","permissionDecisionReason":"look at it"`), write, permission.Edits, 1, "", "a", session.ReasonDone},
		{"allow", say("PreToolUse", `"permissionDecision":"allow"`), write, permission.AskMode, 0, "", "a", session.ReasonDone},
		{"deny", say("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"not today"`), write, permission.Edits, 0, "not today", "", session.ReasonDone},
		{"deny a patch", say("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"not today"`), patch, permission.Edits, 0, "not today", "", session.ReasonDone},
		{"other input", say("PreToolUse", `"updatedInput":{"file_path":"a.txt","content":"b"}`), write, permission.Edits, 0, "", "b", session.ReasonDone},
		{"stop", echo("PreToolUse", `{"continue":false,"stopReason":"enough for today"}`), write, permission.Edits, 0, "enough for today", "", session.ReasonRefused},
		{"stop after", echo("PostToolUse", `{"continue":false,"stopReason":"enough for today"}`), write, permission.Edits, 0, "", "a", session.ReasonRefused},
		{"request allowed", say("PermissionRequest", `"decision":{"behavior":"allow"}`), write, permission.AskMode, 0, "", "a", session.ReasonDone},
		{"request allowed with other input", say("PermissionRequest", `"decision":{"behavior":"allow","updatedInput":{"file_path":"a.txt","content":"c"}}`), write, permission.AskMode, 0, "", "c", session.ReasonDone},
		{"request rewritten to what no rule allows", say("PermissionRequest", `"decision":{"behavior":"allow","updatedInput":{"file_path":".git/hooks/x","content":"c"}}`), write, permission.AskMode, 1, "", "", session.ReasonDone},
		{"request denied", say("PermissionRequest", `"decision":{"behavior":"deny","message":"never"}`), write, permission.AskMode, 0, "never", "", session.ReasonDone},
		{"context", say("PostToolUse", `"additionalContext":"formatted by a hook"`), write, permission.Edits, 0, "formatted by a hook", "a", session.ReasonDone},
		{"other output", say("PostToolUse", `"updatedToolOutput":"replaced"`), write, permission.Edits, 0, "replaced", "a", session.ReasonDone},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var turns atomic.Int32
			c, _ := hooked(t, test.hooks, func(*llm.Request) (llm.Message, error) {
				if turns.Add(1) == 1 {
					return callsOf(test.call)
				}
				return llm.AssistantText("Done."), nil
			}, Opening{Ask: true, Permissions: Permissions{Mode: test.mode}})
			asks, result := 0, ""
			var end session.RunEnded
			for _, e := range run(t, c, "Go.") {
				switch b := e.Body.(type) {
				case session.Asking:
					asks++
				case session.Message:
					if b.Role == llm.RoleTool {
						result = b.Text()
					}
				case session.RunEnded:
					end = b
				}
			}
			data, _ := os.ReadFile(filepath.Join(c.Dir, "a.txt"))
			if got := strings.TrimSpace(string(data)); asks != test.asks || !strings.Contains(result, test.result) || got != test.file || end.Reason != test.reason {
				t.Errorf("%d questions, result %q, file %q, end %+v", asks, result, got, end)
			}
		})
	}
}

// A hook of Stop continues the run 8 times at most.
func TestAStopHookCannotContinueForever(t *testing.T) {
	var turns atomic.Int32
	c, log := hooked(t, `{"Stop":[{"hooks":[{"type":"command","command":"echo again >&2; exit 2"}]}]}`, func(*llm.Request) (llm.Message, error) {
		turns.Add(1)
		return llm.AssistantText("Done."), nil
	}, Opening{})
	run(t, c, "Go.")
	if n := turns.Load(); n != 1+maxStops {
		t.Errorf("%d turns", n)
	}
	if events := log(); events[len(events)-1]["stop_hook_active"] != true {
		t.Errorf("%v", eventNames(events))
	}
}

// A hook refuses a change of the session.
func TestAHookRefusesAChange(t *testing.T) {
	c, _ := hooked(t, `{"ConfigChange":[{"matcher":"session","hooks":[{"type":"command","command":"echo stay >&2; exit 2"}]}]}`, func(*llm.Request) (llm.Message, error) {
		return llm.AssistantText("Done."), nil
	}, Opening{})
	err := c.Conversation.Set(t.Context(), session.Change{Mode: string(permission.Yolo)})
	if err == nil || !strings.Contains(err.Error(), "stay") || stateOf(t, c).Mode == permission.Yolo {
		t.Errorf("%v", err)
	}
}

// A person who is awaited learns of it. The hook runs in the background, and its message is shown.
func TestAnIdlePersonIsNotified(t *testing.T) {
	c, _ := hooked(t, `{"Notification":[{"matcher":"idle_prompt","hooks":[{"type":"command","command":"echo '{\"systemMessage\":\"come back\"}'"}]}]}`, func(*llm.Request) (llm.Message, error) {
		return llm.AssistantText("Done."), nil
	}, Opening{Ask: true})
	c.agent.spec.idle = time.Millisecond
	if _, err := c.Conversation.Prompt(t.Context(), conversation.Prompt{Message: llm.UserText("Go.")}); err != nil {
		t.Fatal(err)
	}
	for e, err := range c.Conversation.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := e.Body.(live.Notice); ok && n.Text == "come back" {
			return
		}
	}
}

// A hook of a project that rewrites a call gets it no further than the model would.
func TestARewrittenCallIsJudged(t *testing.T) {
	var turns atomic.Int32
	c, _ := hooked(t, `{"PreToolUse":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":{\"file_path\":\".git/hooks/pre-commit\",\"content\":\"x\"}}}'"}]}]}`,
		func(*llm.Request) (llm.Message, error) {
			if turns.Add(1) == 1 {
				return callsOf(llm.ToolCall{Name: "write", Arguments: `{"path":"a.txt","content":"a"}`})
			}
			return llm.AssistantText("Done."), nil
		}, Opening{Permissions: Permissions{Mode: permission.Edits}})
	denied, said := false, ""
	for _, e := range run(t, c, "Go.") {
		m, ok := e.Body.(session.Message)
		said += m.Text()
		denied = denied || ok && m.Outcome == session.OutcomeDenied
	}
	for _, name := range []string{"a.txt", ".git/hooks/pre-commit"} {
		if _, err := os.Stat(filepath.Join(c.Dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if !denied {
		t.Error("the call was not denied: " + said)
	}
}

// In a project of Claude Code, hooks find their files from every directory below.
func TestTheProjectDirectoryOfHooks(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	for name, text := range map[string]string{
		"project/.git/HEAD": "ref: refs/heads/main\n", "project/.claude/settings.json": `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"sh","args":["${CLAUDE_PROJECT_DIR}/.claude/start.sh"]}]}]}}`,
		"project/.claude/start.sh": `echo "$CLAUDE_PROJECT_DIR" "$PWD" "$TENON_HOOK_EVENT" > "$CLAUDE_PROJECT_DIR/started"`, "project/sub/a.txt": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := config.NewTrustStore(filepath.Join(dir, "config")).Trust(t.Context(), project); err != nil {
		t.Fatal(err)
	}
	getenv := vars("TENON_DATA_DIR", filepath.Join(dir, "data"), "TENON_CONFIG_DIR", filepath.Join(dir, "config"), "HOME", filepath.Join(dir, "home"))
	c, err := OpenConversation(t.Context(), Opening{Which: conversation.Which{Dir: filepath.Join(project, "sub")}, Getenv: getenv, Version: "v1", Owner: "a test", Client: llmtest.Must("text Done.")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	run(t, c, "Go.")
	data, err := os.ReadFile(filepath.Join(project, "started"))
	if want := project + " " + filepath.Join(project, "sub") + " SessionStart\n"; err != nil || string(data) != want {
		t.Errorf("%q, %v", data, err)
	}
}
