package app

import (
	"context"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// Compact lets a digest stand for the beginning of the conversation now, and returns the entries of that. Focus says what is to be kept
// above all; empty: nothing in particular. While a run is on it is an [agent.ErrBusy].
func (a *Agent) Compact(ctx context.Context, focus string) ([]session.Event, error) {
	a.window.Compact(window.Ask{Focus: focus})
	return a.Prepare(ctx)
}
