package chain

import (
	"math/rand/v2"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// RetryPolicy says how often and when a chain sends a request to the same key again. The zero value is the default policy.
type RetryPolicy struct {
	Retries       int           // tries after the first; 0: 3, negative: none
	Delay         time.Duration // before the second try; 0: 1 s
	Factor        float64       // by which the delay grows with each try; 0: 2
	MaxDelay      time.Duration // longest delay; 0: 30 s
	Jitter        float64       // part of the delay that chance adds or takes; 0: 0.2, negative: none
	MaxRetryAfter time.Duration // longest wait that a provider may ask for, beyond it the request fails at once; 0: 10 min
}

// Retry returns a chain of one client: it sends a request again when it failed in a way that may pass, see [llm.Error.Retryable].
func Retry(c llm.Client, policy RetryPolicy) *Chain {
	return New(policy, Memory{}, Link{Keys: []Key{{Client: c}}})
}

// withDefaults returns the policy with its defaults filled in. Call it once: negative values become 0.
func (p RetryPolicy) withDefaults() RetryPolicy {
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

// wait returns how long to wait after the try of that number, counted from 1, failed with err. The policy must have its defaults
// filled in.
func (p RetryPolicy) wait(try int, err *llm.Error) time.Duration {
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
