//go:build unix

package e2e_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Other processes attach to the session of tenon run while it works: they see the run so far, add to it, and see who did.
func TestAttachToARun(t *testing.T) {
	t.Parallel()
	p, w := newProject(t), wayOf(t, "anthropic")
	reached, release := make(chan struct{}, 1), make(chan struct{})
	n := 0
	w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if n++; n == 1 {
			reached <- struct{}{}
			<-release
		}
		return modelserver.Say(answer)
	}))
	c := p.start("run", "--model", w.ref(), "--output", "stream-json", "How many keys?")
	c.reaches(reached)

	ctx := t.Context()
	open, err := attach.List(ctx, p.data)
	if err != nil || len(open) != 1 || open[0].Owner != "tenon run" || open[0].PID != c.cmd.Process.Pid {
		t.Fatalf("the open sessions are %+v, %v", open, err)
	}
	var clients []*attach.Client
	for _, name := range []string{"one", "two"} {
		client, err := attach.Dial(ctx, p.data, open[0].ID, name)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	one, two := clients[0], clients[1]
	s, err := two.State(ctx)
	if err != nil || s.Session != open[0].ID || s.Run == "" || s.Dir == "" || s.Model.Ref() == "" || len(s.Budgets) != 3 {
		t.Errorf("the state is %+v, %v", s, err)
	}
	if _, err := two.Command(ctx, "true"); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a command during the run: %v", err)
	}
	prompted, err := one.Prompt(ctx, conversation.Prompt{Message: llm.UserText("And how many drawers?")})
	if err != nil || prompted.Draft == "" {
		t.Errorf("the prompt is %+v, %v", prompted, err)
	}
	close(release)
	var speakers []string
	for e, err := range two.Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.ByPerson() {
			speakers = append(speakers, m.Speaker.Name)
		}
		if _, ok := e.Body.(session.RunEnded); ok {
			break
		}
	}
	if !slices.Equal(speakers, []string{"", "one"}) || n != 2 {
		t.Errorf("the prompts are by %q, with %d requests", speakers, n)
	}
	if _, err := io.Copy(io.Discard, c.stdout); err != nil {
		t.Error(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("%v; %s", err, c.stderr.String())
	}
	if _, err := one.State(ctx); !errors.Is(err, attach.ErrGone) {
		t.Errorf("after the end: %v", err)
	}
	if open, err := attach.List(context.WithoutCancel(ctx), p.data); err != nil || len(open) != 0 {
		t.Errorf("after the end the open sessions are %+v, %v", open, err)
	}
}

// A person at another process calls a command of a file: the model gets its text.
func TestAttachedClientsCallCommands(t *testing.T) {
	t.Parallel()
	p, w := newProject(t), wayOf(t, "anthropic")
	p.puts(p.home, ".claude/commands/greet.md", "Greet $1 kindly.\n")
	p.puts(p.home, ".claude/commands/tidy.md", "---\nallowed-tools: Read\n---\nTidy up.\n")
	reached, release := make(chan struct{}, 1), make(chan struct{})
	var once sync.Once
	srv := w.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step {
		once.Do(func() {
			reached <- struct{}{}
			<-release
		})
		return modelserver.Say(answer)
	}))
	c := p.start("run", "--model", w.ref(), "How many keys?")
	c.reaches(reached)
	ctx := t.Context()
	open, err := attach.List(ctx, p.data)
	if err != nil || len(open) != 1 {
		t.Fatalf("the open sessions are %+v, %v", open, err)
	}
	client, err := attach.Dial(ctx, p.data, open[0].ID, "one")
	if err != nil {
		t.Fatal(err)
	}
	if prompted, err := client.Prompt(ctx, conversation.Prompt{Message: llm.UserText("/greet Ada")}); err != nil || prompted.Draft == "" {
		t.Errorf("the prompt is %+v, %v", prompted, err)
	}
	if _, err := client.Prompt(ctx, conversation.Prompt{Message: llm.UserText("/tidy")}); err == nil || !strings.Contains(err.Error(), "cannot run /tidy: ") || !strings.Contains(err.Error(), "idle session") {
		t.Errorf("a command with tools during the run: %v", err)
	}
	close(release)
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("%v; %s", err, c.stderr.String())
	}
	all := srv.Requests()
	if text := all[len(all)-1].LastUser(); !strings.Contains(text, "/greet Ada") || !strings.Contains(text, "Greet Ada kindly.") {
		t.Errorf("the prompt is %q", text)
	}
}
