//go:build unix

package app

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/view"
)

// A command of a person asks as one of the model does, enters the conversation in the name of the tool, and an undo reverts it.
func TestACommandOfAPerson(t *testing.T) {
	o := opened(t, "text Done.", Opening{Ask: true, Permissions: Permissions{Mode: permission.AskMode}})
	c, ctx := o.Conversation, t.Context()
	say(t, c, "hello")
	s, err := c.State(ctx)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		entry session.Event
		err   error
	}
	done := make(chan result, 1)
	go func() {
		e, err := c.Command(ctx, "echo one > a.txt; echo written")
		done <- result{e, err}
	}()
	for e, err := range c.Follow(ctx, s.Seq) {
		if err != nil {
			t.Fatal(err)
		}
		q, ok := e.Body.(session.Asking)
		if !ok {
			continue
		}
		if _, err := c.Command(ctx, "true"); !errors.Is(err, agent.ErrBusy) {
			t.Errorf("a second command: %v", err)
		}
		if s, err := c.State(ctx); err != nil || s.Command != q.Calls[0].Call || s.Run != "" || len(s.Asking) != 1 {
			t.Errorf("meanwhile the state is %+v, %v", s, err)
		}
		if err := c.Answer(ctx, q.ID, ask.Answer{Allow: true}); err != nil {
			t.Fatal(err)
		}
		break
	}
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	m := got.entry.Body.(session.Message)
	if m.ByPerson() || !strings.Contains(m.Text(), "$ echo one > a.txt; echo written\n") {
		t.Errorf("the message is %q", m.Text())
	}
	if r, ok := view.Unframed(m); !ok || !strings.HasPrefix(r.Text(), "written") {
		t.Errorf("the result is %q", r.Text())
	}
	name := filepath.Join(o.Dir, "a.txt")
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	plan, err := c.Rewind(ctx, conversation.Back{})
	if err != nil || len(plan.Files) != 1 || !strings.Contains(plan.Title, "echo one") {
		t.Fatalf("the undo was %+v, %v", plan, err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the undo: %v", err)
	}
	for e, err := range c.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(session.RunEnded); ok {
			break // the prompt before the command stays
		}
	}
}

// A mode that denies the command of a model denies that of a person too.
func TestADeniedCommandOfAPerson(t *testing.T) {
	c := opened(t, "", Opening{Permissions: Permissions{Mode: permission.Plan}}).Conversation
	_, err := c.Command(t.Context(), "echo one > a.txt")
	if not, ok := errors.AsType[*agent.NotRunError](err); !ok || not.Outcome != session.OutcomeDenied || !strings.HasPrefix(not.Code(), "permission.") {
		t.Errorf("got %v", err)
	}
}

// A prompt that arrives during a command waits for its end, and then starts a run. An abort kills the command.
func TestAPromptDuringACommand(t *testing.T) {
	o := opened(t, "text Done.", Opening{Permissions: Permissions{Mode: permission.Yolo}})
	c, ctx := o.Conversation, t.Context()
	done := make(chan session.Event, 1)
	go func() {
		e, err := c.Command(ctx, "echo begun; tail -f /dev/null")
		if err != nil {
			t.Error(err)
		}
		done <- e
	}()
	var order []string
	for e, err := range c.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		order = append(order, e.Kind())
		if e.Kind() == "progress" {
			p, err := c.Prompt(ctx, conversation.Prompt{Message: llm.UserText("And now?")})
			if err != nil || p.Draft == "" || p.Run != "" {
				t.Errorf("the prompt is %+v, %v", p, err)
			}
			if err := c.Abort(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if end, ok := e.Body.(session.RunEnded); ok {
			if end.Reason != session.ReasonDone {
				t.Errorf("the run ended with %+v", end)
			}
			break
		}
	}
	if m := (<-done).Body.(session.Message); m.Outcome != session.OutcomeCancelled {
		t.Errorf("the outcome is %q", m.Outcome)
	}
	if s, err := c.State(ctx); err != nil || len(s.Drafts) > 0 || s.Command != "" {
		t.Errorf("the state is %+v, %v; %v", s, err, order)
	}
}

// A frontend lists and removes grants, pins messages, renames the session, and sees what fills the context window.
func TestWhatAFrontendShowsOfAConversation(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "project"), 0o700),
		os.WriteFile(filepath.Join(dir, "project", "long.txt"), []byte(strings.Repeat("a long line of a file\n", 400)), 0o600),
		os.WriteFile(filepath.Join(dir, "project", "AGENTS.md"), []byte("Be brief. "+strings.Repeat("Very brief. ", 100)), 0o600)); err != nil {
		t.Fatal(err)
	}
	read := "call read {\"path\": \"long.txt\"}\n---\n"
	o := openedAt(t, dir, read+read+"text Done.", Opening{Permissions: Permissions{Mode: permission.AskMode, Allow: []string{"shell(make *)"}}})
	c, ctx := o.Conversation, t.Context()
	say(t, c, "Read it twice.")

	w, err := c.Window(ctx)
	if err != nil {
		t.Fatal(err)
	}
	kinds, sum := map[conversation.WindowKind]int{}, 0
	for _, p := range w.Parts {
		kinds[p.Kind] = p.Items
		sum += p.Tokens
	}
	if kinds["system"] != 1 || kinds["tools"] < 5 || kinds["prompts"] != 1 || kinds["answers"] != 3 || kinds["results"] != 2 || kinds["files"] != 1 || kinds["environment"] == 0 {
		t.Errorf("the parts are %+v", w.Parts)
	}
	if sum < w.Used*9/10 || sum > w.Used*11/10 || w.Usable <= w.Used {
		t.Errorf("%d tokens in all, %d used of %d", sum, w.Used, w.Usable)
	}
	var prompt session.ID
	i := slices.IndexFunc(w.Largest, func(it conversation.WindowItem) bool { return it.Kind == conversation.WindowResults })
	if i < 0 || w.Largest[i].Entry == "" || !strings.HasPrefix(w.Largest[i].Name, "read ") {
		t.Fatalf("the largest are %+v", w.Largest)
	}
	e, err := c.Trim(ctx)
	if err != nil || e == nil {
		t.Fatalf("the trim is %+v, %v", e, err)
	}
	if after, err := c.Window(ctx); err != nil || after.Used >= w.Used {
		t.Errorf("%d tokens after the trim, %d before, %v", after.Used, w.Used, err)
	}
	if e, err := c.Trim(ctx); err != nil || e != nil {
		t.Errorf("a second trim is %+v, %v", e, err)
	}

	s, err := c.State(ctx)
	if err != nil || s.Network != "none" || s.Role != "" || len(s.Budgets) != 3 || s.Budgets[0].Name != "run" || s.Budgets[0].Money != agent.DefaultCost {
		t.Errorf("the state is %+v, %v", s, err)
	}
	for e, err := range c.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.ByPerson() {
			prompt = e.ID
			break
		}
	}
	if err := errors.Join(c.Pin(ctx, prompt, true), c.Rename(ctx, " Reading\nit ")); err != nil {
		t.Fatal(err)
	}
	if pins, err := conversation.Pins(ctx, o.agent.Agent, o.app.Store); err != nil || len(pins) != 1 || pins[0].Entry != prompt {
		t.Errorf("the pins are %+v, %v", pins, err)
	}
	if err := c.Pin(ctx, prompt, false); err != nil {
		t.Fatal(err)
	}
	if pins, err := conversation.Pins(ctx, o.agent.Agent, o.app.Store); err != nil || len(pins) != 0 {
		t.Errorf("the pins are %+v, %v", pins, err)
	}
	if s, err := c.State(ctx); err != nil || s.Title != "Reading it" {
		t.Errorf("the title is %q, %v", s.Title, err)
	}
}

// A person's grant is in the list of rules until it is revoked. Then Tenon asks again.
func TestAGrantCanBeRevoked(t *testing.T) {
	o := opened(t, "", Opening{Ask: true, Permissions: Permissions{Mode: permission.AskMode, Deny: []string{"shell(rm *)"}}})
	c, ctx := o.Conversation, t.Context()
	asked := 0
	touch := func() {
		t.Helper()
		s, err := c.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := c.Command(ctx, "touch a.txt")
			done <- err
		}()
		for e, err := range c.Follow(ctx, s.Seq) {
			if err != nil {
				t.Fatal(err)
			}
			if q, ok := e.Body.(session.Asking); ok {
				asked++
				if err := c.Answer(ctx, q.ID, ask.Answer{Allow: true, Grant: 1}); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok := e.Body.(session.Message); ok {
				break
			}
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	touch()
	touch()
	rules, err := c.Rules(ctx)
	if err != nil || len(rules) != 2 || rules[0].Action != permission.Deny || rules[0].Granted || !rules[1].Granted || rules[1].Scope != permission.Session || asked != 1 {
		t.Fatalf("after %d questions the rules are %+v, %v", asked, rules, err)
	}
	if err := c.Revoke(ctx, "shell(none)"); !errors.Is(err, conversation.ErrNoGrant) {
		t.Errorf("an unknown grant: %v", err)
	}
	if err := c.Revoke(ctx, rules[1].Text); err != nil {
		t.Fatal(err)
	}
	if touch(); asked != 2 {
		t.Errorf("%d questions", asked)
	}
}

// commandDir is the variable with the directory of a child process that is killed while a command of a person runs.
const commandDir = "TENON_TEST_COMMANDING"

// A process that is killed during a command of a person leaves a message that says so, with the files that changed, and an undo reverts them.
func TestAProcessIsKilledDuringACommand(t *testing.T) {
	if dir := os.Getenv(commandDir); dir != "" {
		commandForEver(t, dir)
		return
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAProcessIsKilledDuringACommand$", "-test.v")
	child.Env = append(os.Environ(), commandDir+"="+dir)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	id, lines := "", bufio.NewScanner(out)
	for id == "" && lines.Scan() {
		id, _ = strings.CutPrefix(lines.Text(), "running in ")
		if id == lines.Text() {
			id = ""
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait() // it says that it was killed
	if id == "" {
		t.Fatal("the command never ran")
	}
	o := openedAt(t, dir, "text Done.", Opening{Which: conversation.Which{ID: id}, Permissions: Permissions{Mode: permission.Yolo}})
	c, ctx := o.Conversation, t.Context()
	found := false
	for e, err := range c.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.Outcome == session.OutcomeUnknown {
			found = !m.ByPerson() && strings.Contains(m.Text(), "$ echo two > a.txt") && strings.Contains(m.Text(), "a.txt\": changed")
			if !found {
				t.Errorf("the message is %q", m.Text())
			}
			break
		}
	}
	plan, err := c.Rewind(ctx, conversation.Back{Force: true})
	if err != nil || len(plan.Files) != 1 {
		t.Fatalf("the undo was %+v, %v", plan, err)
	}
	if text, err := os.ReadFile(filepath.Join(o.Dir, "a.txt")); string(text) != "one" {
		t.Errorf("after the undo: %q, %v", text, err)
	}
	say(t, c, "Go on.")
}

// commandForEver runs a command until it is killed.
func commandForEver(t *testing.T, dir string) {
	if err := os.MkdirAll(filepath.Join(dir, "project"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "project", "a.txt"), []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := openedAt(t, dir, "", Opening{Permissions: Permissions{Mode: permission.Yolo}}).Conversation
	go func() { _, _ = c.Command(t.Context(), "echo two > a.txt; echo begun; tail -f /dev/null") }()
	for e := range c.Follow(t.Context(), 0) {
		if e.Kind() == "progress" {
			fmt.Println("running in " + c.Session())
		}
	}
}
