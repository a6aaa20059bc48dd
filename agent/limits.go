package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

// Unlimited, as the value of a limit, switches it off.
const Unlimited = -1

// DefaultCost is the limit of a run that sets none, in US dollars. It counts only requests with a known price.
const DefaultCost = 20.0

// Limits ends runs before they become too long or too expensive. A zero field has its default. Everything that asks models for a run counts:
// its answers, retries, summaries, titles and sub-agents. A request that could exceed a limit waits for those in flight, so that all of them
// together exceed a limit by one request at most; see package budget.
type Limits struct {
	Turns  int           // answers of one run; default unlimited
	Tokens int64         // tokens of one run, see [budget.Weight]; default unlimited
	Time   time.Duration // wall clock of one run; default unlimited

	Cost        float64 // US dollars of one run; default DefaultCost, and no limit for models without a price
	SessionCost float64 // US dollars of the session, all branches; default unlimited
	DayCost     float64 // US dollars of all sessions of the store since midnight, local time; default unlimited

	// Soft is a share of the limits of turns, tokens and cost of a run and of the cost of a session, such as 0.8. When a run comes to that
	// share, it asks people before its next turn, see [Options.Ask]. Default: it does not ask.
	Soft float64

	Unpriced budget.Policy // for models without a price under a limit of money that is set; default refuse
}

// With returns the limits with every field of over that is set in place of their own.
func (l Limits) With(over Limits) Limits {
	return Limits{
		Turns: cmp.Or(over.Turns, l.Turns), Tokens: cmp.Or(over.Tokens, l.Tokens), Time: cmp.Or(over.Time, l.Time),
		Cost: cmp.Or(over.Cost, l.Cost), SessionCost: cmp.Or(over.SessionCost, l.SessionCost), DayCost: cmp.Or(over.DayCost, l.DayCost),
		Soft: cmp.Or(over.Soft, l.Soft), Unpriced: cmp.Or(over.Unpriced, l.Unpriced),
	}
}

// changed returns the entry of the limits that differ from those before, as far as a session keeps them.
func (l Limits) changed(before Limits) (c session.LimitsChanged) {
	if l.Turns != before.Turns {
		c.Turns = cmp.Or(l.Turns, Unlimited)
	}
	if l.Tokens != before.Tokens {
		c.Tokens = cmp.Or(l.Tokens, Unlimited)
	}
	if l.Cost != before.Cost {
		c.Cost = cmp.Or(l.Cost, DefaultCost)
	}
	if l.SessionCost != before.SessionCost {
		c.SessionCost = cmp.Or(l.SessionCost, Unlimited)
	}
	if l.Soft != before.Soft {
		c.Soft = cmp.Or(l.Soft, Unlimited)
	}
	return c
}

// ChangedLimits returns the limits that a session keeps, see [Change.Keep]. The other fields are zero.
func ChangedLimits(ctx context.Context, store index.Store, id session.SessionID) (l Limits, err error) {
	for e, err := range store.Read(ctx, id, 0, session.LimitsChanged{}.Kind()) {
		if err != nil {
			return l, err
		}
		if c, ok := e.Body.(session.LimitsChanged); ok && !e.Imported {
			l = l.With(Limits{Turns: c.Turns, Tokens: c.Tokens, Cost: c.Cost, SessionCost: c.SessionCost, Soft: c.Soft})
		}
	}
	return l, nil
}

// spending is the budgets of an agent: each run draws from that of the session, which draws from that of the day.
type spending struct {
	day     *Day
	session *budget.Budget

	mu      sync.Mutex
	noticed map[string]bool // the models without a price that people know of
	crossed []*budget.Error // soft limits that the next turn asks about
	own     *llm.Usage      // of an imported session when it was opened: the usage of its own entries
}

func newSpending(o Options) *spending {
	s := &spending{day: o.Day, noticed: make(map[string]bool)}
	switch {
	case o.Budget != nil: // which draws from the day of its own agent
		s.day = &Day{budget: o.Budget.Child("day", budget.Limits{})}
	case s.day == nil:
		s.day = NewDay()
	}
	s.session = s.day.budget.Child("session", budget.Limits{})
	return s
}

// limit sets the limits of the session, and returns the parts that they share with those of a run.
func (s *spending) limit(a *Agent) (unpriced func(llm.Model), soft float64) {
	l := a.setup.Load().limits
	if l.Unpriced == budget.Notice {
		unpriced = s.notice(a)
	}
	if a.options.Ask != nil {
		soft = l.Soft
	}
	s.session.Set(budget.Limits{Money: l.SessionCost, Unpriced: unpriced, Soft: soft, Crossed: s.cross})
	return unpriced, soft
}

// cross notes a soft limit for the next turn.
func (s *spending) cross(e *budget.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crossed = append(s.crossed, e)
}

// crossing returns a soft limit that a budget has crossed since the last call, with a later one for a later call.
func (s *spending) crossing(of *budget.Budget) *budget.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.crossed) > 0 {
		e := s.crossed[0]
		s.crossed = s.crossed[1:]
		if e.Budget == of || e.Budget == s.session {
			return e
		}
	}
	return nil
}

// forget voids the soft limits that were crossed, because the limits change.
func (s *spending) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crossed = nil
}

// announce shows the spending to all listeners.
func announce(a *Agent) {
	spent := func(b *budget.Budget) live.Spent {
		l, s := b.Limits(), b.Spent()
		return live.Spent{Cost: s.Cost, MaxCost: max(l.Money, 0), Tokens: budget.Weight(s.Usage), MaxTokens: max(l.Tokens, 0)}
	}
	event := live.Spending{Session: spent(a.spending.session)}
	if r := a.slot.running.Load(); r != nil {
		event.Run = spent(r.budget)
	}
	a.feed.hub.moment(event)
}

// Day is the budget of a store since midnight, local time. Agents that share one exceed Limits.DayCost by at most one request, all of them
// together. It is safe for concurrent use.
type Day struct {
	budget *budget.Budget

	mu       sync.Mutex
	midnight time.Time
}

// NewDay returns a budget for [Options.Day].
func NewDay() *Day { return &Day{budget: budget.New("day", budget.Limits{})} }

// account sets the limit, and adds the requests of other processes.
func (d *Day) account(ctx context.Context, store index.Store, l budget.Limits) error {
	now := time.Now()
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	usage, err := store.Spent(ctx, midnight)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.budget.Set(l)
	if !d.midnight.Equal(midnight) {
		d.midnight = midnight
		d.budget.Reset()
	}
	d.budget.AtLeast(usage)
	return nil
}

// Budget returns the budget that requests of the session draw from now: that of the run if one is on, else its parent, that of the session. Those
// who ask models for the session, such as for summaries and titles, wrap their clients with it.
func (a *Agent) Budget() *budget.Budget {
	if r := a.slot.running.Load(); r != nil {
		return r.budget
	}
	return a.spending.session
}

// meter is what a run has spent, and its limits.
type meter struct {
	a       *Agent
	budget  *budget.Budget
	usage   llm.Usage
	begunAt time.Time
	limit   time.Duration // of its time
	timer   *time.Timer   // that enforces it
}

// limitTime ends the run's context when its time is over, so that a call that hangs cannot outlive the limit.
func (m *meter) limitTime(limit time.Duration, cancel context.CancelCauseFunc) {
	if limit == m.limit {
		return
	}
	if m.timer != nil {
		m.timer.Stop()
	}
	if m.limit = limit; limit > 0 {
		m.timer = time.AfterFunc(limit-time.Since(m.begunAt), func() { cancel(errTime) })
	}
}

// spend counts towards the run what the window has spent for it: what its summaries have cost.
func (m *meter) spend(entries []session.Body) {
	for _, b := range entries {
		if d, ok := b.(session.Summarized); ok {
			m.usage = m.usage.Plus(d.Usage).Plus(d.Parts)
		}
	}
}

// account brings the budgets up to date with the limits of the options and with the journals of the store. It asks the store for the
// spending of sessions and days only where there is a limit.
func (m *meter) account(ctx context.Context) error {
	a, s := m.a, m.a.spending
	l := a.setup.Load().limits
	unpriced, soft := s.limit(a)
	run := budget.Limits{Turns: l.Turns, Tokens: l.Tokens, Money: l.Cost, Unpriced: unpriced, Soft: soft, Crossed: s.cross}
	if l.Cost == 0 {
		run.Money, run.Unpriced = DefaultCost, func(llm.Model) {}
	}
	m.budget.Set(run)
	m.budget.AtLeast(m.usage)
	if l.SessionCost > 0 {
		usage, err := s.journal(ctx, a.store, a.Session())
		if err != nil {
			return err
		}
		s.session.AtLeast(usage)
	}
	if l.DayCost <= 0 {
		return nil
	}
	return s.day.account(ctx, a.store, budget.Limits{Money: l.DayCost, Unpriced: unpriced})
}

// journal returns the usage of a session by its journal, without imported entries. It reads the journal of an imported session once: later
// only this process spends in it.
func (s *spending) journal(ctx context.Context, store index.Store, id session.SessionID) (u llm.Usage, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own != nil {
		return *s.own, nil
	}
	for e, err := range store.Read(ctx, id, 0) {
		if err != nil {
			return u, err
		}
		if e.Seq == 1 && !e.Imported {
			summary, err := summaryOf(ctx, store, id)
			return summary.Usage, err
		}
		if _, used, ok := view.Consumed(e.Body); ok && !e.Imported {
			u = u.Plus(used)
		}
	}
	s.own = &u
	return u, nil
}

// notice reports a model without a price, once.
func (s *spending) notice(a *Agent) func(llm.Model) {
	return func(m llm.Model) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.noticed[m.Ref()] {
			s.noticed[m.Ref()] = true
			a.Announce(live.Notice{Text: fmt.Sprintf("the price of %s is unknown: its requests do not count towards the limits of money", m.Ref())})
		}
	}
}

// reached returns the end of a run that has come to one of its limits, nil for one that has not. The time is not looked at here: it ends
// the run's context.
func (m *meter) reached(ctx context.Context) (*session.RunEnded, error) {
	if err := m.account(ctx); err != nil {
		return nil, err
	}
	return m.limitOf(m.budget.Err()), nil
}

// limitOf returns the end of a run by the error of a budget that is exhausted, nil for any other error.
func (m *meter) limitOf(err error) *session.RunEnded {
	e, ok := errors.AsType[*budget.Error](err)
	if !ok || e.Limit == budget.Unpriced {
		return nil
	}
	var end *session.RunEnded
	switch e.Budget {
	case m.budget:
		limit := string(e.Limit)
		if e.Limit == budget.Money {
			limit = "cost"
		}
		end = limitEnd(limit, "%s", e.Words())
	case m.a.spending.session:
		end = limitEnd("session_cost", "%s", e.Words())
	case m.a.spending.day.budget:
		end = limitEnd("day_cost", "%s", e.Words())
	default:
		end = limitEnd("budget", "%s, which it shares", e.Words())
	}
	end.Spent, end.Max = e.Spent, e.Max
	return end
}

func limitEnd(limit, format string, args ...any) *session.RunEnded {
	end := ended(session.ReasonLimit, "stopped at "+fmt.Sprintf(format, args...))
	end.Limit = limit
	return end
}

func summaryOf(ctx context.Context, store index.Store, id session.SessionID) (index.Summary, error) {
	for s, err := range store.List(ctx, index.Query{Prefix: string(id), Limit: 1}) {
		return s, err
	}
	return index.Summary{}, fmt.Errorf("agent: session %s: %w", id, session.ErrNotFound)
}
