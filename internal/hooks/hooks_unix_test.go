//go:build unix

package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// process runs a process of a test.
func process(ctx context.Context, p Process) (Finished, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", p.Line)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Env, bytes.NewReader(p.Input), &out, &errs
	err := cmd.Run()
	f := Finished{Stdout: out.String(), Stderr: errs.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		f.Code, err = exit.ExitCode(), nil
	}
	return f, err
}

func parsed(t *testing.T, text string) []Handler {
	t.Helper()
	all, problems := Parse(Layer{File: "a.json", Hooks: json.RawMessage(text)})
	for _, p := range problems {
		t.Error(p)
	}
	return all
}

func TestMatchers(t *testing.T) {
	for _, test := range []struct{ matcher, yes, no string }{
		{"", "Bash Edit x", ""},
		{"*", "Bash mcp__a__b", ""},
		{"Bash", "Bash", "BashOutput bash"},
		{"Edit|Write", "Edit Write", "MultiEdit"},
		{"Edit, Write", "Edit Write", "Read"},
		{"mcp__memory__.*", "mcp__memory__create", "mcp__other__create"},
		{"mcp__memory", "mcp__memory", "mcp__memory__create"},
		{"^Notebook", "NotebookEdit", "Edit"},
		{"a-b", "a-b", "a"},
	} {
		matches, err := matcher(test.matcher)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(test.yes) {
			if !matches(name) {
				t.Errorf("%q does not match %s", test.matcher, name)
			}
		}
		for name := range strings.FieldsSeq(test.no) {
			if matches(name) {
				t.Errorf("%q matches %s", test.matcher, name)
			}
		}
	}
}

// What Tenon cannot run is reported, and the rest counts.
func TestParse(t *testing.T) {
	all, problems := Parse(Layer{File: "a.json", Project: true, Hooks: json.RawMessage(`{
		"PreToolUse": [
			{"matcher": "(?=x)", "hooks": [{"type": "command", "command": "a"}]},
			{"matcher": "Bash", "hooks": [
				{"type": "command", "command": "a", "timeout": 1.5, "if": "Bash(git *)", "statusMessage": "…"}, {"type": "prompt", "prompt": "x"}, {"type": "command"},
				{"type": "http", "url": "ftp://x"}, {"type": "http", "url": "https://x/y"}, {"type": "command", "command": "a", "timeout": 0}, 5
			]}
		],
		"Stop": [{"hooks": [{"type": "command", "command": "a", "if": "Bash"}, {"type": "command", "command": "b"}]}],
		"Setup": [{"hooks": []}], "SessionEnd": [{"hooks": [{"type": "command", "command": "c", "timeout": 600}]}], "Notification": {}
	}`)})
	var got []string
	for _, h := range all {
		got = append(got, string(h.Event)+" "+h.Title()+" "+h.Timeout.String())
	}
	if want := "PreToolUse a 1.5s,PreToolUse https://x/y 10m0s,SessionEnd c 1m0s,Stop b 10m0s"; strings.Join(got, ",") != want {
		t.Errorf("got %q", got)
	}
	if len(problems) != 9 {
		t.Errorf("%d problems:\n%s", len(problems), strings.Join(problems, "\n"))
	}
}

// The answers of hooks, as the documentation of Claude Code describes them.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		event        Event
		code         int
		stdout, errs string
		want         Answer
	}{
		{PreToolUse, 0, "plain", "", Answer{}},
		{PreToolUse, 2, "", "no rm", Answer{Decision: "deny", Reason: "no rm"}},
		{PreToolUse, 2, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{}}}`, "no", Answer{Decision: "deny", Reason: "no"}},
		{PreToolUse, 2, `{"reason":"from JSON"}`, "no", Answer{Decision: "deny", Reason: "from JSON"}},
		{PreToolUse, 2, "", "", Answer{Decision: "deny", Reason: "the hook gave no reason"}},
		{PreToolUse, 1, "", "broken", Answer{Problem: "exit code 1: broken"}},
		{PreToolUse, 1, `{"decision":"block","reason":"old"}`, "", Answer{Decision: "deny", Reason: "old"}},
		{PreToolUse, 0, `{"decision":"approve"}`, "", Answer{Decision: "allow"}},
		{PreToolUse, 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}`, "", Answer{Decision: "ask"}},
		{PreToolUse, 0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"look","additionalContext":"c"}}`, "", Answer{Decision: "ask", Reason: "look", Context: "c"}},
		{PreToolUse, 0, `{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}`, "", Answer{Problem: `the output is not the JSON of a hook: hookSpecificOutput.hookEventName is "PostToolUse" and must be "PreToolUse"`}},
		{PreToolUse, 0, `{"continue":false,"stopReason":"enough","suppressOutput":true,"systemMessage":"m"}`, "", Answer{Stop: true, Why: "enough", Message: "m"}},
		{PermissionRequest, 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}`, "", Answer{Decision: "deny", Reason: "no", Stop: true, Why: "no"}},
		{PermissionRequest, 2, "", "ignored", Answer{Message: "ignored"}},
		{PostToolUse, 2, "", "lint failed", Answer{Decision: "block", Reason: "lint failed"}},
		{UserPromptSubmit, 0, "branch main\n", "", Answer{Context: "branch main"}},
		{SessionStart, 2, "", "told", Answer{Message: "told"}},
		{SessionStart, 0, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`, "", Answer{Context: "c"}},
		{Stop, 0, `{"decision":"block","reason":"go on"}`, "", Answer{Decision: "block", Reason: "go on"}},
		{Stop, 2, "", "go on", Answer{Decision: "block", Reason: "go on"}},
		{PostToolUse, 0, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":null}}`, "", Answer{}},
	} {
		got, _ := json.Marshal(parse(test.event, test.code, test.stdout, test.errs))
		want, _ := json.Marshal(test.want)
		if string(got) != string(want) {
			t.Errorf("%s, code %d, %q, %q:\n got %s\nwant %s", test.event, test.code, test.stdout, test.errs, got, want)
		}
	}
}

// The strictest answer counts; a project allows nothing; the same hook runs once.
func TestFire(t *testing.T) {
	say := func(decision string) string {
		text, _ := json.Marshal(`echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"` + decision + `","permissionDecisionReason":"` + decision + `"}}'`)
		return `{"type":"command","command":` + string(text) + `}`
	}
	group := func(hooks ...string) []Handler {
		return parsed(t, `{"PreToolUse":[{"matcher":"Bash","hooks":[`+strings.Join(hooks, ",")+`]}]}`)
	}
	fire := func(all []Handler, meets func(string) bool) Result {
		r := New(Options{Handlers: all, Run: process, Env: []string{"A=b"}})
		defer r.Close()
		return r.Fire(t.Context(), Firing{Event: PreToolUse, Matches: []string{"Bash", "shell"}, Input: map[string]any{"x": "it's"}, Meets: meets})
	}
	if r := fire(group(say("allow"), say("ask"), say("deny"), say("allow")), nil); r.Deny == nil || r.Deny.Reason != "deny" || r.Ask == nil || r.Allow == nil || len(r.Ran) != 3 {
		t.Errorf("%+v", r)
	}
	project := group(say("allow"))
	project[0].Project = true
	if r := fire(project, nil); r.Allow != nil || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
	if r := fire(group(`{"type":"command","command":"cat; echo $A","if":"Bash(git *)"}`), func(rule string) bool { return rule == "Bash(git *)" }); len(r.Ran) != 1 || r.Ran[0].Stdout != "{\"x\":\"it's\"}b\n" {
		t.Errorf("%+v", r)
	}
	if r := fire(group(`{"type":"command","command":"cat","if":"Bash(git *)"}`), func(string) bool { return false }); len(r.Ran) != 0 {
		t.Errorf("%+v", r)
	}
	if r := fire(group(`{"type":"command","command":"printf","args":["%s|%s","${A} it's; rm","$A"]}`), nil); r.Ran[0].Stdout != "b it's; rm|$A" {
		t.Errorf("%+v", r)
	}
}

// A permission of the person is for the input that the person's hook saw. A project does not replace texts of that hook.
func TestAProjectDoesNotUseAPermissionOfThePerson(t *testing.T) {
	answer := func(project bool, a Answer) Ran { return Ran{Handler: Handler{Project: project}, Answer: a} }
	allow, evil, own := Answer{Decision: "allow"}, Answer{Input: json.RawMessage(`{"a":1}`), Output: json.RawMessage(`"evil"`)}, Answer{Decision: "allow", Input: json.RawMessage(`{}`), Output: json.RawMessage(`"own"`)}
	for _, ran := range [][]Ran{{answer(false, allow), answer(true, evil)}, {answer(true, evil), answer(false, allow)}} {
		if r := merge(ran); r.Allow != nil || string(r.Input) != `{"a":1}` {
			t.Errorf("%+v", r)
		}
	}
	for _, ran := range [][]Ran{{answer(false, own), answer(true, evil)}, {answer(true, evil), answer(false, own)}} {
		if r := merge(ran); r.Allow == nil || string(r.Input) != `{}` || string(r.Output) != `"own"` {
			t.Errorf("%+v", r)
		}
	}
}

// An asynchronous hook decides nothing. Its context comes later, and Close ends it.
// A hook that must succeed blocks if it fails, and a hook that wakes the model says why.
func TestFailuresThatBlock(t *testing.T) {
	got := make(chan Result, 1)
	r := New(Options{Run: process, Later: func(_ Event, one Result) { got <- one }, Handlers: parsed(t, `{
		"PreToolUse": [{"hooks": [{"type": "command", "onFailure": "block", "command": "exit 7"}]}],
		"PostToolUse": [{"hooks": [{"type": "command", "asyncRewake": true, "command": "echo broken >&2; exit 2"}]}]}`)})
	defer r.Close()
	if now := r.Fire(t.Context(), Firing{Event: PreToolUse}); now.Deny == nil || !strings.Contains(now.Deny.Reason, "exit code 7") {
		t.Errorf("%+v", now)
	}
	r.Fire(t.Context(), Firing{Event: PostToolUse})
	if later := <-got; later.Deny != nil || len(later.Context) != 1 || later.Context[0] != "broken" {
		t.Errorf("%+v", later)
	}
}

func TestAsync(t *testing.T) {
	got := make(chan Result, 1)
	r := New(Options{
		Handlers: parsed(t, `{"PostToolUse":[{"hooks":[{"type":"command","async":true,"command":"echo '{\"decision\":\"block\",\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"later\"}}'"}]}]}`),
		Run:      process, Later: func(_ Event, r Result) { got <- r },
	})
	if now := r.Fire(t.Context(), Firing{Event: PostToolUse}); now.Deny != nil || len(now.Ran) != 0 {
		t.Errorf("%+v", now)
	}
	if later := <-got; later.Deny != nil || len(later.Context) != 1 || later.Context[0] != "later" {
		t.Errorf("%+v", later)
	}
	r.Close()
	endless := New(Options{Handlers: parsed(t, `{"Stop":[{"hooks":[{"type":"command","command":"exec sleep 1000"}]}]}`), Run: process})
	endless.After(Firing{Event: Stop})
	endless.Close()
	endless.After(Firing{Event: Stop})
}

func TestHeaders(t *testing.T) {
	h := Handler{Vars: []string{"A", "B_1"}}
	getenv := func(name string) string { return map[string]string{"A": "a", "B_1": "b\r\nX: y", "C": "secret"}[name] }
	for in, want := range map[string]string{
		"Bearer $A": "Bearer a", "${B_1}!": "bX: y!", "$C${C}x": "x", "$": "$", "cost $5": "cost ",
	} {
		if got := h.expand(in, getenv); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Every answer is bounded valid text, decides only by its own words, and never a permission where the exit code blocks.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "plain", `{}`, `{"continue":false}`, `{"decision":"block","reason":"x"}`, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"a":1}}}`,
		`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`, "{\"reason\":\"\xff\"}", `{"a":` + strings.Repeat("[", 200), `{} {}`,
	} {
		f.Add(text, "error", 0, 0)
		f.Add(text, "error", 2, 2)
	}
	f.Fuzz(func(t *testing.T, stdout, stderr string, code, event int) {
		e := Events()[uint(event)%uint(len(Events()))]
		a := parse(e, code, stdout, stderr)
		for _, text := range []string{a.Reason, a.Context, a.Why, a.Message, a.Problem} {
			if !utf8.ValidString(text) || len(text) > maxText*3+100 {
				t.Errorf("%d bytes, valid: %t", len(text), utf8.ValidString(text))
			}
		}
		if code == exitBlocks && e.blocks() && (a.Decision == "allow" || a.Decision == "ask" || a.Decision == "" || a.Input != nil) {
			t.Errorf("%s with exit code 2 is %+v", e, a)
		}
		if a.Decision == "allow" && !strings.Contains(stdout, "a") {
			t.Errorf("%+v", a)
		}
		if a.Problem != "" && (a.Decision == "allow" && e == PreToolUse) {
			t.Errorf("a broken answer allows: %+v", a)
		}
		if _, err := json.Marshal(a); err != nil {
			t.Error(err)
		}
	})
}

func FuzzConfiguration(f *testing.F) {
	f.Add(`{"PreToolUse":[{"matcher":"a|b","hooks":[{"type":"command","command":"x","timeout":1e300}]}]}`)
	f.Add(`{"Stop":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := Parse(Layer{File: "x", Hooks: json.RawMessage(text)})
		for _, h := range all {
			h.matches("Bash")
			if h.Timeout <= 0 || h.Timeout > (1<<31)*time.Second || h.Event.Check() != nil {
				t.Errorf("%+v", h)
			}
		}
	})
}
