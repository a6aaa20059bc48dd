package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/team/goal"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// goalOf is the goal in the state of a conversation.
func goalOf(t *testing.T, c conversation.Conversation) session.Goal {
	t.Helper()
	s, err := c.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Goal == nil {
		return session.Goal{}
	}
	return *s.Goal
}

// A frontend in this process, one that attached, and any other process set and drop the goal, and it has its sender.
func TestAGoalIsSetFromAnywhere(t *testing.T) {
	o := opened(t, "text Done.", Opening{Permissions: Permissions{Mode: permission.Yolo}, Share: true})
	if g := goalOf(t, o.Conversation); g.State != "" {
		t.Errorf("a new session has %+v", g)
	}
	if err := o.Conversation.Set(t.Context(), session.Change{Goal: &session.Goal{}}); !errors.Is(err, goal.ErrEmpty) {
		t.Error(err)
	}
	var server conversation.Conversation = o.Conversation
	client, err := attach.Dial(t.Context(), o.app.Dir, o.Conversation.Session(), "tester")
	if err == nil {
		defer client.Close()
		server = client
	} else if !errors.Is(err, attach.ErrUnsupported) {
		t.Fatal(err)
	}
	for name, set := range map[string]func(c session.Change) error{
		"here":     func(c session.Change) error { return o.Conversation.Set(t.Context(), c) },
		"attached": func(c session.Change) error { return server.Set(t.Context(), c) },
		"a process": func(c session.Change) error {
			c.By = session.Speaker{Kind: session.SpeakerPerson, Name: "elsewhere"}
			sent, err := request.Send(t.Context(), o.app.Store, o.Conversation.Session(), c)
			if err != nil {
				return err
			}
			for e, err := range o.Conversation.Follow(t.Context(), sent.Seq) {
				if done, ok := e.Body.(session.Changed); err != nil || ok && done.Request == sent.ID {
					return errors.Join(err, problem(done.Error))
				}
			}
			return nil
		},
	} {
		if err := set(session.Change{Goal: &session.Goal{Goal: name, Checks: []string{"true"}}}); err != nil {
			t.Fatal(name, err)
		}
		g := goalOf(t, server)
		if g.Goal != name || g.State != session.GoalExecuting || g.By.Kind != session.SpeakerPerson || g.Limits.Rounds != goal.DefaultRounds {
			t.Errorf("%s: %+v", name, g)
		}
		if name == "a process" && g.By.Name != "elsewhere" {
			t.Errorf("it is by %+v", g.By)
		}
		if err := set(session.Change{Goal: &session.Goal{State: session.GoalDropped}}); err != nil || goalOf(t, server).State != session.GoalDropped {
			t.Errorf("%s: %v, %+v", name, err, goalOf(t, server))
		}
	}
}

func problem(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

// A secret in a goal is hidden, and a check with one is refused.
func TestAGoalHasNoSecrets(t *testing.T) {
	o := opened(t, "text Done.", Opening{})
	o.Setup.Secrets.Hide("sk-0123456789abcdef")
	if err := o.Conversation.Set(t.Context(), session.Change{Goal: &session.Goal{Goal: "use sk-0123456789abcdef"}}); err != nil {
		t.Fatal(err)
	}
	if g := goalOf(t, o.Conversation); strings.Contains(g.Goal, "0123456789") {
		t.Errorf("%+v", g)
	}
	err := o.Conversation.Set(t.Context(), session.Change{Goal: &session.Goal{Goal: "x", Checks: []string{"curl -H sk-0123456789abcdef"}}})
	if !errors.Is(err, conversation.ErrSecret) {
		t.Error(err)
	}
}

// A check runs in the workspace and in the sandbox of the mode, without a question. It has a time limit, and its output no secrets.
func TestChecks(t *testing.T) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		t.Skip("no sandbox here")
	}
	for _, mode := range []permission.Mode{permission.AskMode, permission.Auto, permission.Yolo} {
		t.Run(string(mode), func(t *testing.T) {
			o := opened(t, "text Done.", Opening{Permissions: Permissions{Mode: mode}})
			o.Setup.Secrets.Hide("sk-0123456789abcdef")
			outside := filepath.Join(filepath.Dir(o.Dir), "outside")
			got, err := (verifier{o.agent}).check(t.Context(), "echo inside >inside; echo sk-0123456789abcdef; echo x >"+outside)
			if err != nil || !got.Passed || strings.Contains(got.Output, "0123456789") {
				t.Errorf("%+v, %v", got, err)
			}
			if _, err := os.Stat(filepath.Join(o.Dir, "inside")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(outside); (err == nil) != mode.Free() {
				t.Errorf("the check wrote outside: %v", err == nil)
			}
			if got, err := (verifier{o.agent}).check(t.Context(), "exit 3"); err != nil || got.Passed || !strings.Contains(got.Output, "exit code 3") {
				t.Errorf("%+v, %v", got, err)
			}
			o.agent.spec.CheckTime = 100 * time.Millisecond
			if got, err := (verifier{o.agent}).check(t.Context(), "sleep 1000"); err != nil || got.Passed || !strings.Contains(got.Output, "timed out") {
				t.Errorf("%+v, %v", got, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := (verifier{o.agent}).check(ctx, "true"); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// An open item of the todo list keeps a goal open, and reminders say nothing then.
func TestOpenWorkKeepsAGoalOpen(t *testing.T) {
	const script = "call todo {\"items\": [{\"text\": \"write it\", \"status\": \"pending\"}]}\n---\ntext <done>yes</done>\n---\n" +
		"call todo {\"items\": [{\"text\": \"write it\", \"status\": \"completed\"}]}\n---\ntext <done>now</done>"
	o := opened(t, script, Opening{Permissions: Permissions{Mode: permission.Yolo}})
	if err := o.Conversation.Set(t.Context(), session.Change{Goal: &session.Goal{Goal: "all of it"}}); err != nil {
		t.Fatal(err)
	}
	var said []string
	for e, err := range o.Conversation.Run(t.Context(), conversation.Prompt{Message: llm.UserText("go")}) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.Source == session.FromHook {
			said = append(said, m.Speaker.Name+": "+m.Text())
		}
	}
	if g := goalOf(t, o.Conversation); g.State != session.GoalCompleted || g.Used.Rounds != 2 {
		t.Errorf("%+v", g)
	}
	if len(said) != 2 || !strings.Contains(said[1], "todo list: write it") || slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, "reminders") }) {
		t.Errorf("%q", said)
	}
}

// The model of the role judge decides about a claim. Its cost counts for the session.
func TestTheJudgeOfAGoal(t *testing.T) {
	judge := llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		text := req.Messages[0].Text()
		if !strings.Contains(text, "<goal>\nall of it\n</goal>") {
			t.Errorf("the judge reads %q", text)
		}
		if strings.Contains(text, "with docs") {
			return llm.AssistantText("<think>hm</think>**DONE**"), nil
		}
		return llm.AssistantText("MISSING: the docs"), nil
	})
	o := opened(t, "text <done>yes</done>\n---\ntext <done>with docs</done>", Opening{Permissions: Permissions{Mode: permission.Yolo}})
	ag := o.agent
	ag.spec.Judge = func() (llm.Client, error) { return judge, nil }
	for answer, want := range map[string]string{"<done>yes</done>": "the docs", "<done>with docs</done>": ""} {
		done, reason, err := (verifier{ag}).assess(t.Context(), session.Goal{Goal: "all of it"}, answer)
		if err != nil || done != (want == "") || reason != want {
			t.Errorf("%s: %v, %q, %v", answer, done, reason, err)
		}
	}
	notes := 0
	for e, err := range o.app.Store.Read(t.Context(), ag.Session(), 0, session.Note{}.Kind()) {
		if err != nil {
			t.Fatal(err)
		}
		if n := e.Body.(session.Note); n.Text == "a review of the goal" {
			notes++
		}
	}
	if notes != 2 {
		t.Errorf("the journal has %d reviews", notes)
	}
	ag.spec.Judge = func() (llm.Client, error) { return nil, errors.New("no key") }
	if _, _, err := (verifier{ag}).assess(t.Context(), session.Goal{Goal: "x"}, ""); err == nil || !strings.Contains(err.Error(), "role judge") {
		t.Error(err)
	}
}
