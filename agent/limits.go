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

	Unpriced budget.Policy // for models without a price under a limit of money that is set; default refuse
}

// With returns the limits with every field of over that is set in place of their own.
func (l Limits) With(over Limits) Limits {
	return Limits{
		Turns: cmp.Or(over.Turns, l.Turns), Tokens: cmp.Or(over.Tokens, l.Tokens), Time: cmp.Or(over.Time, l.Time),
		Cost: cmp.Or(over.Cost, l.Cost), SessionCost: cmp.Or(over.SessionCost, l.SessionCost), DayCost: cmp.Or(over.DayCost, l.DayCost),
		Unpriced: cmp.Or(over.Unpriced, l.Unpriced),
	}
}

// spending is the budgets of an agent: each run draws from that of the session, which draws from that of the day.
type spending struct {
	day     *Day
	session *budget.Budget

	mu      sync.Mutex
	noticed map[string]bool // the models without a price that people know of
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

// Budget returns the budget that requests of the session draw from now: that of the run if one is on, else that of the session. Those
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
	unpriced := s.notice(a)
	if l.Unpriced != budget.Notice {
		unpriced = nil
	}
	run := budget.Limits{Turns: l.Turns, Tokens: l.Tokens, Money: l.Cost, Unpriced: unpriced}
	if l.Cost == 0 {
		run.Money, run.Unpriced = DefaultCost, func(llm.Model) {}
	}
	m.budget.Set(run)
	m.budget.AtLeast(m.usage)
	s.session.Set(budget.Limits{Money: l.SessionCost, Unpriced: unpriced})
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
	switch e.Budget {
	case m.budget:
		limit := string(e.Limit)
		if e.Limit == budget.Money {
			limit = "cost"
		}
		return limitEnd(limit, "%s", e.Words())
	case m.a.spending.session:
		return limitEnd("session_cost", "%s", e.Words())
	case m.a.spending.day.budget:
		return limitEnd("day_cost", "%s", e.Words())
	default:
		return limitEnd("budget", "%s, which it shares", e.Words())
	}
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
