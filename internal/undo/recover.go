package undo

import (
	"context"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// Recover takes down, once, what commands of a session changed under which its process died: an entry as that of a command that has
// ended, of the run in which it began. When this process dies too, the next one does it.
//
// w must be the lease of the session: nobody else may have it open.
func Recover(ctx context.Context, store session.Store, w session.Writer, contents *checkpoint.Store) error {
	known := func(since time.Time) (map[string]*workspace.State, error) {
		told := map[string]*workspace.State{}
		for e, err := range store.Annotations(ctx, w.Session(), session.FilesChanged{}.Kind()) {
			if err != nil {
				return nil, err
			}
			b, ok := e.Body.(session.FilesChanged)
			if !ok || e.Time.Before(since.Truncate(time.Microsecond)) {
				continue
			}
			for _, f := range b.Files {
				f = renamed(f, unwritten)
				told[f.Path] = stateFrom(f.After)
			}
		}
		return told, nil
	}
	return workspace.Recover(ctx, contents, known, func(ctx context.Context, found workspace.Interrupted) error {
		body := Record(found.Label, found.Changes)
		body.Cause, body.Found, body.Note = session.ByCommand, true, found.Note
		run, err := runOf(ctx, store, w.Session(), found.Label)
		if err != nil {
			return err
		}
		_, err = w.Append(ctx, session.Stamp{Run: run}, body)
		return err
	})
}

// runOf is the run in which a call began, or the last one.
func runOf(ctx context.Context, store session.Store, id session.SessionID, call string) (run session.RunID, err error) {
	found := false
	for e, err := range store.Read(ctx, id, 0, session.RunStarted{}.Kind(), session.CallStarted{}.Kind()) {
		if err != nil {
			return "", err
		}
		switch b := e.Body.(type) {
		case session.RunStarted:
			if !found {
				run = b.Run
			}
		case session.CallStarted:
			if b.Call == call && e.Run != "" {
				run, found = e.Run, true
			}
		}
	}
	return run, nil
}
