package agent

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// Hook extends the loop. All functions are optional. The agent calls the hooks in the order of [Options.Hooks], from the goroutine of the
// run, one at a time. The run waits for them, so they should be quick. They may use the agent.
//
// The journal records every change with the speaker hook and the name of the hook. If a function returns an error where it can refuse, the
// text of the error is the reason, and later hooks are not called. A panic ends the run with a [*PanicError].
//
// Order: BeforeRun, Prompt, run started, { BeforeTurn, turn started, BeforeCompaction, message …, { BeforeCall, gate, call started,
// AfterCall, result }, turn ended, AfterTurn }, BeforeEnd, run ended, AfterRun.
type Hook struct {
	Name    string              // required, and different from those of the other hooks
	Speaker session.SpeakerKind // the author of its messages; default: a hook

	// BeforeRun can refuse a run. The run starts and ends at once, without its input.
	BeforeRun func(ctx context.Context, start session.RunStarted) error

	// Prompt sees a message before it enters the conversation: input, steering, follow-ups and news. It can add a text for the model, which
	// enters after the message as a message of the hook. It can reject the message. If another process changes the queue at that moment,
	// Prompt is called again.
	Prompt func(ctx context.Context, m session.Message) (add string, err error)

	// BeforeTurn can refuse a turn. The run ends: as done if the error is [ErrDone], else as refused.
	BeforeTurn func(ctx context.Context, turn int) error

	// BeforeCompaction can refuse a summary; reason is that of session.Summarized. The window asks again before the next request that
	// needs one.
	BeforeCompaction func(ctx context.Context, reason string) error

	// BeforeCall sees a call with its validated arguments and effects. It can return other arguments, as JSON: they are validated, their
	// effects are computed, and the gate decides about them. It can deny the call. If the gate changes the arguments, BeforeCall sees the
	// call once more. So no call runs with arguments that the hooks or the gate did not see.
	BeforeCall func(ctx context.Context, call Proposed) (arguments string, err error)

	// AfterCall sees the result of every call that started, before the journal and the model do. It can return the result with another
	// Content, Brief, Failed, Diffs or Details. It must not modify their elements in place. With an error, the model sees the reason
	// instead of the result.
	AfterCall func(ctx context.Context, call Proposed, result session.Message) (session.Message, error)

	// AfterTurn observes the end of every turn that started.
	AfterTurn func(ctx context.Context, turn int, end live.TurnEnded)

	// BeforeEnd sees the answer after which the run would end as done, when no draft waits. It can return a text for the model: the text
	// becomes a message of the hook, and the run continues. The limits of the run apply. Hooks can continue a run 50 times at most, but
	// one with Endless as often as it wants.
	BeforeEnd func(ctx context.Context, answer llm.Message) (again string)
	Endless   bool

	// AfterRun observes the end of every run that started.
	AfterRun func(ctx context.Context, end session.RunEnded)
}

// maxAgain is how often hooks can continue a run.
const maxAgain = 50

// CodeHook is the code of a decision that a hook made with an error without a code of its own.
const CodeHook = "agent.hook"

// hooks are the hooks of an agent, in their order.
type hooks []Hook

func (h hooks) check() error {
	names := make(map[string]bool)
	for i, one := range h {
		switch {
		case one.Name == "":
			return fmt.Errorf("agent: hook %d of Options.Hooks has no name", i+1)
		case names[one.Name]:
			return fmt.Errorf("agent: two hooks are named %q", one.Name)
		}
		names[one.Name] = true
	}
	return nil
}

// speaker is the hook as the author of a message or a change.
func (h Hook) speaker() session.Speaker {
	return session.Speaker{Kind: firstOf(h.Speaker, session.SpeakerHook), Name: h.Name}
}

// message is a text of the hook for the model.
func (h Hook) message(text string) session.Message {
	return session.Message{Message: llm.UserText(text).Valid(), Source: session.FromHook, Speaker: h.speaker()}
}

// refusal is the error of a hook that refuses something.
type refusal struct {
	by     session.Speaker
	reason error
}

func (r *refusal) Error() string { return r.reason.Error() }
func (r *refusal) Unwrap() error { return r.reason }

// code is the code of the reason.
func (r *refusal) code() string {
	return cmp.Or(codeOf(r.reason), CodeHook)
}

// refuse returns the first refusal; nil: there is none.
func (h hooks) refuse(ask func(Hook) error) *refusal {
	for _, one := range h {
		if err := ask(one); err != nil {
			return &refusal{one.speaker(), err}
		}
	}
	return nil
}

func (h hooks) beforeRun(ctx context.Context, start session.RunStarted) *refusal {
	return h.refuse(func(one Hook) error {
		if one.BeforeRun == nil {
			return nil
		}
		return one.BeforeRun(ctx, start)
	})
}

func (h hooks) beforeTurn(ctx context.Context, turn int) *refusal {
	return h.refuse(func(one Hook) error {
		if one.BeforeTurn == nil {
			return nil
		}
		return one.BeforeTurn(ctx, turn)
	})
}

// beforeCompaction is a window.Header.BeforeSummary.
func (h hooks) beforeCompaction(ctx context.Context, reason string) error {
	refused := h.refuse(func(one Hook) error {
		if one.BeforeCompaction == nil {
			return nil
		}
		return one.BeforeCompaction(ctx, reason)
	})
	if refused == nil {
		return nil
	}
	return fmt.Errorf("hook %s refused it: %w", refused.by.Name, refused)
}

// prompt returns the entries of a message that comes in: the message and what hooks add, or that they rejected it.
func (h hooks) prompt(ctx context.Context, m session.Message) ([]session.Body, *refusal) {
	entries := []session.Body{m}
	refused := h.refuse(func(one Hook) error {
		if one.Prompt == nil {
			return nil
		}
		add, err := one.Prompt(ctx, m)
		if add != "" {
			entries = append(entries, one.message(add))
		}
		return err
	})
	if refused != nil {
		return []session.Body{session.Rejected{Message: m.Message, Draft: m.Draft, Reason: refused.Error(), By: refused.by}}, refused
	}
	return entries, nil
}

// afterCall lets the hooks change a result.
func (h hooks) afterCall(ctx context.Context, call Proposed, m session.Message) session.Message {
	for _, one := range h {
		if one.AfterCall == nil {
			continue
		}
		seen := m
		seen.Content = slices.Clone(m.Content)
		got, err := one.AfterCall(ctx, call, seen)
		if err != nil {
			return withheld(m, one.speaker(), err.Error())
		}
		next := m
		next.Content, next.Brief, next.Failed, next.Diffs, next.Details = got.Content, got.Brief, got.Failed, got.Diffs, got.Details
		if !reflect.DeepEqual(next, m) {
			next.ChangedBy = append(slices.Clip(m.ChangedBy), one.speaker())
			m = next
		}
	}
	return m
}

// withheld is a result of which the model sees only why it does not see it.
func withheld(m session.Message, by session.Speaker, reason string) session.Message {
	m.Content = llm.Content{llm.Text{Text: "The call ran. Its result was withheld: " + reason}}
	m.IsError, m.Brief, m.Details = true, "withheld", nil
	if m.Outcome == session.OutcomeOK {
		m.Outcome = session.OutcomeFailed
	}
	m.ChangedBy = append(slices.Clip(m.ChangedBy), by)
	return m
}

func (h hooks) afterTurn(ctx context.Context, turn int, end live.TurnEnded) {
	for _, one := range h {
		if one.AfterTurn != nil {
			one.AfterTurn(ctx, turn, end)
		}
	}
}

// beforeEnd returns the messages with which hooks continue the run, and whether one of the hooks is endless.
func (h hooks) beforeEnd(ctx context.Context, answer llm.Message) (again []session.Body, asked, endless bool) {
	for _, one := range h {
		if one.BeforeEnd == nil {
			continue
		}
		asked = true
		if text := one.BeforeEnd(ctx, answer); text != "" {
			again = append(again, one.message(text))
			endless = endless || one.Endless
		}
	}
	return again, asked, endless
}

func (h hooks) afterRun(ctx context.Context, end session.RunEnded) {
	for _, one := range h {
		if one.AfterRun != nil {
			one.AfterRun(ctx, end)
		}
	}
}
