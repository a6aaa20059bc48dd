package app

import (
	"context"
	"errors"

	"github.com/tenon-agent/tenon/internal/undo"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// Checkpoints opens what was kept of the files that a session changed. The caller closes it.
func (a *App) Checkpoints(id session.SessionID) (*checkpoint.Store, error) {
	return checkpoint.Open(a.checkpoints(id), checkpoint.Options{})
}

// Recover takes down what the commands of a session changed under which its process died, unless that is known. While another process
// has the session it does nothing: that one lives. It changes no files.
func (a *App) Recover(ctx context.Context, id session.SessionID, contents *checkpoint.Store) (err error) {
	if !contents.HasLog() {
		return nil
	}
	w, err := a.Store.Open(ctx, id, session.Lease{Owner: owner("recovery")})
	if _, locked := errors.AsType[*session.LockedError](err); locked {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(undo.Recover(ctx, a.Store, w, contents), w.Close())
}
