package goal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// ErrEmpty reports a goal without words.
var ErrEmpty error = &coded{"goal.empty", "cannot set the goal: it has no words"}

type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// Code returns the code of the error.
func (e *coded) Code() string { return e.code }

// DefaultRounds is the limit of rounds of a goal that sets none. A round costs at least one request.
const DefaultRounds = 50

// Options of a [Pursuit].
type Options struct {
	Store session.Log // has the journal of the agent

	// Run runs a command of the person that verifies the goal.
	Run func(ctx context.Context, command string) (Outcome, error)

	// Open returns work that must end before the goal can be completed, in words, such as open items of the todo list. Nil: none.
	Open func(ctx context.Context) []string

	// Assess lets a model compare the goal with the answer that claims completion, after the checks passed. Nil: the checks decide or, without
	// checks, the claim. Its requests draw from the budget of ctx.
	Assess func(ctx context.Context, g session.Goal, answer string) (done bool, reason string, err error)

	now func() time.Time // in tests
}

// Outcome is the outcome of a check.
type Outcome struct {
	Passed bool
	Output string // its end is for the model
}

// Pursuit pursues the goal of one agent. Its methods are safe for concurrent use.
type Pursuit struct {
	options Options
	agent   *agent.Agent

	mu     sync.Mutex
	goal   session.Goal
	change int // number of changes by people
	loaded bool
	round  round
	begun  time.Time // of the run
	spent  float64   // by the session when the run began
	told   bool      // the model knows the rules
}

// New returns a pursuit without a goal. Put its [Pursuit.Hook] into the options of the agent, and then call [Pursuit.Bind].
func New(o Options) *Pursuit {
	if o.now == nil {
		o.now = time.Now
	}
	return &Pursuit{options: o, round: newRound()}
}

// Bind sets the agent that pursues the goal. It must be called before the first run.
func (p *Pursuit) Bind(a *agent.Agent) { p.agent = a }

// Read returns the goal of a session. Its state is empty if the session has none.
func Read(ctx context.Context, log session.Log, id session.SessionID) (g session.Goal, err error) {
	for e, err := range log.Read(ctx, id, 0, session.Goal{}.Kind()) {
		if err != nil {
			return session.Goal{}, err
		}
		if b, ok := e.Body.(session.Goal); ok && !e.Imported {
			g = b
		}
	}
	return g, nil
}

// Goal returns the goal as it is now.
func (p *Pursuit) Goal(ctx context.Context) (session.Goal, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.load(ctx)
	return p.goal, err
}

// Set sets the goal of a person, with its checks and limits. The next run pursues it; a run that is on does so when it would otherwise end. If
// the agent pursues a goal with the same words, only the checks and the limits change.
func (p *Pursuit) Set(ctx context.Context, g session.Goal) error {
	if g.Goal == "" {
		return ErrEmpty
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(ctx); err != nil {
		return err
	}
	was := p.goal
	g.State, g.Reason, g.Used, g.Stalls = session.GoalExecuting, "", session.GoalLimits{}, 0
	if was.Open() && was.State != session.GoalExhausted && was.Goal == g.Goal {
		g.Used = was.Used
	}
	g.Limits.Rounds = cmp.Or(g.Limits.Rounds, DefaultRounds)
	p.told, p.round = false, newRound()
	p.change++
	p.begun, p.spent = p.options.now(), p.cost()
	return p.record(ctx, g)
}

// Drop ends the pursuit of the goal. Without a goal that is open it does nothing.
func (p *Pursuit) Drop(ctx context.Context, by session.Speaker) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(ctx); err != nil || !p.goal.Open() {
		return err
	}
	g := p.goal
	g.State, g.By = session.GoalDropped, by
	p.change++
	return p.record(ctx, g)
}

// load reads the goal once.
func (p *Pursuit) load(ctx context.Context) error {
	if p.loaded {
		return nil
	}
	g, err := Read(ctx, p.options.Store, p.agent.Session())
	if err == nil {
		p.goal, p.loaded = g, true
	}
	return err
}

// record journals the goal.
func (p *Pursuit) record(ctx context.Context, g session.Goal) error {
	if err := p.agent.Record(ctx, g); err != nil {
		return fmt.Errorf("cannot record the goal: %w", err)
	}
	p.goal = g
	return nil
}

// cost returns the cost of the session so far, in US dollars.
func (p *Pursuit) cost() float64 {
	if b := p.agent.Budget(); b != nil {
		for b.Parent() != nil && b.Name() != "session" {
			b = b.Parent()
		}
		return b.Spent().Cost
	}
	return 0
}

// Hook returns the hook that continues runs until the goal is reached.
func (p *Pursuit) Hook() agent.Hook {
	return agent.Hook{
		Name: "goal", Speaker: session.SpeakerTenon, Endless: true,
		BeforeRun: p.beforeRun, Prompt: p.prompt, AfterCall: p.afterCall, BeforeEnd: p.beforeEnd, AfterRun: p.afterRun,
	}
}

// beforeRun continues a goal that was blocked or at a limit: the person who starts a run knows of that.
func (p *Pursuit) beforeRun(ctx context.Context, _ session.RunStarted) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(ctx); err != nil {
		return err
	}
	if !p.goal.Open() {
		return nil
	}
	p.begun, p.spent, p.round = p.options.now(), p.cost(), newRound()
	if g := p.goal; g.State != session.GoalExecuting {
		if g.State == session.GoalExhausted {
			g.Used = session.GoalLimits{}
		}
		g.State, g.Reason, g.Stalls = session.GoalExecuting, "", 0
		return p.record(ctx, g)
	}
	return nil
}

// prompt adds the rules of loop mode to the first message of a person.
func (p *Pursuit) prompt(_ context.Context, m session.Message) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.goal.Open() || m.Speaker.Kind != session.SpeakerPerson {
		return "", nil
	}
	p.goal.Stalls = 0 // the person may have said what was missing
	if p.told {
		return "", nil
	}
	p.told = true
	return rules(p.goal), nil
}

func (p *Pursuit) afterCall(_ context.Context, call agent.Proposed, m session.Message) (session.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.round.call(call)
	return m, nil
}

// afterRun notes a limit of the run: the next run continues.
func (p *Pursuit) afterRun(ctx context.Context, end session.RunEnded) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.goal.Open() || p.goal.State == session.GoalBlocked || p.goal.State == session.GoalExhausted {
		return
	}
	g := p.use(p.goal)
	if g.Reason = ""; end.Reason == session.ReasonLimit {
		g.State, g.Reason = session.GoalExhausted, end.Message
	}
	_ = p.record(context.WithoutCancel(ctx), g) // if the journal fails, the run reports that
}

// use adds the time and the money of the run to a goal.
func (p *Pursuit) use(g session.Goal) session.Goal {
	now, cost := p.options.now(), p.cost()
	g.Used.Time += session.Duration(now.Sub(p.begun))
	g.Used.Money += cost - p.spent
	p.begun, p.spent = now, cost
	return g
}

// beforeEnd decides whether the run may end. A person can set or drop the goal meanwhile.
func (p *Pursuit) beforeEnd(ctx context.Context, answer llm.Message) string {
	p.mu.Lock()
	g, change := p.use(p.goal), p.change
	p.mu.Unlock()
	if !g.Open() || ctx.Err() != nil {
		return ""
	}
	g.Used.Rounds++
	g, again, err := p.assess(ctx, g, change, claimed(answer.Text()))
	if err == nil {
		err = p.keep(ctx, change, g)
	}
	switch {
	case err == nil:
		return again
	case errors.Is(err, errChanged):
		return p.replaced()
	case ctx.Err() == nil: // a goal that cannot be checked is not pursued further
		g.State, g.Reason = session.GoalBlocked, err.Error()
		_ = p.keep(context.WithoutCancel(ctx), change, g) // if the journal fails, the run reports that
	}
	return ""
}

// errChanged reports that a person set or dropped the goal meanwhile.
var errChanged = errors.New("the goal has changed")

// keep journals the goal unless a person has changed it.
func (p *Pursuit) keep(ctx context.Context, change int, g session.Goal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.change != change {
		return errChanged
	}
	return p.record(ctx, g)
}

// replaced is the text about a goal that a person set while the former one was verified, "" if there is none.
func (p *Pursuit) replaced() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.goal.Open() {
		return ""
	}
	p.told = true
	return rules(p.goal)
}

// assess decides what follows an answer: a text with which the model continues, or a state that ends the run.
func (p *Pursuit) assess(ctx context.Context, g session.Goal, change int, c claim) (_ session.Goal, again string, err error) {
	if c.blocked != "" {
		g.State, g.Reason = session.GoalBlocked, c.blocked
		return g, "", nil
	}
	fault, err := p.verify(ctx, &g, change, c)
	if err != nil || fault.text == "" {
		g.State, g.Reason, g.Stalls = session.GoalCompleted, c.done, 0
		return g, "", err
	}
	progress, err := p.progress(ctx)
	if err != nil {
		return g, "", err
	}
	if g.Stalls++; progress {
		g.Stalls = 0
	}
	if reason := exceeded(g); reason != "" {
		g.State, g.Reason = session.GoalExhausted, reason
		return g, "", nil
	}
	if g.Stalls >= maxStalls {
		g.State, g.Reason = session.GoalBlocked, fmt.Sprintf("no progress in %d rounds: %s", g.Stalls, fault.brief)
		return g, "", nil
	}
	g.State, g.Reason = session.GoalExecuting, fault.brief
	return g, next(g, fault.text), nil
}

// fault is why a goal is not reached, in a few words for people and in a text for the model.
type fault struct{ brief, text string }

// verify returns why the goal is not reached; the zero value if it is.
func (p *Pursuit) verify(ctx context.Context, g *session.Goal, change int, c claim) (f fault, err error) {
	if p.options.Open != nil {
		if open := p.options.Open(ctx); len(open) > 0 {
			return unfinished(open), nil
		}
	}
	for _, command := range g.Checks {
		g.State = session.GoalVerifying
		if err := p.keep(ctx, change, *g); err != nil {
			return f, err
		}
		outcome, err := p.options.Run(ctx, command)
		if err != nil {
			return f, fmt.Errorf("cannot run the check %q: %w", command, err)
		}
		if !outcome.Passed {
			return failed(command, outcome.Output), nil
		}
	}
	if c.done == "" && (len(g.Checks) == 0 || p.options.Assess != nil) {
		return unclaimed(), nil
	}
	if p.options.Assess == nil {
		return f, nil
	}
	g.State = session.GoalAssessing
	if err := p.keep(ctx, change, *g); err != nil {
		return f, err
	}
	done, reason, err := p.options.Assess(ctx, *g, c.text)
	if err != nil || done {
		return f, err
	}
	return fault{"review: " + reason, "A review found that the goal is not reached: " + reason}, nil
}
