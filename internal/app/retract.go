package app

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool/retract"
	"github.com/tenon-agent/tenon/window"
)

// retractable lets a model give up results and go back in its conversation. It implements [retract.Conversation].
type retractable struct {
	agent *Agent
	mu    sync.Mutex // one request to go back at a time
}

// Results implements [retract.Conversation].
func (c *retractable) Results(ctx context.Context) ([]retract.Result, error) {
	v, err := window.Look(ctx, c.agent.Path())
	if err != nil {
		return nil, err
	}
	var out []retract.Result
	for i, m := range v.Messages {
		if m.Role == llm.RoleTool && v.Blocks[i].Why == window.Said {
			out = append(out, retract.Result{Entry: string(v.Blocks[i].Entries[0]), Call: m.CallID, Tool: m.Tool, Text: m.Text()})
		}
	}
	return out, nil
}

// GiveUp implements [retract.Conversation].
func (c *retractable) GiveUp(ctx context.Context, r retract.Result, reason, summary string) error {
	return c.agent.Record(ctx, session.Cleanup{Call: r.Call, Entry: session.ID(r.Entry), Reason: reason, Summary: summary})
}

// Steps implements [retract.Conversation].
func (c *retractable) Steps(ctx context.Context) (retract.Steps, error) {
	b, err := c.back(ctx)
	return retract.Steps{Most: len(b.to), Why: b.why, Pending: b.pending}, err
}

// GoBack implements [retract.Conversation].
func (c *retractable) GoBack(ctx context.Context, steps int, category, lesson string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.back(ctx)
	switch {
	case err != nil:
		return err
	case b.pending:
		return errors.New("your next answer already goes back")
	case steps < 1 || steps > len(b.to):
		return fmt.Errorf("you can go back at most %d answers", len(b.to))
	}
	return c.agent.Record(ctx, session.Revert{To: b.to[steps-1], Category: category, Lesson: lesson})
}

// back holds the limit for a model that goes back from its current answer.
type back struct {
	to      []session.ID // the last entry that remains, by steps
	why     string       // the reason for the limit
	pending bool
}

// back finds the answers before the current one, back to the last message of a person, the lesson of an earlier revert, or a summary.
func (c *retractable) back(ctx context.Context) (b back, err error) {
	b.why = "the conversation begins there"
	now, open := false, false // it has seen the current answer; it looks for the entry before an answer
	for e, err := range c.agent.Path().Backward(ctx) {
		if err != nil {
			return b, err
		}
		switch body := e.Body.(type) {
		case session.Partial, session.Discarded:
			continue // of the later answer
		case session.Revert:
			b.pending = b.pending || !now
		case session.Summarized:
			b.why = "a summary replaces the earlier messages"
			return b, nil
		case session.Message:
			if open {
				b.to, open = append(b.to, e.ID), false
			}
			switch {
			case body.Role == llm.RoleAssistant:
				open = now
				now = true
			case body.Role == llm.RoleUser && body.Source == session.FromRevert:
				b.why = "you went back to that point before"
				return b, nil
			case body.ByPerson():
				b.why = "the user's message is there"
				return b, nil
			}
			continue
		}
		if open {
			b.to, open = append(b.to, e.ID), false
		}
	}
	return b, nil
}
