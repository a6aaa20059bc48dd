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

// conversation is what a model can take back. It implements [retract.Conversation].
type conversation struct {
	agent *Agent
	mu    sync.Mutex // one wish to go back at a time
}

// Results implements [retract.Conversation].
func (c *conversation) Results(ctx context.Context) ([]retract.Result, error) {
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
func (c *conversation) GiveUp(ctx context.Context, r retract.Result, reason, summary string) error {
	return c.agent.Record(ctx, session.Cleanup{Call: r.Call, Entry: session.ID(r.Entry), Reason: reason, Summary: summary})
}

// Steps implements [retract.Conversation].
func (c *conversation) Steps(ctx context.Context) (retract.Steps, error) {
	b, err := c.back(ctx)
	return retract.Steps{Most: len(b.to), Why: b.why, Pending: b.pending}, err
}

// GoBack implements [retract.Conversation].
func (c *conversation) GoBack(ctx context.Context, steps int, category, lesson string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := c.back(ctx)
	switch {
	case err != nil:
		return err
	case b.pending:
		return errors.New("you go back already, with your next answer")
	case steps < 1 || steps > len(b.to):
		return fmt.Errorf("there are %d answers to go back from", len(b.to))
	}
	return c.agent.Record(ctx, session.Revert{To: b.to[steps-1], Category: category, Lesson: lesson})
}

// back is how far a model can go back from the answer that it gives now.
type back struct {
	to      []session.ID // the last entry that stays, by steps
	why     string       // what is before
	pending bool
}

// back looks for the answers before the present one, up to what a person said last, what the model has brought back from somewhere, or a
// summary.
func (c *conversation) back(ctx context.Context) (b back, err error) {
	b.why = "the conversation begins there"
	now, open := false, false // the present answer was seen; the entry that stays before an answer is looked for
	for e, err := range c.agent.Path().Backward(ctx) {
		if err != nil {
			return b, err
		}
		switch body := e.Body.(type) {
		case session.Partial, session.Discarded:
			continue // of the answer behind
		case session.Revert:
			b.pending = b.pending || !now
		case session.Digest:
			b.why = "what was before is a summary by now"
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
				b.why = "you went back to there before"
				return b, nil
			case body.Role == llm.RoleUser && body.Source != session.FromLoop:
				b.why = "the user's message stands there"
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
