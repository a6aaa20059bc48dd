package chain

import (
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// first returns the usual first key, the key to ask now, how long to wait for it, and the cause if the two differ. If no
// wait helps, such as with a refused key, it returns that key at once: a person may have fixed it.
func (a *asking) first() (usual, k *key, wait time.Duration, cause *llm.Error) {
	c := a.chain
	c.recall()
	c.mu.Lock()
	defer c.mu.Unlock()
	home := c.home()
	a.era = c.era
	usual = home.keys[home.current]
	if k, wait = a.find(home, func(*key) bool { return true }); k == nil {
		k = usual
	}
	if wait > 0 || k != usual {
		cause = usual.failure()
	}
	return usual, k, wait, cause
}

// find returns the key to ask among those that suit, and how long to wait for it: one of the model of home that is ready, one of
// it that cools for a short time, one of another model, or the one that cools for the shortest time. Nil means that there is none.
func (a *asking) find(home *link, suits func(*key) bool) (*key, time.Duration) {
	c := a.chain
	ofHome := func(k *key) bool { return k.link == home && suits(k) }
	if k := c.next(func(k *key) bool { return k.ready() && ofHome(k) }); k != nil {
		return k, 0
	}
	if k, wait := a.soonest(c.policy.MaxDelay, func(k *key) bool { return k.link == home }, ofHome); k != nil {
		return k, wait
	}
	if k := c.next(func(k *key) bool { return k.ready() && suits(k) }); k != nil {
		return k, 0
	}
	return a.soonest(c.policy.MaxRetryAfter, func(*key) bool { return true }, suits)
}

// next returns the first key that suits, beginning with the one that worked last.
func (c *Chain) next(suits func(*key) bool) *key {
	for i := range c.links {
		l := c.links[(c.current+i)%len(c.links)]
		for j := range l.keys {
			if k := l.keys[(l.current+j)%len(l.keys)]; suits(k) {
				return k
			}
		}
	}
	return nil
}

// after returns the key to ask after k failed with err, and how long to wait first. Nil means that there is no way left.
func (a *asking) after(k *key, err *llm.Error) (*key, time.Duration) {
	a.chain.mu.Lock()
	defer a.chain.mu.Unlock()
	switch err.Kind {
	case llm.KindRefused, llm.KindCancelled, llm.KindBudget:
		return nil, 0
	case llm.KindInvalidRequest:
		if lighter := a.light.drop(a.req, err); lighter != nil {
			a.req, a.refused = lighter, k.link
			return k, 0
		}
	}
	if again, wait := a.again(k, err); again {
		return k, wait
	}
	return a.find(k.link, func(o *key) bool { return a.mayFollow(o, k, err) })
}

// again reports whether the same key is asked another time: when time may help, and no other key is the better way.
func (a *asking) again(k *key, err *llm.Error) (bool, time.Duration) {
	a.most = 0
	if !err.Retryable() || ofKey(err) {
		return false, 0
	}
	tries := a.chain.policy.Retries + 1
	if a.alternative(k) != nil && err.Kind == llm.KindStalled {
		tries = min(tries, 2) // each costs a minute
	}
	for o := range a.tries {
		if o != k && o.link == k.link && !ofKey(a.last[o]) {
			tries = 1 // another key has tried as often as makes sense
		}
	}
	if a.tries[k] >= tries || err.RetryAfter > a.chain.policy.MaxRetryAfter {
		return false, 0
	}
	wait := a.chain.policy.wait(a.tries[k], err)
	if err.RetryAfter > 0 && a.alternative(k) != nil && err.RetryAfter > a.chain.policy.MaxDelay {
		return false, 0 // another model is there sooner
	}
	a.most = tries
	return true, wait
}

// alternative returns a key of another model that was not asked.
func (a *asking) alternative(k *key) *key {
	return a.chain.next(func(o *key) bool { return o.link != k.link && a.tries[o] == 0 && o.ready() })
}

// mayFollow reports whether o is worth asking after k failed with err.
func (a *asking) mayFollow(o, k *key, err *llm.Error) bool {
	if a.tries[o] > 0 {
		return false
	}
	if o.link == k.link {
		// Another key changes neither the server's view of the request nor the connection to it.
		return ofKey(err) || err.Kind == llm.KindOverloaded || err.Kind == llm.KindProtocol || err.Kind == llm.KindStalled
	}
	if a.exhausted(o.link) {
		return false
	}
	if err.Kind == llm.KindContextOverflow {
		have, need := o.link.model.Context, k.link.model.Context
		return have == 0 || need == 0 || have > need
	}
	return true
}

// exhausted reports whether a model has failed in a way that none of its keys can change.
func (a *asking) exhausted(l *link) bool {
	for k, err := range a.last {
		if k.link == l && !ofKey(err) {
			return true
		}
	}
	return false
}

// soonest returns the key that cools for the shortest time because of its rate limit, and for how long, when that is no longer than
// most. A key that was asked already may be asked again, if not too often; one that was not must be new and suit.
func (a *asking) soonest(most time.Duration, again, fresh func(*key) bool) (best *key, wait time.Duration) {
	for _, l := range a.chain.links {
		if a.exhausted(l) {
			continue
		}
		for _, k := range l.keys {
			d, ok := a.cooling(k, again, fresh)
			if ok && d <= most && (best == nil || d < wait) {
				best, wait = k, d
			}
		}
	}
	return best, wait
}

// cooling returns how long it takes until k may be asked because of its rate limit, and whether it is worth that.
func (a *asking) cooling(k *key, again, fresh func(*key) bool) (time.Duration, bool) {
	err := a.last[k]
	if err == nil {
		return max(time.Until(k.until), 0), fresh(k) && k.failure().Kind == llm.KindRateLimited
	}
	if err.Kind != llm.KindRateLimited || a.tries[k] > a.chain.policy.Retries || !again(k) {
		return 0, false
	}
	if k == a.asked {
		return a.chain.policy.wait(a.tries[k], err), true
	}
	return max(time.Until(k.until), 0), true
}
