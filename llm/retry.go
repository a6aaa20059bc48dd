package llm

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often and when [Retry] sends a request again. The zero value is the default policy.
type RetryPolicy struct {
	Retries       int           // tries after the first; 0: 3, negative: none
	Delay         time.Duration // before the second try; 0: 1 s
	Factor        float64       // by which the delay grows with each try; 0: 2
	MaxDelay      time.Duration // longest delay; 0: 30 s
	Jitter        float64       // part of the delay that chance adds or takes; 0: 0.2, negative: none
	MaxRetryAfter time.Duration // longest wait that a provider may ask for, beyond it the request fails at once; 0: 10 min
}

// WithDefaults returns the policy with its defaults filled in, for clients that follow it. Call it once: negative values
// become 0.
func (p RetryPolicy) WithDefaults() RetryPolicy {
	defaults := RetryPolicy{
		Retries: 3, Delay: time.Second, Factor: 2, MaxDelay: 30 * time.Second, Jitter: 0.2, MaxRetryAfter: 10 * time.Minute,
	}
	p.Retries = or(p.Retries, defaults.Retries)
	p.Delay = or(p.Delay, defaults.Delay)
	p.Factor = or(p.Factor, defaults.Factor)
	p.MaxDelay = or(p.MaxDelay, defaults.MaxDelay)
	p.Jitter = or(p.Jitter, defaults.Jitter)
	p.MaxRetryAfter = or(p.MaxRetryAfter, defaults.MaxRetryAfter)
	return p
}

// or returns v, the default for zero, and zero for a negative v.
func or[T int | float64 | time.Duration](v, byDefault T) T {
	if v == 0 {
		return byDefault
	}
	return max(v, 0)
}

// Wait returns how long to wait after the try of that number, counted from 1, failed with err. The policy must have its defaults
// filled in.
func (p RetryPolicy) Wait(try int, err *Error) time.Duration {
	if err.RetryAfter > 0 {
		return err.RetryAfter
	}
	d := float64(p.Delay)
	for range try - 1 {
		d = min(d*p.Factor, float64(p.MaxDelay))
	}
	d *= 1 + p.Jitter*(2*rand.Float64()-1)
	return time.Duration(min(d, float64(p.MaxDelay)))
}

// Retry returns a client that sends a request again when it failed in a way that may pass, see [Error.Retryable].
//
// Before each wait it yields [Waiting]. The delay that a provider asks for wins over the policy's. When the wait is over
// and the consumer has part of the failed answer, it yields [Reset]; then the answer starts again. The error of the last try is
// returned. If ctx ends during a wait, the error is of [KindCancelled].
//
// An answer that is empty without having been refused, and a stream that ends without its final event, are errors of
// [KindProtocol].
func Retry(c Client, p RetryPolicy) Client { return &retry{client: c, policy: p.WithDefaults()} }

type retry struct {
	client Client
	policy RetryPolicy
}

// Model implements [Client].
func (r *retry) Model() Model { return r.client.Model() }

// Stream implements [Client].
func (r *retry) Stream(ctx context.Context, req *Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for try := 1; ; try++ {
			begun, err := r.try(ctx, req, yield)
			if err == nil {
				return
			}
			if ctx.Err() != nil {
				yield(nil, r.cancelled(ctx, err))
				return
			}
			if try > r.policy.Retries || !err.Retryable() || err.RetryAfter > r.policy.MaxRetryAfter {
				yield(nil, err)
				return
			}
			delay := r.policy.Wait(try, err)
			if !yield(Waiting{Attempt: try + 1, Of: r.policy.Retries + 1, Delay: delay, Cause: err}, nil) {
				return
			}
			if !sleep(ctx, delay) {
				yield(nil, r.cancelled(ctx, err))
				return
			}
			if begun && !yield(Reset{Cause: err}, nil) {
				return
			}
		}
	}
}

// try sends the request once. The error is nil when nothing is left to do. Begun says that something of an answer was
// yielded that is void now.
func (r *retry) try(ctx context.Context, req *Request, yield func(Event, error) bool) (begun bool, _ *Error) {
	for e, err := range r.client.Stream(ctx, req) {
		if err != nil {
			return begun, AsError(err)
		}
		switch e := e.(type) {
		case Waiting, Routed, RateLimits:
		case Reset:
			begun = false
		case Done:
			if e.Message.Empty() && e.Message.Stop != StopRefused {
				return begun, &Error{Kind: KindProtocol, Model: r.Model().Ref(), RequestID: e.RequestID, Message: "empty answer"}
			}
			yield(e, nil)
			return false, nil
		default:
			begun = true
		}
		if !yield(e, nil) {
			return false, nil
		}
	}
	return begun, unfinished(r.Model())
}

func (r *retry) cancelled(ctx context.Context, last *Error) *Error {
	if last.Kind == KindCancelled {
		return last
	}
	return &Error{
		Kind: KindCancelled, Model: r.Model().Ref(), Err: context.Cause(ctx),
		Message: fmt.Sprintf("%v; the try before failed: %v", context.Cause(ctx), last),
	}
}

// unfinished is the error of a stream that ended without its final event.
func unfinished(m Model) *Error {
	return &Error{Kind: KindProtocol, Model: m.Ref(), Message: "the stream ended without its final event"}
}

// sleep reports whether it slept for d before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
