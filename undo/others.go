package undo

import (
	"context"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// reported is a change of one file in the journal of another session of the directory.
type reported struct {
	by           session.SessionID
	began, known time.Time // the beginning of the call, and the time of the entry
	after        *session.FileState
}

// doubtCommands marks changes that may be another session's: a command of this session seems to have made them, and a call of another session
// that began and ended while the command ran has the same change. No process watches who changes a file, so that both find it.
func (h *History) doubtCommands(ctx context.Context, store index.Store) error {
	var first, last time.Time
	for _, c := range h.changes {
		if !c.byCommand() {
			continue
		}
		if first.IsZero() || c.began.Before(first) {
			first = c.began
		}
		last = c.known
	}
	if first.IsZero() {
		return nil
	}
	others := map[string][]reported{} // by path
	for s, err := range store.List(ctx, index.Query{Dir: h.Dir, After: first}) {
		if err != nil {
			return err
		}
		if s.ID == h.Session || s.Created.After(last) {
			continue
		}
		if err := addChanges(ctx, store, s.ID, others); err != nil {
			return err
		}
	}
	for _, c := range h.changes {
		if !c.byCommand() {
			continue
		}
		for i, f := range c.body.Files {
			for _, o := range others[f.Path] {
				if f.Unsure == "" && c.overlaps(o) && same(f.After, o.after) {
					c.body.Files[i].Unsure = fmt.Sprintf("session %s changed it while the command ran", o.by)
				}
			}
		}
	}
	return nil
}

// overlaps reports whether a call of another session overlaps with a command, and did not begin before it and end after it: if one call lies
// within the other, the longer one is in doubt.
func (c *change) overlaps(o reported) bool {
	around := o.began.Before(c.began) && o.known.After(c.known)
	return o.known.After(c.began) && o.began.Before(c.known) && !around
}

// byCommand reports whether the change was found after a command with a known beginning.
func (c *change) byCommand() bool { return c.body.Cause == session.ByCommand && !c.began.IsZero() }

// addChanges adds the changes in the journal of a session.
func addChanges(ctx context.Context, store index.Store, id session.SessionID, others map[string][]reported) error {
	calls := map[string]time.Time{}
	for e, err := range store.Read(ctx, id, 0, session.CallStarted{}.Kind(), session.FilesChanged{}.Kind()) {
		if err != nil {
			return err
		}
		if e.Imported {
			continue
		}
		switch b := e.Body.(type) {
		case session.CallStarted:
			calls[b.Call] = e.Time
		case session.FilesChanged:
			began := e.Time
			if b.Cause == session.ByCommand {
				began = calls[b.Call] // unknown: long ago
			}
			for _, f := range b.Files {
				f = renamed(f, unwritten)
				others[f.Path] = append(others[f.Path], reported{id, began, e.Time, f.After})
			}
		}
	}
	return nil
}
