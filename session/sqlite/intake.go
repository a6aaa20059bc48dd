package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// One goroutine reads entries and finds their words, and another one writes the index.

// intake is the index data of some entries of a session.
type intake struct {
	after int64 // the index must have the entries up to here
	mark  mark  // of the session after these
	size  int   // of the entries, in bytes
	docs  []doc
	calls []call
	err   error // the journal could not be read
}

// doc is the text of an entry.
type doc struct {
	seq, time int64
	weight    float64
	search.Streams
}

// call is the result of a call.
type call struct {
	seq, time int64
	agent     string
	index.UsageRow
}

// errOvertaken reports that another process has indexed the entries.
var errOvertaken = errors.New("overtaken")

// takeInAll adds the missing entries to the index.
func (s *searcher) takeInAll(ctx context.Context, todo []lack) error {
	if len(todo) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	next := make(chan intake, 2) // a megabyte each, more or less
	go func() {
		defer close(next)
		s.prepareIntakes(ctx, todo, next)
	}()
	defer func() {
		cancel()
		for range next { // until the goroutine has ended
			continue
		}
	}()
	var overtaken error
	for first, more := true, true; more; first = false {
		if err := s.ended(ctx); err != nil {
			return err
		}
		if !first { // a checkpoint after each transaction keeps the log small
			if err := s.index.lane.checkpoint(); err != nil {
				return err
			}
		}
		err := s.index.write(ctx, func() (err error) {
			if more, err = s.index.take(ctx, next); errors.Is(err, errOvertaken) {
				overtaken, err = err, nil // the earlier entries stay
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return overtaken
}

// prepareIntakes reads the journal, and sends the entries that the index lacks.
func (s *searcher) prepareIntakes(ctx context.Context, todo []lack, next chan<- intake) {
	for _, l := range todo {
		for m := l.mark; m.seq < l.until; {
			in := s.intake(m, l.until)
			if in.err == nil {
				in.err = s.ended(ctx)
			}
			select {
			case next <- in:
			case <-ctx.Done():
				return
			}
			if in.err != nil {
				return
			}
			m = in.mark
		}
	}
}

// intake reads the next entries of a session. It skips missing and damaged entries, which Check reports.
func (s *searcher) intake(m mark, until int64) intake {
	in := intake{after: m.seq}
	records, err := s.records(m.key, m.seq, until)
	if err != nil {
		in.err = s.ofJournal(err)
		return in
	}
	if len(records) == 0 {
		m.seq = until
	}
	for _, r := range records {
		m.seq = r.Seq
		if r.broken != nil {
			continue
		}
		if b, ok := r.Body.(session.RunStarted); ok && r.Run != "" {
			m.run, m.agent = r.Run, index.AgentOf(b)
		}
		agent := ""
		if r.Run == m.run && r.Run != "" {
			agent = m.agent
		}
		in.size += r.size
		in.add(r.Event, agent)
	}
	in.mark = m
	return in
}

// add adds one entry.
func (in *intake) add(e session.Event, agent string) {
	if row, ok := index.RowOf(e, true); ok && row.Calls > 0 {
		in.calls = append(in.calls, call{e.Seq, e.Time.UnixMicro(), agent, row})
	}
	if pieces := search.Pieces(e.Body); len(pieces) > 0 {
		in.docs = append(in.docs, doc{e.Seq, e.Time.UnixMicro(), search.Weight(e.Body), search.StreamsOf(pieces)})
	}
}

// take writes the entries of one transaction, and reports whether there may be more.
func (x *wordIndex) take(ctx context.Context, next <-chan intake) (more bool, err error) {
	for size := 0; size < transactionBytes; {
		in, ok := <-next
		switch {
		case !ok:
			return false, ctx.Err()
		case in.err != nil:
			return false, in.err
		}
		size += in.size
		if err := x.put(in); err != nil {
			return false, err
		}
	}
	return true, nil
}

// put writes one intake, unless another process has done so meanwhile.
func (x *wordIndex) put(in intake) error {
	var after int64
	m := in.mark
	err := x.lane.row(`SELECT seq FROM done WHERE key = ?`, []any{m.key}, &after)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if after != in.after {
		return errOvertaken
	}
	for _, c := range in.calls {
		if err := x.lane.exec(`INSERT OR REPLACE INTO calls (place, time, tool, agent, failed, bytes) VALUES (?, ?, ?, ?, ?, ?)`,
			place(m.key, c.seq), c.time, c.Tool, c.agent, c.Failed, c.Bytes); err != nil {
			return err
		}
	}
	for _, d := range in.docs {
		if err := x.lane.exec(`INSERT INTO docs (place, time, weight) VALUES (?, ?, ?)`, place(m.key, d.seq), d.time, d.weight); err != nil {
			return err
		}
		if err := x.lane.exec(`INSERT INTO said (rowid, about, words, parts, thinking) VALUES (last_insert_rowid(), ?, ?, ?, ?)`,
			about(m.key), d.Words, d.Parts, d.Thinking); err != nil {
			return err
		}
	}
	return x.lane.exec(`INSERT INTO done (key, id, seq, run, agent) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET id = excluded.id, seq = excluded.seq, run = excluded.run, agent = excluded.agent`,
		m.key, m.id, m.seq, string(m.run), m.agent)
}
