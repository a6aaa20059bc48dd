package undo

import (
	"context"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// Recover records, once, the changes of the commands of a session that ran when its process died: in an entry like that of a command that has
// ended, in the run in which the command began. baselines is [workspace.Shared.Baselines] of that process. If this process dies too, the
// next one does it.
//
// w must be the lease of the session.
func Recover(ctx context.Context, store index.Store, w session.Writer, baselines string, kept contents.Store) error {
	known := func(since time.Time) (map[string]*workspace.State, error) {
		told := map[string]*workspace.State{}
		for e, err := range store.Read(ctx, w.Session(), 0, session.FilesChanged{}.Kind()) {
			if err != nil {
				return nil, err
			}
			b, ok := e.Body.(session.FilesChanged)
			if !ok || e.Imported || e.Time.Before(since.Truncate(time.Microsecond)) {
				continue
			}
			for _, f := range b.Files {
				f = renamed(f, unwritten)
				told[f.Path] = stateFrom(f.After)
			}
		}
		return told, nil
	}
	return workspace.Recover(ctx, baselines, string(w.Session()), kept, known, func(ctx context.Context, found workspace.Interrupted) error {
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

// runOf returns the run in which a call began, or the last run.
func runOf(ctx context.Context, store index.Store, id session.SessionID, call string) (run session.RunID, err error) {
	found := false
	for e, err := range store.Read(ctx, id, 0, session.RunStarted{}.Kind(), session.CallStarted{}.Kind()) {
		if err != nil {
			return "", err
		}
		if e.Imported {
			continue
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
