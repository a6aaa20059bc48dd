package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// Create implements [session.Log].
func (s *committer) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	e := session.Event{ID: session.NewSessionID(), Time: session.Now(), Body: c}
	err := s.write(ctx, "create a session in", false, func(t *txn) error {
		r, err := t.create(e)
		if err != nil {
			return err
		}
		return r.update(t)
	})
	if err != nil {
		return "", err
	}
	return e.ID, nil
}

// create makes the session of a root, without its row, which update writes.
func (t *txn) create(e session.Event) (row, error) {
	r := row{stored: stored{sum: index.Summary{ID: e.ID}}}
	c := e.Body.(session.Created)
	var err error
	if r.base, err = t.inherit(&c); err != nil {
		return r, err
	}
	if r.base != 0 {
		e.Body, r.tip = c, c.From.Entry
	}
	if err := r.insert(t); err != nil {
		return r, err
	}
	return r, r.put(t, e)
}

// inherit returns the place of the entry that a fork continues from, and adds its ID to c if c has none. It returns 0 if c is no fork.
func (t *txn) inherit(c *session.Created) (base int64, err error) {
	if !c.Fork {
		return 0, nil
	}
	h, err := t.holder(c.From.Session)
	if err != nil {
		return 0, fmt.Errorf("fork: %w", err)
	}
	if c.From.Entry == "" {
		if err := t.row(`SELECT tip FROM sessions WHERE key = ?`, []any{h.key}, (*string)(&c.From.Entry)); err != nil {
			return 0, err
		}
	}
	if base, err = locate(t, c.From.Session, h.key, c.From.Entry); err != nil {
		return 0, fmt.Errorf("fork: %w", err)
	}
	return base, nil
}

// Annotate implements [index.Store].
func (s *committer) Annotate(ctx context.Context, id session.SessionID, bodies ...session.Body) ([]session.Event, error) {
	if err := session.Check(true, bodies...); err != nil {
		return nil, err
	}
	if len(bodies) == 1 {
		if d, ok := bodies[0].(session.Deleted); ok {
			return s.trash(ctx, id, d)
		}
	}
	return s.append(ctx, id, noEpoch, session.Stamp{}, bodies)
}

// noEpoch is the epoch of appends that need no lease.
const noEpoch = -1

// append makes entries of bodies, if the lease still has this epoch.
func (s *committer) append(
	ctx context.Context, id session.SessionID, epoch int64, at session.Stamp, bodies []session.Body,
) ([]session.Event, error) {
	if err := session.Check(false, bodies...); err != nil {
		return nil, err
	}
	events, encoded, err := encode(at, bodies)
	if err != nil {
		return nil, err
	}
	err = s.share(ctx, "append to", mustSync(bodies), func(t *txn) error {
		return t.append(id, epoch, at.Expect, events, encoded)
	})
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return events, nil
}

// append numbers events and writes them.
func (t *txn) append(id session.SessionID, epoch, expect int64, events []session.Event, encoded [][]byte) error {
	if done, err := t.appendOn(id, epoch, expect, events, encoded); done {
		return err
	}
	row, err := t.session(id, epoch)
	if err == nil && expect != 0 && expect != row.sum.Entries {
		err = &session.StaleError{Session: id, Expect: expect, Newest: row.sum.Entries}
	}
	if err != nil || len(events) == 0 {
		return err
	}
	sums, err := row.link(t, events, encoded)
	if err != nil {
		return err
	}
	for i, e := range events {
		if err := row.add(t, e, encoded[i], sums[i]); err != nil {
			return err
		}
	}
	if err := row.update(t); err != nil || t.head == nil {
		return err
	}
	t.head.loose = epoch == noEpoch
	return nil
}

// appendOn appends to a session as this process remembers its row, without reading it. If the row is another one now, or not remembered, done
// is false and nothing is changed.
func (t *txn) appendOn(id session.SessionID, epoch, expect int64, events []session.Event, encoded [][]byte) (done bool, err error) {
	was, ok := t.rows[id]
	if !ok || epoch == noEpoch || len(events) == 0 || expect != 0 && expect != was.sum.Entries {
		return false, nil
	}
	was.epoch = epoch
	row := row{stored: was, was: &was, seq: was.sum.Entries}
	sums, err := row.link(t, events, encoded)
	if err != nil {
		return false, nil // append finds the error again, from the row as it is now
	}
	if same, err := row.save(t, row.was); err != nil || !same {
		return err != nil, err
	}
	t.note(row.stored)
	for i, e := range events {
		if err := row.add(t, e, encoded[i], sums[i]); err != nil {
			return true, err
		}
	}
	return true, nil
}

// mustSync reports whether Append must sync one of the bodies before it returns.
func mustSync(bodies []session.Body) bool {
	for _, b := range bodies {
		switch b := b.(type) {
		case session.RunEnded:
			return true
		case session.CallStarted:
			if !b.Again {
				return true
			}
		}
	}
	return false
}

// encode makes events of bodies, without numbers yet, and encodes the bodies. It does not need the lane.
func encode(at session.Stamp, bodies []session.Body) (events []session.Event, encoded [][]byte, err error) {
	now := session.Now()
	events, encoded = make([]session.Event, len(bodies)), make([][]byte, len(bodies))
	for i, b := range bodies {
		if _, encoded[i], err = session.EncodeBody(b); err != nil {
			return nil, nil, err
		}
		events[i] = session.Event{ID: session.NewID(), Run: at.Run, Turn: at.Turn, Time: now, Body: b}
	}
	return events, encoded, nil
}

// row is a row of sessions that an append changes.
type row struct {
	stored
	was *stored // before; nil: it is new
	seq int64   // of the last numbered entry
}

// tags is a list of tags in the form of the column.
type tags string

func packTags(list []string) tags {
	if len(list) == 0 {
		return ""
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // strings can be encoded
	}
	return tags(text)
}

func (t tags) list() (list []string, err error) {
	if t != "" {
		err = json.Unmarshal([]byte(t), &list)
	}
	return list, err
}

// session reads the row of a session whose lease still has this epoch.
func (t *txn) session(id session.SessionID, epoch int64) (row, error) {
	r, err := t.current(id)
	switch {
	case errors.Is(err, session.ErrNotFound) && epoch != noEpoch: // only a session without a living writer is purged
		err = &session.FencedError{Session: id}
	case err == nil && epoch != noEpoch && epoch != r.epoch:
		err = &session.FencedError{Session: id, Owner: r.sum.Owner}
	}
	return row{stored: r, was: &r, seq: r.sum.Entries}, err
}

// link numbers events after the last entry, continues the branch from its tip, and returns their checksums.
func (r *row) link(t *txn, events []session.Event, encoded [][]byte) ([]chain, error) {
	sums := make([]chain, len(events))
	for i := range events {
		e := &events[i]
		r.seq++
		e.Seq = r.seq
		if e.OnBranch() {
			e.Parent = r.tip
			if h, ok := e.Body.(session.Head); ok {
				if _, err := locate(t, r.sum.ID, r.key, h.To); err != nil {
					return nil, err
				}
				e.Parent = h.To
			}
			r.tip = e.ID
		} else {
			r.aside += e.Seq
		}
		r.sum.Add(*e)
		sums[i] = next(r.head, place(r.key, e.Seq), e, e.Body.Kind(), encoded[i])
		r.head = sums[i].own()
	}
	return sums, nil
}

// finder runs a prepared query for one row.
type finder interface {
	row(text string, args []any, dest ...any) error
}

// locate returns the place of an entry on a branch of a session. The entry may be inherited: another session had it when the session was
// forked.
func locate(q finder, id session.SessionID, key int64, entry session.ID) (at int64, err error) {
	until := lastPlace(key)
	for {
		err := q.row(`SELECT place FROM entries WHERE id = ? AND place BETWEEN ? AND ? AND (parent <> '' OR place = ?)`,
			[]any{string(entry), place(key, 1), until, place(key, 1)}, &at)
		if !errors.Is(err, sql.ErrNoRows) {
			return at, err
		}
		err = q.row(`SELECT base FROM sessions WHERE key = ? AND base <> 0`, []any{key}, &until)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, noEntry(id, entry)
		}
		if err != nil {
			return 0, err
		}
		key = keyOf(until)
	}
}

// add writes a linked entry and its usage.
func (r *row) add(t *txn, e session.Event, body []byte, sum chain) error {
	key, at := r.key, place(r.key, e.Seq)
	if body == nil {
		body = []byte{}
	}
	t.wrote = true
	if err := t.exec(`INSERT INTO entries (place, id, parent, run, turn, time, kind, imported, sum, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		at, string(e.ID), string(e.Parent), string(e.Run), e.Turn, e.Time.UnixMicro(), e.Body.Kind(), e.Imported, sum[:], body); err != nil {
		return err
	}
	if b, ok := e.Body.(session.RunStarted); ok {
		t.agents.note(key, e.Run, index.AgentOf(b))
	}
	model, u, ok := view.Consumed(e.Body)
	if !ok {
		return nil
	}
	agent, err := t.agentOf(key, e.Run)
	if err != nil {
		return err
	}
	return t.spend(`INSERT INTO spending`, at, &e, model, agent, u)
}

// spend writes the row of spending of an entry.
func (t *txn) spend(insert string, at int64, e *session.Event, model, agent string, u llm.Usage) error {
	return t.exec(insert+` (time, place, model, agent, input, cache_read, cache_write, output, reasoning, cost, imported, names)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.Time.UnixMicro(), at, model, agent,
		u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost, e.Imported, namesOf(model, agent))
}

func namesOf(model, agent string) int64 {
	return int64(crc32.ChecksumIEEE([]byte(model + "\x00" + agent)))
}

// agents caches the agents of runs.
type agents struct {
	known map[agentRun]string
}

type agentRun struct {
	key int64
	run session.RunID
}

// maxAgents bounds the cache.
const maxAgents = 1000

func (a *agents) note(key int64, run session.RunID, agent string) {
	if a.known == nil || len(a.known) >= maxAgents {
		a.known = map[agentRun]string{}
	}
	a.known[agentRun{key, run}] = agent
}

// agentOf returns the agent of a run of a session.
func (t *txn) agentOf(key int64, run session.RunID) (string, error) {
	if run == "" {
		return "", nil
	}
	if agent, ok := t.agents.known[agentRun{key, run}]; ok {
		return agent, nil
	}
	var body []byte
	err := t.row(`SELECT body FROM entries WHERE place BETWEEN ? AND ? AND run = ? AND kind = 'run_started' ORDER BY place DESC LIMIT 1`,
		[]any{place(key, 1), lastPlace(key), string(run)}, &body)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", err
	}
	agent := ""
	if b, err := session.DecodeBody("run_started", body); err == nil {
		agent = index.AgentOf(b.(session.RunStarted))
	}
	t.agents.note(key, run, agent)
	return agent, nil
}

// update writes the row back.
func (r *row) update(t *txn) error {
	same, err := r.save(t, r.was)
	if err == nil && !same {
		err = fmt.Errorf("session %s: %w: its row cannot be found by its key; run tenon sessions check --repair", r.sum.ID, session.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	t.note(r.stored)
	return nil
}

// note notes that the transaction wrote the row of a session.
func (t *txn) note(r stored) {
	t.wrote, t.changed, t.head = true, r.sum.ID, headOf(&r)
	t.remember(r)
}
