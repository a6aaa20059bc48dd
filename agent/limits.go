package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Unlimited, as the value of a limit, switches it off.
const Unlimited = -1

// Limits ends runs before they become too long or too dear. A zero field has its default. What a run has used is that of its answers and of
// the summaries that took effect in it; to the session and the day count also titles, and summaries that were made in vain.
type Limits struct {
	Turns  int           // answers of one run; default 50
	Tokens int64         // all tokens of one run, cached ones too; default 1 000 000
	Time   time.Duration // wall clock of one run; default 10 min

	Cost        float64 // US dollars of one run; default unlimited
	SessionCost float64 // US dollars of the session, all branches; default unlimited
	DayCost     float64 // US dollars of all sessions of the store since midnight, local time; default unlimited
}

func (l Limits) withDefaults() Limits {
	if l.Turns == 0 {
		l.Turns = 50
	}
	if l.Tokens == 0 {
		l.Tokens = 1_000_000
	}
	if l.Time == 0 {
		l.Time = 10 * time.Minute
	}
	return l
}

// reached returns the end of a run that has come to one of its limits, nil for one that has not. What sessions and days
// cost is asked of the store only where there is a limit. The time is not looked at here: it ends the run's context.
func (l Limits) reached(
	ctx context.Context, store session.Store, id session.SessionID, turns int, used llm.Usage,
) (*session.RunEnded, error) {
	switch {
	case l.Turns > 0 && turns >= l.Turns:
		return limitEnd("turns", "the limit of %s", count(int64(l.Turns), "turn")), nil
	case l.Tokens > 0 && used.Total() >= l.Tokens:
		return limitEnd("tokens", "the limit of %s (%d used)", count(l.Tokens, "token"), used.Total()), nil
	case l.Cost > 0 && used.Cost >= l.Cost:
		return limitEnd("cost", "the limit of $%.2f for a run ($%.2f spent)", l.Cost, used.Cost), nil
	}
	if l.SessionCost > 0 {
		summary, err := summaryOf(ctx, store, id)
		if err != nil {
			return nil, err
		}
		if summary.Usage.Cost >= l.SessionCost {
			return limitEnd("session_cost", "the limit of $%.2f for a session ($%.2f spent)", l.SessionCost, summary.Usage.Cost), nil
		}
	}
	if l.DayCost > 0 {
		now := time.Now()
		midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
		usage, err := store.Spent(ctx, midnight)
		if err != nil {
			return nil, err
		}
		if usage.Cost >= l.DayCost {
			return limitEnd("day_cost", "the limit of $%.2f for a day ($%.2f spent)", l.DayCost, usage.Cost), nil
		}
	}
	return nil, nil
}

func limitEnd(limit, format string, args ...any) *session.RunEnded {
	end := ended(session.ReasonLimit, "stopped at "+fmt.Sprintf(format, args...)+"; continue to go on")
	end.Limit = limit
	return end
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func summaryOf(ctx context.Context, store session.Store, id session.SessionID) (session.Summary, error) {
	for s, err := range store.List(ctx, session.Query{Prefix: string(id), Limit: 1}) {
		return s, err
	}
	return session.Summary{}, fmt.Errorf("agent: session %s: %w", id, session.ErrNotFound)
}
