package app

import (
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// Checkpoints opens what was kept of the files that a session changed. The caller closes it.
func (a *App) Checkpoints(id session.SessionID) (*checkpoint.Store, error) {
	return checkpoint.Open(a.checkpoints(id), checkpoint.Options{})
}
