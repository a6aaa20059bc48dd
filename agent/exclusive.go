package agent

import (
	"context"
	"errors"
	"iter"

	"github.com/tenon-agent/tenon/session"
)

// Exclusive calls f with a writer of the session while no run is on, for changes between runs such as an undo or a rewind. Listeners see
// what f appends. No run starts before f returns. f must not close over the writer for longer. While a run is on, the error is [ErrBusy].
func (a *Agent) Exclusive(ctx context.Context, f func(session.Writer) error) error {
	r, err := enter(ctx, a, Input{})
	if err != nil {
		return err
	}
	defer a.slot.leave(r)
	a.feed.stampAs(session.Stamp{}) // it is no run
	return f(between{a.feed})
}

// between writes between runs.
type between struct{ feed *feed }

func (b between) Session() session.SessionID { return b.feed.writer.Session() }

func (b between) Append(ctx context.Context, at session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	b.feed.mu.Lock()
	defer b.feed.mu.Unlock()
	return b.feed.write(ctx, at, bodies)
}

func (between) Import(context.Context, iter.Seq2[session.Event, error]) error {
	return errors.New("agent: cannot import into an open session")
}

func (between) Close() error { return nil }
