package chain

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Link is one model of a chain.
type Link struct {
	Keys []Key // at least one, in the order of preference; all ask the same model
}

// Key is a client with the name of the key that it uses.
type Key struct {
	Name   string // what people call it; empty when there is only one, or none is needed
	Client llm.Client
}

// Chain is an [llm.Client] over several. It is safe for concurrent use.
type Chain struct {
	policy RetryPolicy
	seed   maphash.Seed // of the hashes of images

	mu      sync.Mutex
	links   []*link
	chosen  int       // the link that is preferred
	current int       // the link that is asked first
	away    time.Time // when another than the preferred one became that
	era     int       // how often the first one was set otherwise than by an answer
}

// comeBack is how long another model is asked first before the preferred one is tried again.
const comeBack = 30 * time.Minute

// link is a model with its keys and their health.
type link struct {
	model   llm.Model
	keys    []*key
	current int // the key that is asked first
	media   media
}

// New returns a chain. There must be a link, and each must have a key. The policy says how often and when a key is asked again; its
// longest wait holds for the cooldown of keys too.
func New(policy RetryPolicy, links ...Link) *Chain {
	c := &Chain{policy: policy.withDefaults(), seed: maphash.MakeSeed()}
	for _, l := range links {
		made := &link{model: l.Keys[0].Client.Model(), media: media{}}
		for _, k := range l.Keys {
			made.keys = append(made.keys, &key{name: k.Name, client: k.Client, link: made})
		}
		c.links = append(c.links, made)
	}
	return c
}

// Model implements [llm.Client]: it is the model that is asked first now. It changes when another one had to take over, and back when the
// preferred one has had half an hour to recover.
func (c *Chain) Model() llm.Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.home().model
}

// home is the link that is asked first now. The lock is held.
func (c *Chain) home() *link {
	if c.current != c.chosen && time.Since(c.away) >= comeBack && slices.ContainsFunc(c.links[c.chosen].keys, (*key).ready) {
		c.current = c.chosen
		c.era++ // the answers of others that are under way do not undo it
	}
	return c.links[c.current]
}

// worked makes a link the one that is asked first. The lock is held.
func (c *Chain) worked(l *link) {
	before := c.current
	if c.current = slices.Index(c.links, l); before == c.chosen {
		c.away = time.Now()
	}
}

// Models returns the models of the chain in the order of preference.
func (c *Chain) Models() []llm.Model {
	var all []llm.Model
	for _, l := range c.links {
		all = append(all, l.model)
	}
	return all
}

// Prefer makes the model with that name, "provider/model", the one that is asked first, also after the answers of others that are
// under way. It reports whether the chain has it.
func (c *Chain) Prefer(ref string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.links, func(l *link) bool { return l.model.Ref() == ref })
	if i >= 0 {
		c.chosen, c.current = i, i
		c.era++
	}
	return i >= 0
}

// State says how a key does.
type State string

// The states of keys.
const (
	Ready   State = "ready"   // it may be asked
	Cooling State = "cooling" // the provider wants fewer requests
	Spent   State = "spent"   // its quota or credit is used up
	Refused State = "refused" // the provider does not accept it
)

// Health is how one key of a chain does.
type Health struct {
	Model  string         `json:"model"` // "provider/model"
	Key    string         `json:"key,omitzero"`
	State  State          `json:"state"`
	Until  time.Time      `json:"until,omitzero"` // when it will be asked again; zero when it is ready
	Cause  *llm.Error     `json:"cause,omitzero"` // the last failure, nil after an answer
	Limits llm.RateLimits `json:"limits,omitzero"`
}

// Health returns the state of all keys, in the order of preference.
func (c *Chain) Health() []Health {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Health
	for _, l := range c.links {
		for _, k := range l.keys {
			h := Health{Model: l.model.Ref(), Key: k.name, State: Ready, Cause: k.cause, Limits: k.limits}
			if !k.ready() {
				h.State, h.Until = k.state(), k.until
			}
			all = append(all, h)
		}
	}
	return all
}
