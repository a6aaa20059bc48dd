package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Create implements [session.Store].
func (s *Store) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	id := session.NewSessionID()
	events, bodies, err := encode(session.Stamp{}, []session.Body{c})
	if err != nil {
		return "", err
	}
	e, body := events[0], bodies[0]
	e.Seq, e.ID = 1, id
	err = s.write(ctx, "create a session in", false, func(t *txn) error {
		base, err := t.inherit(&c)
		if err != nil {
			return err
		}
		if base != 0 {
			e.Parent, e.Body = c.From.Entry, c
			if _, body, err = session.EncodeBody(c); err != nil {
				return err
			}
		}
		key, err := t.begin(id, c, e.Time.UnixMicro(), 1, base)
		if err != nil {
			return err
		}
		return t.insert(key, e, body)
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// begin makes the row of a session.
func (t *txn) begin(id session.SessionID, c session.Created, time, seq, base int64) (key int64, err error) {
	if err := t.exec(`INSERT INTO sessions (id, seq, tip, title, named, dir, created, updated, from_session, from_entry, base)
		VALUES (?, ?, ?, '', 0, ?, ?, ?, ?, ?, ?)`,
		string(id), seq, string(id), c.Dir, time, time, string(c.From.Session), string(c.From.Entry), base); err != nil {
		return 0, err
	}
	err = t.row(`SELECT key FROM sessions WHERE id = ?`, []any{string(id)}, &key)
	return key, err
}

// inherit returns the place of the entry that a fork goes on from, and names it when c does not: 0 for what is no fork.
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

// Annotate implements [session.Store].
func (s *Store) Annotate(ctx context.Context, id session.SessionID, bodies ...session.Body) ([]session.Event, error) {
	if err := session.Check(true, bodies...); err != nil {
		return nil, err
	}
	return s.append(ctx, id, noEpoch, session.Stamp{}, bodies)
}

// noEpoch is the epoch of those who need no lease.
const noEpoch = -1

// append makes entries of bodies, provided that the lease has not changed hands since epoch.
func (s *Store) append(
	ctx context.Context, id session.SessionID, epoch int64, at session.Stamp, bodies []session.Body,
) ([]session.Event, error) {
	if err := session.Check(false, bodies...); err != nil {
		return nil, err
	}
	events, encoded, err := encode(at, bodies)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, "append to", mustSync(bodies), func(t *txn) error {
		return t.append(id, epoch, events, encoded)
	})
	if err != nil || len(events) == 0 {
		return nil, err
	}
	return events, nil
}

// append gives events their places and writes them.
func (t *txn) append(id session.SessionID, epoch int64, events []session.Event, encoded [][]byte) error {
	row, err := t.session(id, epoch)
	if err != nil || len(events) == 0 {
		return err
	}
	if err := row.link(t, events); err != nil {
		return err
	}
	for i, e := range events {
		if err := t.insert(row.key, e, encoded[i]); err != nil {
			return err
		}
	}
	t.changed = id
	return row.update(t)
}

// mustSync reports whether one of the bodies has to be on the disk before anything else happens.
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

// encode makes events of bodies, without a place yet, and encodes the bodies. It needs no turn.
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

// row is what an append has to know of a session, and changes.
type row struct {
	id  session.SessionID
	key int64
	seq int64
	tip session.ID
	sum session.Summary // Usage, Messages, Runs, Tags and Deleted are those of the append alone

	tagged, trashed bool // Tags and Deleted change, which is seldom
}

// tags is a list of tags as a row has it.
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

// session reads the row of a session whose lease has not changed hands since epoch.
func (t *txn) session(id session.SessionID, epoch int64) (row, error) {
	r := row{id: id}
	var now holder
	err := t.row(`SELECT key, epoch, token, owner, seq, tip, title, named, model FROM sessions WHERE id = ? AND kept = 0`,
		[]any{string(id)}, &r.key, &now.epoch, &now.token, &now.owner,
		&r.seq, (*string)(&r.tip), &r.sum.Title, &r.sum.Named, &r.sum.Model)
	switch {
	case errors.Is(err, sql.ErrNoRows) && epoch != noEpoch: // only a session without a living writer is purged
		return r, &session.FencedError{Session: id}
	case errors.Is(err, sql.ErrNoRows):
		return r, noSession(id)
	case err == nil && epoch != noEpoch && epoch != now.epoch:
		return r, &session.FencedError{Session: id, Owner: now.owner}
	}
	return r, err
}

// link gives events their places, after the last entry and from the tip of the branch on.
func (r *row) link(t *txn, events []session.Event) error {
	for i := range events {
		e := &events[i]
		r.seq++
		e.Seq = r.seq
		if session.OnBranch(e.Body) {
			e.Parent = r.tip
			if h, ok := e.Body.(session.Head); ok {
				if _, err := locate(t, r.id, r.key, h.To); err != nil {
					return err
				}
				e.Parent = h.To
			}
			r.tip = e.ID
		}
		r.sum.Add(*e)
		switch e.Body.(type) {
		case session.Tags:
			r.tagged = true
		case session.Deleted:
			r.trashed = true
		}
	}
	return nil
}

// finder runs a prepared query for one row.
type finder interface {
	row(text string, args []any, dest ...any) error
}

// locate returns the place of an entry on a branch of a session, or in what it inherited: what the session that it goes on
// from had when that entry was written.
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

// insert writes an entry, and what it cost.
func (t *txn) insert(key int64, e session.Event, body []byte) error {
	at := place(key, e.Seq)
	if body == nil {
		body = []byte{}
	}
	if err := t.exec(`INSERT INTO entries (place, id, parent, run, turn, time, kind, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		at, string(e.ID), string(e.Parent), string(e.Run), e.Turn, e.Time.UnixMicro(), e.Body.Kind(), body); err != nil {
		return err
	}
	if b, ok := e.Body.(session.RunStarted); ok {
		t.agents.note(key, e.Run, session.AgentOf(b))
	}
	model, u, ok := session.Consumed(e.Body)
	if !ok {
		return nil
	}
	agent, err := t.agentOf(key, e.Run)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO spending (time, place, model, input, cache_read, cache_write, output, reasoning, cost, agent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Time.UnixMicro(), at, model, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost, agent)
}

// agents remembers which agent's runs the last ones were.
type agents struct {
	known map[agentRun]string
}

type agentRun struct {
	key int64
	run session.RunID
}

// maxAgents bounds what is remembered. What was forgotten is looked up.
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
		agent = session.AgentOf(b.(session.RunStarted))
	}
	t.agents.note(key, run, agent)
	return agent, nil
}

// update writes the row back.
func (r *row) update(t *txn) error {
	sum := r.sum
	if err := t.exec(`UPDATE sessions SET seq = ?, tip = ?, updated = ?, title = ?, named = ?, messages = messages + ?, runs = runs + ? WHERE key = ?`,
		r.seq, string(r.tip), sum.Updated.UnixMicro(), sum.Title, sum.Named, sum.Messages, sum.Runs, r.key); err != nil {
		return err
	}
	if r.tagged {
		if err := t.exec(`UPDATE sessions SET tags = ? WHERE key = ?`, string(packTags(sum.Tags)), r.key); err != nil {
			return err
		}
	}
	if r.trashed {
		if err := t.exec(`UPDATE sessions SET deleted = ? WHERE key = ?`, microOrNever(sum.Deleted), r.key); err != nil {
			return err
		}
	}
	u := sum.Usage
	if u == (llm.Usage{}) && sum.Messages == 0 {
		return nil
	}
	return t.exec(`UPDATE sessions SET model = ?, input = input + ?, cache_read = cache_read + ?, cache_write = cache_write + ?,
		output = output + ?, reasoning = reasoning + ?, cost = cost + ? WHERE key = ?`,
		sum.Model, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, u.Cost, r.key)
}
