package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// prompting is a hook's function for messages that come in.
type prompting = func(context.Context, session.Message) (string, error)

// house rejects what is rude and adds a warning to what is secret.
func house(_ context.Context, m session.Message) (string, error) {
	switch {
	case strings.Contains(m.Text(), "rude"):
		return "", errors.New("not in this house")
	case strings.Contains(m.Text(), "secret"):
		return "Keep it to yourself.", nil
	default:
		return "", nil
	}
}

func filtered(t *testing.T, filters ...prompting) *bench {
	return clientBench(t, llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
		return llm.AssistantText("Well."), nil
	}), func(o *agent.Options) {
		for _, f := range filters {
			hook(o, agent.Hook{Prompt: f})
		}
	})
}

func TestPromptHooksOnInput(t *testing.T) {
	b := filtered(t, house)
	endsWith(t, b.run("good day"), session.ReasonDone, "")
	endsWith(t, b.run("a secret"), session.ReasonDone, "")
	endsWith(t, b.run("a rude secret"), session.ReasonRefused, "not in this house")
	same(t, b.texts(), `
		user "good day"
		assistant "Well."
		user "a secret"
		user hook "Keep it to yourself."
		assistant "Well."`)
	if n := len(b.client.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	checkJournal(t, b)
}

// Of several messages the good ones are kept, and one that is rejected ends the run.
func TestPromptHookRejectsOneOfSeveral(t *testing.T) {
	b := filtered(t, house)
	events := collect(t, b.Run(t.Context(), text("good day"), text("rude")))
	same(t, trace(events), `
		run_started user
		  message user "good day"
		  rejected "not in this house"
		run_ended refused
	`)
}

func TestPromptHooksInTheirOrder(t *testing.T) {
	warn := func(s string) prompting {
		return func(_ context.Context, m session.Message) (string, error) { return s + " of " + m.Text(), nil }
	}
	b := filtered(t, warn("first"), warn("second"), house, func(context.Context, session.Message) (string, error) {
		return "", errors.New("never asked about what is rude")
	})
	events := b.run("rude")
	got, by := bodies[session.Rejected](events)[0], session.Speaker{Kind: session.SpeakerHook, Name: "h2"}
	if got.Reason != "not in this house" || got.Message.Text() != "rude" || got.By != by {
		t.Errorf("rejected: %+v; want the message as it came in, the first reason, and its hook", got)
	}
	if end := ending(t, events); end.By != by {
		t.Errorf("the run was refused by %v", end.By)
	}
	b = filtered(t, warn("first"), warn("second"))
	b.run("so")
	same(t, b.texts(), `
		user "so"
		user hook "first of so"
		user hook "second of so"
		assistant "Well."`)
}

// A rejected draft leaves the queue, does not count as delivered, and gets no answer.
func TestPromptHooksOnDrafts(t *testing.T) {
	tests := []struct{ name, steering, followUps, want string }{
		{"pass", "s", "f", `
			user "go"
			user steering "s"
			assistant "Well."
			user follow_up "f"
			assistant "Well."`},
		{"warn", "secret", "secret", `
			user "go"
			user steering "secret"
			user hook "Keep it to yourself."
			assistant "Well."
			user follow_up "secret"
			user hook "Keep it to yourself."
			assistant "Well."`},
		{"reject", "rude", "rude", `
			user "go"
			assistant "Well."`},
		{"reject and pass", "rude s", "rude f", `
			user "go"
			user steering "s"
			assistant "Well."
			user follow_up "f"
			assistant "Well."`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := filtered(t, house)
			queued(t, b, test.steering, test.followUps)
			endsWith(t, b.run("go"), session.ReasonDone, "")
			same(t, b.texts(), test.want)
			if left := b.drafts(); len(left) != 0 {
				t.Errorf("drafts are left: %v", left)
			}
			checkJournal(t, b)
		})
	}
}

// When all that came during the last answer is rejected there is nothing to answer: the model is not asked about its own words.
func TestRejectedSteeringAtTheEnd(t *testing.T) {
	b := filtered(t, house)
	asked := 0
	if err := b.SetClient(t.Context(), llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
		asked++
		queued(t, b, "rude rude", "")
		return llm.AssistantText("Well."), nil
	})); err != nil {
		t.Fatal(err)
	}
	b.run("go")
	same(t, b.texts(), "user \"go\"\nassistant \"Well.\"")
	if asked != 1 {
		t.Errorf("the model was asked %d times", asked)
	}
	if got := len(bodies[session.Rejected](b.journal())); got != 2 {
		t.Errorf("%d messages are in the journal as rejected, want 2", got)
	}
}

func TestInputThatCannotBe(t *testing.T) {
	b := filtered(t)
	for name, in := range map[string][]llm.Message{
		"no message": nil, "an empty one": {{}}, "a blank one": {text("go"), text(" \n")},
	} {
		events, err := drain(b.Run(t.Context(), in...))
		if err == nil || len(events) != 0 {
			t.Errorf("%s: %d events and the error %v", name, len(events), err)
		}
	}
	if _, err := b.Steer(t.Context(), text("")); err == nil {
		t.Error("an empty steering message is taken")
	}
	if _, err := b.FollowUp(t.Context(), llm.Message{}); err == nil {
		t.Error("an empty follow-up is taken")
	}
	d, err := b.Steer(t.Context(), text("go"))
	if err != nil || b.edit(t.Context(), d.ID, "") == nil {
		t.Error("a draft can be made empty")
	}
	if len(b.journal()) != 2 {
		t.Errorf("what cannot be left a trace: %v", b.journal())
	}
}

// A prompt of 10 MB, invalid UTF-8, parts that JSON cannot carry, a role that is not a user's: all of it can be kept.
func TestInputThatIsOdd(t *testing.T) {
	b := filtered(t)
	long := strings.Repeat("0123456789", 1<<20)
	endsWith(t, b.run(long), session.ReasonDone, "")
	if got := b.client.Requests()[0].Messages[0].Text(); got != long {
		t.Errorf("the model got %d bytes", len(got))
	}
	odd := llm.Message{Role: llm.RoleAssistant, Content: llm.Content{
		nil, llm.Text{Text: "a\xff\xfeb", Opaque: []byte("{")}, llm.UnknownPart{Type: "x", JSON: []byte("}")},
	}}
	endsWith(t, collect(t, b.Run(t.Context(), odd)), session.ReasonDone, "")
	sent := b.client.Requests()[1].Messages
	if m := sent[len(sent)-1]; m.Role != llm.RoleUser || !strings.HasPrefix(m.Text(), "a\uFFFDb") {
		t.Errorf("the model got %+v", m)
	}
	for _, e := range b.journal() {
		if _, _, err := session.EncodeBody(e.Body); err != nil {
			t.Errorf("entry %d: %v", e.Seq, err)
		}
	}
}
