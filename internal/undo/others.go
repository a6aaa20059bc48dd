package undo

import (
	"context"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// told is a change of one file that another session of the directory has told of.
type told struct {
	by          session.SessionID
	began, told time.Time // when the call began, and when the journal knew of it
	after       *session.FileState
}

// doubtCommands marks what may be another session's: what a command of this one is said to have changed, and a call of another one too
// that began and told of it while the command ran. Nobody watches who changes a file, so the same change is then found by both.
func (h *History) doubtCommands(ctx context.Context, store session.Store) error {
	var first, last time.Time
	for _, c := range h.changes {
		if !c.byCommand() {
			continue
		}
		if first.IsZero() || c.began.Before(first) {
			first = c.began
		}
		last = c.told
	}
	if first.IsZero() {
		return nil
	}
	others := map[string][]told{} // by path
	for s, err := range store.List(ctx, session.Query{Dir: h.Dir, After: first}) {
		if err != nil {
			return err
		}
		if s.ID == h.Session || s.Created.After(last) {
			continue
		}
		if err := addTold(ctx, store, s.ID, others); err != nil {
			return err
		}
	}
	for _, c := range h.changes {
		if !c.byCommand() {
			continue
		}
		for i, f := range c.body.Files {
			for _, o := range others[f.Path] {
				if f.Unsure == "" && o.began.After(c.began) && o.told.Before(c.told) && same(f.After, o.after) {
					c.body.Files[i].Unsure = fmt.Sprintf("session %s changed it while the command ran", o.by)
				}
			}
		}
	}
	return nil
}

// byCommand reports whether it was found out after a command what that had changed, and when the command began is known.
func (c *change) byCommand() bool { return c.body.Cause == session.ByCommand && !c.began.IsZero() }

// addTold adds what a session has told of.
func addTold(ctx context.Context, store session.Store, id session.SessionID, others map[string][]told) error {
	calls := map[string]time.Time{}
	for e, err := range store.Read(ctx, id, 0, session.CallStarted{}.Kind(), session.FilesChanged{}.Kind()) {
		if err != nil {
			return err
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
				others[f.Path] = append(others[f.Path], told{id, began, e.Time, f.After})
			}
		}
	}
	return nil
}
