package command

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestInterrupts(t *testing.T) {
	for _, c := range []struct {
		name        string
		after       []time.Duration // when signals come, each after the one before
		told, leave int
	}{
		{"none", nil, 0, 0},
		{"one", []time.Duration{time.Second}, 1, 0},
		{"the same one to the process and to its group", []time.Duration{time.Second, time.Millisecond}, 1, 0},
		{"a second one", []time.Duration{time.Second, time.Second}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var arrive chan<- os.Signal
				stopped, told, left := 0, 0, 0
				env := &Env{Signals: func(c chan<- os.Signal) func() {
					arrive = c
					return func() { stopped++ }
				}}
				ctx, stop := env.Interruptible(t.Context(), func() { told++ }, func() { left++ })
				for _, d := range c.after {
					time.Sleep(d)
					arrive <- os.Interrupt
				}
				synctest.Wait()
				if told != c.told || left != c.leave {
					t.Errorf("reported %d times and left %d times, want %d and %d", told, left, c.told, c.leave)
				}
				if interrupted := context.Cause(ctx) == ErrInterrupted; interrupted != (c.told > 0) {
					t.Errorf("the context ended with %v", context.Cause(ctx))
				}
				stop()
				if stopped != 1 || ctx.Err() == nil {
					t.Errorf("stop stops %d times and leaves the context with %v", stopped, ctx.Err())
				}
			})
		})
	}
}

func TestWithoutSignals(t *testing.T) {
	ctx, stop := (&Env{}).Interruptible(t.Context(), nil, nil)
	stop()
	if ctx.Err() == nil {
		t.Error("stop does not end the context")
	}
}
