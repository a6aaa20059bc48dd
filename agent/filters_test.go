package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// house rejects what is rude and warns of what is secret.
func house(_ context.Context, m llm.Message) agent.Screening {
	switch {
	case strings.Contains(m.Text(), "rude"):
		return agent.Screening{Reject: "not in this house"}
	case strings.Contains(m.Text(), "secret"):
		return agent.Screening{Warn: "keep it to yourself"}
	default:
		return agent.Screening{}
	}
}

func filtered(t *testing.T, filters ...agent.Filter) *bench {
	return clientBench(t, llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
		return llm.AssistantText("Well."), nil
	}), func(o *agent.Options) { o.Filters = filters })
}

func TestFiltersOnInput(t *testing.T) {
	b := filtered(t, house)
	endsWith(t, b.run("good day"), session.ReasonDone, "")
	endsWith(t, b.run("a secret"), session.ReasonDone, "")
	endsWith(t, b.run("a rude secret"), session.ReasonRefused, "not in this house")
	same(t, b.texts(), `
		user "good day"
		assistant "Well."
		user "a secret" "\n\n[Warning: keep it to yourself]"
		assistant "Well."`)
	if n := len(b.client.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	checkJournal(t, b)
}

// Of several messages the good ones are kept, and one that is rejected ends the run.
func TestFilterRejectsOneOfSeveral(t *testing.T) {
	b := filtered(t, house)
	events := collect(t, b.Run(t.Context(), text("good day"), text("rude")))
	same(t, trace(events), `
		run_started user
		  message user "good day"
		  rejected "not in this house"
		run_ended refused
	`)
}

func TestFiltersInTheirOrder(t *testing.T) {
	warn := func(s string) agent.Filter {
		return func(_ context.Context, m llm.Message) agent.Screening {
			return agent.Screening{Warn: s + " of " + m.Content[len(m.Content)-1].(llm.Text).Text[:2]}
		}
	}
	b := filtered(t, warn("first"), warn("second"), house, func(context.Context, llm.Message) agent.Screening {
		return agent.Screening{Reject: "never asked about what is rude"}
	})
	events := b.run("rude")
	if got := bodies[session.Rejected](events)[0]; got.Reason != "not in this house" || got.Message.Text() != "rude" {
		t.Errorf("rejected: %+v; want the message as it came in, and the first reason", got)
	}
	b = filtered(t, warn("first"), warn("second"))
	b.run("so")
	same(t, b.texts(), `
		user "so" "\n\n[Warning: first of so]" "\n\n[Warning: second of \n\n]"
		assistant "Well."`)
}

// What is rejected leaves the queue, does not count as delivered, and is not answered.
func TestFiltersOnDrafts(t *testing.T) {
	tests := []struct{ name, steering, followUps, want string }{
		{"pass", "s", "f", `
			user "go"
			user steering "s"
			assistant "Well."
			user follow_up "f"
			assistant "Well."`},
		{"warn", "secret", "secret", `
			user "go"
			user steering "secret" "\n\n[Warning: keep it to yourself]"
			assistant "Well."
			user follow_up "secret" "\n\n[Warning: keep it to yourself]"
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
			if left := b.Drafts(); len(left) != 0 {
				t.Errorf("drafts are left: %v", left)
			}
			checkJournal(t, b)
		})
	}
}

// When all that came during the last answer is rejected there is nothing to answer: the model is not asked about its own words.
func TestRejectedSteeringAtTheEnd(t *testing.T) {
	b := filtered(t, house)
	steered := false
	for e, err := range b.Run(t.Context(), text("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(session.Delta); ok && !steered {
			steered = true
			queued(t, b, "rude rude", "")
		}
	}
	same(t, b.texts(), "user \"go\"\nassistant \"Well.\"")
	if n := len(b.client.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
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
	if err != nil || b.EditDraft(t.Context(), d.ID, text("")) == nil {
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
