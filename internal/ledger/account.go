package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Query says what an account is about. The zero value is all there is.
type Query struct {
	Dir   string         // of the sessions, exact
	Since time.Time      // at this time or later
	Until time.Time      // before this time; zero: now
	Zone  *time.Location // of the days; nil: UTC
}

// Account is the usage of sessions, and the cost that the providers' caches could have saved. Sessions in the trash count.
type Account struct {
	store    index.Store
	query    Query
	missed   []missed
	damaged  []session.SessionID
	sessions map[session.SessionID]string // titles
}

// missed is a request of which the cache had less than it might.
type missed struct {
	Request
	session session.SessionID
}

// Row is one line of an account.
type Row struct {
	Key   string    // the day, the model, the session, the agent, the tool, or a request as SESSION/SEQ; of the main agent it is empty
	Title string    // of a session; of a request, the model
	Time  time.Time // of a request
	Sum

	Calls  int   // of a tool
	Failed int   // of these
	Bytes  int64 // of their results
}

// Open reads the requests of the sessions that were in use in the time of the query. Those that cannot be read are left out, see
// [Account.Damaged].
func Open(ctx context.Context, store index.Store, q Query) (*Account, error) {
	a := &Account{store: store, query: q, sessions: make(map[session.SessionID]string)}
	for _, trash := range []bool{false, true} {
		for s, err := range store.List(ctx, index.Query{Dir: q.Dir, After: q.Since, Deleted: trash}) {
			if err != nil {
				return nil, err
			}
			a.sessions[s.ID] = s.Title
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.sessions)) {
		b, err := read(ctx, store, id)
		if errors.Is(err, session.ErrNotFound) {
			continue // it was purged meanwhile
		}
		if errors.Is(err, session.ErrCorrupt) {
			a.damaged = append(a.damaged, id)
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, r := range b.requests {
			if at := r.Entry.Time; r.Miss != Hit && !at.Before(q.Since) && (q.Until.IsZero() || at.Before(q.Until)) {
				a.missed = append(a.missed, missed{r, id})
			}
		}
	}
	return a, nil
}

// Damaged returns the sessions that cannot be read to their end, sorted by ID. Their usage counts; their cache misses do not.
func (a *Account) Damaged() []session.SessionID { return a.damaged }

// Total is all of it.
func (a *Account) Total(ctx context.Context) (Row, error) {
	rows, err := a.rows(ctx)
	if err != nil || len(rows) == 0 {
		return Row{}, err
	}
	return rows[0], nil
}

// By is the account in groups, in the order of their keys: days, models, sessions, agents, tools or requests ([index.GroupAnswer]). Tools have calls and nothing else.
func (a *Account) By(ctx context.Context, g index.Group) ([]Row, error) { return a.rows(ctx, g) }

func (a *Account) rows(ctx context.Context, by ...index.Group) ([]Row, error) {
	q := a.query
	var rows []Row
	at := make(map[string]int)
	groups := by
	if slices.Contains(by, index.GroupAnswer) {
		groups = append(slices.Clip(by), index.GroupModel)
	}
	for u, err := range a.store.Usage(ctx, index.UsageQuery{By: groups, Dir: q.Dir, Since: q.Since, Until: q.Until, Zone: q.Zone}) {
		if err != nil {
			return nil, err
		}
		r := Row{Sum: Sum{Requests: u.Answers, Usage: u.Usage}, Calls: u.Calls, Failed: u.Failed, Bytes: u.Bytes}
		if len(by) > 0 {
			switch by[0] {
			case index.GroupDay:
				r.Key = u.Day
			case index.GroupModel:
				r.Key = u.Model
			case index.GroupSession:
				r.Key, r.Title = string(u.Session), a.sessions[u.Session]
			case index.GroupAgent:
				r.Key = u.Agent
			case index.GroupAnswer:
				r.Key, r.Title, r.Time = request(u.Session, u.Seq), u.Model, u.Time
			case index.GroupTool:
				if u.Tool == "" {
					continue // answers
				}
				r.Key = u.Tool
			}
		}
		at[r.Key] = len(rows)
		rows = append(rows, r)
	}
	for _, m := range a.missed {
		if i, ok := at[a.key(m, by)]; ok {
			rows[i].miss(m.Request)
		}
	}
	return rows, nil
}

func request(id session.SessionID, seq int64) string { return fmt.Sprintf("%s/%d", id, seq) }

// key is the row that a request belongs to.
func (a *Account) key(m missed, by []index.Group) string {
	if len(by) == 0 {
		return ""
	}
	switch by[0] {
	case index.GroupDay:
		zone := a.query.Zone
		if zone == nil {
			zone = time.UTC
		}
		return m.Entry.Time.In(zone).Format(time.DateOnly)
	case index.GroupModel:
		return m.Answered
	case index.GroupSession:
		return string(m.session)
	case index.GroupAgent:
		return m.Agent
	case index.GroupAnswer:
		return request(m.session, m.answerSeq)
	}
	return "\x00" // tools make no requests
}
