package parallel

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Branch is one of the agents that work on the prompt.
type Branch struct {
	Name     string // of its configuration, different from those of the other branches
	Worktree string // name of its copy of the project, for the journal; empty: it has none

	// Open opens the agent.
	Open func(ctx context.Context) (*agent.Agent, error)

	// Close closes the agent after its run, or after an error that keeps it from running. Nil: its Close does.
	Close func() error

	// Score measures the result after the run, for [Command]. Nil: it has no score.
	Score func(ctx context.Context) (Score, error)
}

// Score is the measured quality of a result.
type Score struct {
	Passed bool    // an exit code of 0
	Value  float64 // larger is better; 0 for none
}

// DefaultLimit is how many branches run at a time. Each sends requests and may run commands.
const DefaultLimit = 4

// Options of [Run].
type Options struct {
	Owner    *agent.Agent // its journal records the group; nil: none does
	Branches []Branch
	Judges   []Judge // asked in their order; none: [First]
	Limit    int     // branches at a time; default DefaultLimit

	// Event gets the events of all branches, with the index of the branch, one at a time. Nil: none does.
	Event func(branch int, e session.Event)
}

// Outcome is the outcome of one branch.
type Outcome struct {
	Branch  int // its index
	Name    string
	Session session.SessionID // empty: the agent did not open
	Text    string            // the text of the last answer
	Ended   session.RunEnded
	Err     error   // why it is excluded; nil: it is a candidate
	Score   float64 // by the judge that decided last
	Usage   llm.Usage

	branch Branch
}

// Result is the result of a group.
type Result struct {
	Group    session.ID
	Selected int // index of the branch; -1: all branches failed
	Outcomes []Outcome
	Reason   string    // for the selection, in words
	Usage    llm.Usage // of the judges
}

// ErrFailed reports that all branches failed. The outcomes have their errors.
var ErrFailed error = &coded{"parallel.failed", "all parallel runs failed"}

// ErrNoBranches reports options without branches, or two branches with one name.
var ErrNoBranches error = &coded{"parallel.no_branches", "cannot run in parallel: give at least one branch, and each a name of its own"}

type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// Code returns the code of the error.
func (e *coded) Code() string { return e.code }

// Run runs all branches on a prompt and selects one. Requests draw from the budgets of the agents. If ctx ends, the branches are cancelled, and
// the error is its cause. If all branches fail, the error is [ErrFailed].
func Run(ctx context.Context, o Options, prompt llm.Message) (Result, error) {
	g := &group{options: o, prompt: prompt, result: Result{Group: session.NewID(), Selected: -1}}
	names := map[string]bool{}
	for i, b := range o.Branches {
		if b.Name == "" || b.Open == nil || names[b.Name] {
			return g.result, ErrNoBranches
		}
		names[b.Name] = true
		g.result.Outcomes = append(g.result.Outcomes, Outcome{Branch: i, Name: b.Name, branch: b})
	}
	if len(o.Branches) == 0 {
		return g.result, ErrNoBranches
	}
	if len(o.Judges) == 0 {
		g.options.Judges = []Judge{First()}
	}
	agents := g.open(ctx)
	if err := g.started(ctx, agents); err != nil {
		for i, a := range agents {
			if a != nil {
				err = errors.Join(err, o.Branches[i].close(a))
			}
		}
		return g.result, err
	}
	g.run(ctx, agents)
	var err error
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else {
		err = g.choose(ctx)
	}
	return g.result, errors.Join(err, g.ended(context.WithoutCancel(ctx), err))
}

// group is a group of branches that run.
type group struct {
	options Options
	prompt  llm.Message
	result  Result

	events sync.Mutex
}

// open opens the agents, one after the other. One that does not open is excluded.
func (g *group) open(ctx context.Context) []*agent.Agent {
	agents := make([]*agent.Agent, len(g.options.Branches))
	for i, b := range g.options.Branches {
		o := &g.result.Outcomes[i]
		if o.Err = contain(func() (err error) { agents[i], err = b.Open(ctx); return err }); o.Err == nil {
			o.Session = agents[i].Session()
		}
	}
	return agents
}

// contain calls a function of the caller. A panic is its error.
func contain(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// started journals the group.
func (g *group) started(ctx context.Context, agents []*agent.Agent) error {
	if g.options.Owner == nil {
		return nil
	}
	e := session.ParallelStarted{Group: g.result.Group, Prompt: g.prompt.Text()}
	for i, b := range g.options.Branches {
		one := session.ParallelBranch{Session: g.result.Outcomes[i].Session, Name: b.Name, Worktree: b.Worktree}
		if agents[i] != nil {
			one.Model = agents[i].Header().Model.Ref()
		}
		e.Branches = append(e.Branches, one)
	}
	for _, j := range g.options.Judges {
		e.Judge = append(e.Judge, j.Name())
	}
	return g.options.Owner.Record(ctx, e)
}

func (b Branch) close(a *agent.Agent) error {
	if b.Close != nil {
		return b.Close()
	}
	return a.Close()
}

// run runs the agents, and closes each after its run.
func (g *group) run(ctx context.Context, agents []*agent.Agent) {
	limit := g.options.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	for i, a := range agents {
		if a == nil {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			o := &g.result.Outcomes[i]
			o.Err = contain(func() error { return g.one(ctx, i, a, o) })
			o.Err = errors.Join(o.Err, o.branch.close(a))
		})
	}
	all.Wait()
}

// one runs one agent.
func (g *group) one(ctx context.Context, i int, a *agent.Agent, o *Outcome) (err error) {
	outcome, err := agent.Wait(func(yield func(session.Event, error) bool) {
		for e, err := range a.Run(ctx, g.prompt) {
			if err == nil {
				g.event(i, e)
			}
			if !yield(e, err) {
				return
			}
		}
	})
	o.Text, o.Ended, o.Usage = outcome.Text, outcome.Ended, outcome.Ended.Usage
	switch {
	case err != nil:
		return err
	case o.Ended.Reason != session.ReasonDone:
		return fmt.Errorf("it ended as %s: %s", o.Ended.Reason, o.Ended.Message)
	}
	return nil
}

func (g *group) event(i int, e session.Event) {
	if g.options.Event == nil {
		return
	}
	g.events.Lock()
	defer g.events.Unlock()
	g.options.Event(i, e)
}

// choose asks the judges.
func (g *group) choose(ctx context.Context) error {
	var left []int
	for i, o := range g.result.Outcomes {
		if o.Err == nil {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return ErrFailed
	}
	g.result.Reason = "it is the only result"
	for _, j := range g.options.Judges {
		if len(left) == 1 {
			break
		}
		candidates := make([]Outcome, len(left))
		for n, i := range left {
			candidates[n] = g.result.Outcomes[i]
		}
		var v Evaluation
		err := contain(func() (err error) { v, err = j.Judge(ctx, g.prompt, candidates); return err })
		g.result.Usage = g.result.Usage.Plus(v.Usage)
		if err == nil && len(v.Scores) != len(candidates) {
			err = fmt.Errorf("it gave %d scores for %d results", len(v.Scores), len(candidates))
		}
		if err != nil {
			return fmt.Errorf("cannot evaluate the results by %s: %w", j.Name(), err)
		}
		left = g.best(left, v)
	}
	g.result.Selected = left[0]
	if len(left) > 1 {
		g.result.Reason += "; the first of several equal results"
	}
	return nil
}

// best notes the scores, and returns the branches with the highest one.
func (g *group) best(from []int, v Evaluation) (left []int) {
	top := slices.Max(v.Scores)
	var names []string
	for n, i := range from {
		g.result.Outcomes[i].Score = v.Scores[n]
		if v.Scores[n] == top {
			left = append(left, i)
			names = append(names, g.result.Outcomes[i].Name)
		}
	}
	g.result.Reason = strings.Join(names, ", ") + ": " + v.Reason
	return left
}

// ended journals the result.
func (g *group) ended(ctx context.Context, failed error) error {
	if g.options.Owner == nil {
		return nil
	}
	e := session.ParallelEnded{Group: g.result.Group, Reason: g.result.Reason, Usage: g.result.Usage}
	if failed != nil {
		e.Reason = failed.Error()
	} else {
		e.Selected = g.result.Outcomes[g.result.Selected].Session
	}
	for _, o := range g.result.Outcomes {
		one := session.ParallelResult{Session: o.Session, Score: o.Score, Usage: o.Usage}
		if o.Err != nil {
			one.Error = o.Err.Error()
		}
		e.Results = append(e.Results, one)
	}
	return g.options.Owner.Record(ctx, e)
}
