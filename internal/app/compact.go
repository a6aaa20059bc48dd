package app

import (
	"context"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// Compact lets a digest stand for the beginning of the conversation now, and returns the entries of that. Focus says what is to be kept
// above all; empty: nothing in particular. The problem, if there is one, says why there is no digest, why the model that was asked for it
// has not written it, or what is pinned and too long. While a run is on the error is an [agent.ErrBusy].
func (a *Agent) Compact(ctx context.Context, focus string) (entries []session.Event, problem string, err error) {
	a.problem.Store(new(string))
	a.window.Compact(window.Ask{Focus: focus})
	entries, err = a.Prepare(ctx)
	return entries, *a.problem.Load(), err
}

// announce tells people of the window.
func (a *Agent) announce(b session.Body) {
	switch b := b.(type) {
	case session.Compacting:
		if b.Done && b.Error != "" {
			a.problem.Store(&b.Error)
		}
	case session.Notice:
		a.problem.Store(&b.Text)
	}
	a.Announce(b)
}
