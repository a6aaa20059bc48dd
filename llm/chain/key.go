package chain

import (
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Cooldowns of keys where the provider does not say how long.
const (
	coolFirst   = time.Second      // after the first "too many requests", doubled with each in a row
	coolMost    = time.Minute      // at most
	coolRefused = time.Minute      // after the provider refused the key: a person may fix it
	coolSpent   = 30 * time.Minute // after the credit was used up
)

// key is one key with its health. The chain's lock guards it.
type key struct {
	name   string
	fact   string // its name in the memory
	client llm.Client
	link   *link

	until    time.Time // not before then, unless there is nothing else
	since    time.Time // of the last failure that made it cool
	failures int       // of the kinds that cool, in a row
	cause    *llm.Error
	limits   llm.RateLimits
	noted    bool // the memory says that it rests
}

func (k *key) ready() bool { return !time.Now().Before(k.until) }

// failure is the last failure, or an error of no kind.
func (k *key) failure() *llm.Error {
	if k.cause == nil {
		return &llm.Error{}
	}
	return k.cause
}

// title is what people call the key, with its model.
func (k *key) title() string {
	if k.name == "" {
		return k.link.model.Ref()
	}
	return k.link.model.Ref() + " with " + k.name
}

// StateAfter returns the state of a key that rests after a failure of this kind.
func StateAfter(kind llm.Kind) State {
	switch kind {
	case "":
		return Ready
	case llm.KindAuth:
		return Refused
	case llm.KindQuota:
		return Spent
	default:
		return Cooling
	}
}

// worked notes the answer to a request that was sent at that time. It says nothing about a limit that was reached after that.
func (k *key) worked(sent time.Time) {
	if k.since.After(sent) {
		return
	}
	k.until, k.since, k.failures, k.cause = time.Time{}, time.Time{}, 0, nil
}

// failed notes a failure, and lets the key cool when the failure is the key's.
func (k *key) failed(err *llm.Error) {
	if !ofKey(err) {
		if k.ready() { // else it says why it cools
			k.cause = err
		}
		return
	}
	if k.ready() {
		k.failures++ // requests that fail side by side are one failure
	}
	d := err.RetryAfter
	if d == 0 {
		switch err.Kind {
		case llm.KindAuth:
			d = coolRefused
		case llm.KindQuota:
			d = coolSpent
		default:
			d = min(coolFirst<<min(k.failures-1, 10), coolMost)
		}
	}
	k.since, k.cause = time.Now(), err
	if until := k.since.Add(d); until.After(k.until) {
		k.until = until
	}
}

// ofKey reports whether another key may help where one failed with err.
func ofKey(err *llm.Error) bool {
	return err.Kind == llm.KindRateLimited || err.Kind == llm.KindAuth || err.Kind == llm.KindQuota
}
