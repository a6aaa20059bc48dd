package cli

import (
	"context"
	"errors"
	"os"
	"sync"
)

// errInterrupted is why a command's context ended when a person or the system wanted it to.
var errInterrupted = errors.New("interrupted")

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
		for first := true; ; first = false {
			select {
			case <-done:
				return
			case <-arrived:
			}
			if first {
				tell()
				cancel(errInterrupted)
			} else {
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
