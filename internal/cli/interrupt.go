package cli

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// errInterrupted is why a command's context ended when a person or the system wanted it to.
var errInterrupted = errors.New("interrupted")

// oneInterrupt is the time within which further signals count as the first one: nobody presses twice as fast, but
// timeout(1) and wrappers of shells signal a process and then its whole group.
const oneInterrupt = 100 * time.Millisecond

// interruptible returns a context that ends with the first interrupt, after tell was called. The second one calls leave.
// stop must be called.
func (p *program) interruptible(ctx context.Context, tell, leave func()) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if p.env.Signals == nil {
		return ctx, func() { cancel(nil) }
	}
	arrived := make(chan os.Signal, 2)
	done := make(chan struct{})
	silence := p.env.Signals(arrived)
	var wg sync.WaitGroup
	wg.Go(func() {
		var first time.Time
		for {
			select {
			case <-done:
				return
			case <-arrived:
			}
			switch {
			case first.IsZero():
				first = time.Now()
				tell()
				cancel(errInterrupted)
			case time.Since(first) >= oneInterrupt:
				leave()
			}
		}
	})
	return ctx, func() {
		silence()
		close(done)
		wg.Wait()
		cancel(nil)
	}
}
