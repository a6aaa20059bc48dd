package conversation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
)

// between carries out an operation between runs; call is the ID of the call of a command. Drafts that came meanwhile start a run.
func between(ctx context.Context, l *Local, call string, f func() error) error {
	if !l.alone.CompareAndSwap(nil, &call) {
		return agent.ErrBusy
	}
	before := l.agent.Requests().Drafts
	err := f()
	l.alone.Store(nil)
	if errors.Is(err, agent.ErrBusy) {
		return err
	}
	l.prompting.Lock()
	defer l.prompting.Unlock()
	came := slices.DeleteFunc(slices.Clone(l.agent.Requests().Drafts), func(d request.Draft) bool {
		return d.Lane == session.FromNews || slices.ContainsFunc(before, func(o request.Draft) bool { return o.ID == d.ID })
	})
	if len(came) == 0 {
		return err
	}
	m := came[0].Message
	_, failed := l.agent.Start(context.WithoutCancel(ctx), agent.Input{Messages: []llm.Message{m.Message}, Speaker: m.Speaker, Draft: came[0].ID})
	if errors.Is(failed, agent.ErrBusy) || errors.Is(failed, agent.ErrClosed) {
		failed = nil
	}
	return errors.Join(err, failed)
}

// Command implements [Conversation].
func (l *Local) Command(ctx context.Context, command string) (e session.Event, err error) {
	if l.options.Command == nil {
		return e, fmt.Errorf("cannot run a command: %w", ErrUnsupported)
	}
	if l.options.Redact != nil && l.options.Redact(command) != command {
		return e, ErrSecret
	}
	c := l.options.Command(command)
	c.ID = string(session.NewID())
	err = between(ctx, l, c.ID, func() (err error) {
		e, err = l.agent.Use(ctx, c)
		return err
	})
	return e, err
}

// Trim implements [Conversation].
func (l *Local) Trim(ctx context.Context) (e *session.Event, err error) {
	if l.options.Trim == nil {
		return nil, fmt.Errorf("cannot trim the context window: %w", ErrUnsupported)
	}
	err = between(ctx, l, "", func() (err error) {
		e, err = l.options.Trim(ctx)
		return err
	})
	return e, err
}

// Pin implements [Conversation].
func (l *Local) Pin(ctx context.Context, entry session.ID, pinned bool) error {
	if entry == "" {
		return ErrNoMessage
	}
	for e, err := range l.store.Backward(ctx, l.agent.Session(), entry) {
		if errors.Is(err, session.ErrNotFound) {
			return ErrNoMessage
		}
		if err != nil {
			return err
		}
		if _, ok := e.Body.(session.Message); !ok {
			return ErrNoMessage
		}
		break
	}
	return l.agent.Record(ctx, session.Pin{Entry: entry, Removed: !pinned})
}

// Rename implements [Conversation].
func (l *Local) Rename(ctx context.Context, title string) error {
	title = strings.Join(strings.Fields(strings.ToValidUTF8(title, "\uFFFD")), " ")
	if l.options.Redact != nil {
		title = l.options.Redact(title)
	}
	if title == "" {
		return ErrNoTitle
	}
	return l.agent.Record(ctx, session.Title{Title: title})
}

// Rules implements [Conversation].
func (l *Local) Rules(context.Context) ([]Rule, error) {
	if l.options.Rules == nil {
		return nil, fmt.Errorf("cannot list the rules: %w", ErrUnsupported)
	}
	rules, grants := l.options.Rules()
	out := make([]Rule, 0, len(rules)+len(grants))
	for i, r := range slices.Concat(rules, grants) {
		out = append(out, Rule{Action: r.Action(), Scope: r.Scope(), Text: r.Text(), Words: r.Words(), Granted: i >= len(rules)})
	}
	return out, nil
}

// EndJob implements [Conversation].
func (l *Local) EndJob(ctx context.Context, job string) error {
	if l.options.EndJob == nil {
		return fmt.Errorf("cannot end a job: %w", ErrUnsupported)
	}
	found, err := l.options.EndJob(ctx, job)
	if err == nil && !found {
		err = fmt.Errorf("cannot end %q: %w", job, ErrNoJob)
	}
	return err
}

// Revoke implements [Conversation].
func (l *Local) Revoke(_ context.Context, rule string) error {
	if l.options.Revoke == nil {
		return fmt.Errorf("cannot remove a grant: %w", ErrUnsupported)
	}
	if !l.options.Revoke(rule) {
		return ErrNoGrant
	}
	return nil
}
