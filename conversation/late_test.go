package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// A frontend that joins in the middle of an answer has its text so far from the state, and the rest from Follow.
func TestJoiningInTheMiddleOfAnAnswer(t *testing.T) {
	for joins := range 5 { // at the partial of this number
		synctest.Test(t, func(t *testing.T) {
			client := llmtest.New(t, strings.Repeat("text word \ndelay 50ms\n", 40))
			c, _, err := conversation.Open(t.Context(), memory.New(), conversation.Which{Dir: "/a"}, agent.Options{Client: client})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			whole, partials := strings.Repeat("word ", 40), 0
			for e, err := range c.Run(t.Context(), conversation.Prompt{Message: llm.UserText("go")}) {
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := e.Body.(session.Partial); !ok {
					continue
				}
				if partials++; partials != joins+1 {
					continue
				}
				s, err := c.State(t.Context())
				if err != nil || s.Run == "" || s.Seq < e.Seq {
					t.Fatalf("the state is %+v, %v", s, err)
				}
				if before := s.Answer.Text(); before == "" || before+rest(t, c, s.Seq) != whole {
					t.Errorf("the text so far is %q", before)
				}
			}
			if s, err := c.State(t.Context()); err != nil || s.Run != "" || len(s.Answer) > 0 || partials < 6 {
				t.Errorf("after %d partials: %+v, %v", partials, s, err)
			}
		})
	}
}

// rest follows from an entry and returns the text of an answer: the deltas without the partials that repeat them.
func rest(t *testing.T, c conversation.Conversation, after int64) string {
	var text, deltas strings.Builder
	for e, err := range c.Follow(t.Context(), after) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case live.Delta:
			deltas.WriteString(b.Text)
		case session.Partial:
			text.WriteString(b.Content.Text())
			deltas.Reset()
		case session.Message:
			return text.String() + deltas.String()
		}
	}
	return ""
}

// Without functions for them, the operations report that, and a draft does not wait for ever.
func TestUnsupportedOperations(t *testing.T) {
	c, _, err := conversation.Open(t.Context(), memory.New(), conversation.Which{Dir: "/a"}, agent.Options{Client: llmtest.New(t, "")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx := t.Context()
	for name, f := range map[string]func() error{
		"command": func() error { _, err := c.Command(ctx, "ls"); return err },
		"trim":    func() error { _, err := c.Trim(ctx); return err },
		"rules":   func() error { _, err := c.Rules(ctx); return err },
		"end job": func() error { return c.EndJob(ctx, "job1") },
		"revoke":  func() error { return c.Revoke(ctx, "shell(ls)") },
	} {
		if err := f(); !errors.Is(err, conversation.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := c.Pin(context.WithoutCancel(ctx), "none", true); !errors.Is(err, conversation.ErrNoMessage) {
		t.Errorf("a pin of nothing: %v", err)
	}
	if err := c.Rename(ctx, " \n"); !errors.Is(err, conversation.ErrNoTitle) {
		t.Errorf("no title: %v", err)
	}
}

// A prompt that comes during a rewind starts a run after it.
func TestAPromptDuringARewind(t *testing.T) {
	store := memory.New()
	client := llmtest.New(t, "text One.\n---\ntext Two.")
	a, err := agent.New(t.Context(), store, agent.Options{Client: client})
	if err != nil {
		t.Fatal(err)
	}
	var c *conversation.Local
	var came conversation.Prompted
	c = conversation.New(a, store, conversation.Options{
		Dir: t.TempDir(), Contents: contents.NewDir(t.TempDir(), contents.Options{}),
		Bounds: func(string) (workspace.Options, error) { // the rewind asks for it
			if came == (conversation.Prompted{}) {
				came, err = c.Prompt(t.Context(), conversation.Prompt{Message: llm.UserText("second")})
			}
			return workspace.Options{}, err
		},
	})
	defer c.Close()
	for _, err := range c.Run(t.Context(), conversation.Prompt{Message: llm.UserText("first")}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Rewind(t.Context(), conversation.Back{}); err != nil || came.Draft == "" {
		t.Fatalf("%+v, %v", came, err)
	}
	for e, err := range c.Follow(t.Context(), s.Seq) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.Text() == "Two." {
			break
		}
	}
}
