package command

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// Cause returns the reason for the end of a context.
func Cause(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrInterrupted) {
		return ExitCode(ExitInterrupted)
	}
	return cmp.Or(context.Cause(ctx), ctx.Err())
}

// ErrInterrupted is the cause if a person or the system ends a command.
var ErrInterrupted = errors.New("interrupted")

// OneInterrupt is the time in which further signals count as the first one. No person presses a key twice in that time, but timeout(1) and
// wrappers of shells signal a process and then its process group.
const OneInterrupt = 100 * time.Millisecond

// Interruptible returns a context that ends with the first interrupt, after a call of tell. The second interrupt calls leave. The caller must
// call stop.
func (env *Env) Interruptible(ctx context.Context, tell, leave func()) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if env.Signals == nil {
		return ctx, func() { cancel(nil) }
	}
	arrived := make(chan os.Signal, 2)
	done := make(chan struct{})
	silence := env.Signals(arrived)
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
				cancel(ErrInterrupted)
			case time.Since(first) >= OneInterrupt:
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
