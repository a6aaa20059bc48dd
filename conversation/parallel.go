package conversation

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/undo"
)

// Parallel says how several agents work on one prompt, each in a worktree of the project.
type Parallel struct {
	Prompt llm.Message
	Count  int      // of the agents, unless Models are given
	Models []string // references or pools, one for each agent; empty: the model of the conversation
	Judges []string // names of judges, in their order; empty: those that fit
	Score  string   // the person's command, which runs in each worktree; empty: none
}

// Contest is the result of a [Parallel]. The worktrees stay.
type Contest struct {
	Selected  string   `json:"selected"`        // worktree of the best result
	Worktrees []string `json:"worktrees"`       // of all results
	Reason    string   `json:"reason,omitzero"` // for the selection, in words
	Failed    bool     `json:"failed,omitzero"` // the command of the person fails with the selected result
}

// Merge is a plan that brings the changes of a worktree into the project.
type Merge struct {
	Plan      string          `json:"plan"` // its digest
	Files     []undo.FileDiff `json:"files"`
	Conflicts []undo.FileDiff `json:"conflicts,omitzero"` // files that it leaves as they are; their notes say why
}

// Contests are the parallel runs of a conversation. While one is on, the conversation is busy as during Command: Abort cancels it, and prompts are
// drafts.
type Contests interface {
	// Parallel lets several agents work on a prompt, each in a worktree of the project, and selects the best result. The journal has the
	// sessions of the agents from the beginning, see [session.ParallelStarted]. It changes nothing in the project. If ctx ends, or by Abort,
	// all agents are cancelled, and the error wraps [context.Canceled].
	Parallel(ctx context.Context, p Parallel) (Contest, error)

	// Merge plans to bring the changes of a worktree into the project. With the digest of that plan it carries it out, and undo reverts it. If
	// the files have changed since the plan, it changes nothing, and the error wraps worktree.ErrStale.
	Merge(ctx context.Context, worktree, plan string) (Merge, error)
}

// NewContests returns the parallel runs of a conversation, which c carries out.
func NewContests(l *Local, c Contests) Contests { return contests{l, c} }

type contests struct {
	conversation *Local
	of           Contests
}

// Parallel implements [Contests].
func (s contests) Parallel(ctx context.Context, p Parallel) (c Contest, err error) {
	o := &s.conversation.options
	if o.Redact != nil && o.Redact(p.Score) != p.Score {
		return c, ErrSecret
	}
	if err := expand(ctx, s.conversation, &p.Prompt, true); err != nil {
		return c, err
	}
	p.Prompt = o.redact(p.Prompt)
	err = between(ctx, s.conversation, "", func() (err error) {
		c, err = s.of.Parallel(ctx, p)
		return err
	})
	return c, err
}

// Merge implements [Contests].
func (s contests) Merge(ctx context.Context, worktree, plan string) (m Merge, err error) {
	if plan == "" {
		return s.of.Merge(ctx, worktree, "")
	}
	err = between(ctx, s.conversation, "", func() (err error) {
		m, err = s.of.Merge(ctx, worktree, plan)
		return err
	})
	return m, err
}
