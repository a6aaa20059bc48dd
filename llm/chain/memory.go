package chain

import (
	"slices"
	"time"

	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
)

// Memory is where chains of different processes share which keys rest, and which model answers. The zero Memory shares nothing.
type Memory struct {
	Dir  string // the directory of the file; empty: none
	Pool string // names the chain in it
}

// remember takes over what other chains have learned. If every key rests, a person may have fixed the cause, so the rests do not count.
func (c *Chain) remember() {
	facts := c.state.Facts()
	c.mu.Lock()
	defer c.mu.Unlock()
	awake := false
	for _, k := range c.keys {
		_, k.noted = facts[k.fact]
		awake = awake || !k.noted
	}
	for _, k := range c.keys {
		if f := facts[k.fact]; k.noted && awake {
			k.until, k.cause = f.Until, &llm.Error{Kind: llm.Kind(f.Text), Model: k.link.model.Ref()}
		}
	}
	pick := facts[c.pool]
	if i := slices.IndexFunc(c.links, func(l *link) bool { return l.model.Ref() == pick.Text }); i > 0 {
		c.current, c.away = i, pick.At
	}
}

// failed notes a failure of a key. The memory gets no words of the server, because these may quote the key.
func (c *Chain) failed(k *key, err *llm.Error) {
	c.mu.Lock()
	k.failed(err)
	rest := state.Fact{At: time.Now(), Until: k.until, Text: string(err.Kind)}
	// A short rest ends before another process asks. A key that this process cannot fetch has no status: another one may be able to.
	note := ofKey(err) && time.Until(k.until) > 2*coolFirst && (err.Kind != llm.KindAuth || err.Status != 0)
	k.noted = k.noted || note
	c.mu.Unlock()
	if note {
		c.state.Set(k.fact, rest)
	}
}

// learned returns a function that stores the answer of a key. Before is the link that was asked first until then. The lock is held; the
// function runs without it.
func (c *Chain) learned(k *key, before int) func() {
	woke, moved, pick := k.noted && k.ready(), c.current != before, state.Fact{}
	k.noted = k.noted && !woke
	if c.current != 0 {
		pick = state.Fact{At: c.away, Until: c.away.Add(comeBack), Text: c.links[c.current].model.Ref()}
	}
	return func() {
		if woke {
			c.state.Set(k.fact, state.Fact{})
		}
		if moved {
			c.state.Set(c.pool, pick)
		}
	}
}
