package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// Over returns a store of a log, with an index that it computes from the entries and keeps in memory.
func Over(log session.Log) Store { return &over{Log: log, known: map[session.SessionID]*digest{}} }

type over struct {
	session.Log
	mu    sync.Mutex
	known map[session.SessionID]*digest
}

// digest is computed from the entries of one session up to Summary.Entries.
type digest struct {
	sum    Summary
	last   session.ID  // of the newest entry
	rows   []digestRow // of answers and of calls
	agents map[session.RunID]string
}

// refresh updates the digests. The caller holds the lock until it has read them.
func (x *over) refresh(ctx context.Context) error {
	seen := map[session.SessionID]bool{}
	for l, err := range x.Sessions(ctx) {
		if err == nil {
			err = x.follow(ctx, l.ID)
		}
		if errors.Is(err, session.ErrNotFound) && ctx.Err() == nil { // purged meanwhile
			continue
		}
		if err != nil {
			return err
		}
		seen[l.ID], x.known[l.ID].sum.Owner = true, l.Owner
	}
	for id := range x.known {
		if !seen[id] {
			delete(x.known, id)
		}
	}
	return nil
}

// follow reads the new entries of one session. It starts with the newest known one: if that is now another entry, the session was purged
// and imported again.
func (x *over) follow(ctx context.Context, id session.SessionID) error {
	d := x.known[id]
	if d == nil {
		d = &digest{sum: Summary{ID: id}, agents: map[session.RunID]string{}}
	}
	for e, err := range x.Read(ctx, id, max(d.sum.Entries-1, 0)) {
		if err != nil {
			return err
		}
		if e.Seq == d.sum.Entries {
			if e.ID != d.last {
				delete(x.known, id)
				return x.follow(ctx, id)
			}
			continue
		}
		d.add(e)
	}
	x.known[id] = d
	return nil
}

// digestRow is the row of an entry.
type digestRow struct {
	UsageRow
	imported bool
}

func (d *digest) add(e session.Event) {
	d.sum.Add(e)
	d.last = e.ID
	if b, ok := e.Body.(session.RunStarted); ok && e.Run != "" {
		d.agents[e.Run] = AgentOf(b)
	}
	if r, ok := RowOf(e, true); ok {
		r.Session, r.Agent = d.sum.ID, d.agents[e.Run]
		d.rows = append(d.rows, digestRow{r, e.Imported})
	}
}

func (x *over) List(ctx context.Context, q Query) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		all, err := x.list(ctx, q)
		for _, one := range all {
			if err = ctx.Err(); err != nil {
				break
			}
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			yield(Summary{}, err)
		}
	}
}

func (x *over) list(ctx context.Context, q Query) (all []Summary, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return nil, err
	}
	for _, d := range x.known {
		if q.Selects(d.sum) {
			all = append(all, d.sum)
		}
	}
	slices.SortFunc(all, func(a, b Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(b.ID, a.ID))
	})
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, nil
}

func (x *over) Delete(ctx context.Context, id session.SessionID) error {
	return x.trash(ctx, id, session.Deleted{})
}

func (x *over) Restore(ctx context.Context, id session.SessionID) error {
	return x.trash(ctx, id, session.Deleted{Restored: true})
}

func (x *over) trash(ctx context.Context, id session.SessionID, b session.Deleted) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.follow(ctx, id); err != nil {
		return err
	}
	if x.known[id].sum.Deleted.IsZero() == b.Restored {
		return nil
	}
	_, err := x.Annotate(ctx, id, b)
	return err
}

func (x *over) Search(ctx context.Context, q search.Request) iter.Seq2[search.Hit, error] {
	return Scan(ctx, x, q)
}

func (x *over) Index(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refresh(ctx)
}

func (x *over) Usage(ctx context.Context, q UsageQuery) iter.Seq2[UsageRow, error] {
	return func(yield func(UsageRow, error) bool) {
		rows, err := x.usage(ctx, q)
		if err != nil {
			yield(UsageRow{}, err)
		}
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (x *over) usage(ctx context.Context, q UsageQuery) ([]UsageRow, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return nil, err
	}
	tally := NewTally(q)
	for id, d := range x.known {
		if q.Session != "" && id != q.Session || q.Dir != "" && d.sum.Dir != q.Dir {
			continue
		}
		for _, r := range d.rows {
			if r.Calls == 0 || q.Counts() {
				tally.Add(r.UsageRow)
			}
		}
	}
	return tally.Rows(), nil
}

func (x *over) Spent(ctx context.Context, since time.Time) (sum llm.Usage, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return sum, err
	}
	for _, d := range x.known {
		for _, r := range d.rows {
			if !r.imported && !r.Time.Before(since.Truncate(time.Microsecond)) {
				sum = sum.Plus(r.Usage)
			}
		}
	}
	return sum, nil
}

// Check reads every entry. There is nothing to repair: the index is made of them each time.
func (x *over) Check(ctx context.Context, _ bool) iter.Seq2[Problem, error] {
	return func(yield func(Problem, error) bool) {
		for l, err := range x.Sessions(ctx) {
			var p Problem
			if err == nil {
				p, err = x.check(ctx, l.ID)
			}
			if err != nil {
				yield(Problem{}, err)
				return
			}
			if p.Text != "" && !yield(p, nil) {
				return
			}
		}
	}
}

// check returns the first problem of one session.
func (x *over) check(ctx context.Context, id session.SessionID) (Problem, error) {
	p := Problem{Session: id, Part: PartEntries, Lost: true, Advice: "restore a backup of the store"}
	tip := session.ID("")
	for e, err := range x.Read(ctx, id, 0) {
		switch {
		case errors.Is(err, session.ErrNotFound) && ctx.Err() == nil: // purged meanwhile
			return Problem{}, nil
		case errors.Is(err, session.ErrCorrupt):
			p.Seq, p.Text = p.Seq+1, err.Error()
			return p, nil
		case err != nil:
			return p, err
		}
		if p.Seq++; e.Seq != p.Seq {
			p.Text = fmt.Sprintf("entry %d is missing", p.Seq)
			return p, nil
		}
		if _, head := e.Body.(session.Head); e.OnBranch() {
			if !head && e.Seq > 1 && e.Parent != tip {
				p.Text = "its parent is not the entry before it on the branch"
				return p, nil
			}
			tip = e.ID
		}
	}
	return Problem{}, nil
}
