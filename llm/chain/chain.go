package chain

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
)

// Link is one model of a chain.
type Link struct {
	Keys []Key // at least one, in the order of preference; all ask the same model
}

// Key is a client with the name of the key that it uses.
type Key struct {
	Name   string // what people call it; empty when there is only one, or none is needed
	ID     string // identifies it, and its model, in the memory
	Client llm.Client
}

// Chain is an [llm.Client] over several. It is safe for concurrent use.
type Chain struct {
	policy RetryPolicy
	state  state.File   // of the memory
	pool   string       // the name of the pick there
	recall func()       // lets the first use recall what the memory has
	seed   maphash.Seed // of the hashes of images

	mu      sync.Mutex
	links   []*link
	keys    []*key    // of all links
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
// longest wait holds for the cooldown of keys too. The first
// request reads the memory; in a chain of several models, the first call of Model does.
func New(policy RetryPolicy, m Memory, links ...Link) *Chain {
	c := &Chain{policy: policy.withDefaults(), state: state.In(m.Dir), pool: state.Pick + m.Pool, seed: maphash.MakeSeed()}
	c.recall = sync.OnceFunc(c.remember)
	for _, l := range links {
		made := &link{model: l.Keys[0].Client.Model(), media: media{}}
		for _, k := range l.Keys {
			made.keys = append(made.keys, &key{name: k.Name, fact: state.Rest + k.ID, client: k.Client, link: made})
		}
		c.links, c.keys = append(c.links, made), append(c.keys, made.keys...)
	}
	return c
}

// Model implements [llm.Client]: it is the model that is asked first now. It changes when another one had to take over, and back when the
// preferred one has had half an hour to recover.
func (c *Chain) Model() llm.Model {
	if len(c.links) > 1 {
		c.recall()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.home().model
}

// home is the link that is asked first now. The lock is held.
func (c *Chain) home() *link {
	if c.current != 0 && time.Since(c.away) >= comeBack && slices.ContainsFunc(c.links[0].keys, (*key).ready) {
		c.current = 0
		c.era++ // the answers of others that are under way do not undo it
	}
	return c.links[c.current]
}

// worked makes a link the one that is asked first. The lock is held.
func (c *Chain) worked(l *link) {
	before := c.current
	if c.current = slices.Index(c.links, l); before == 0 {
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
	c.recall()
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Health
	for _, k := range c.keys {
		h := Health{Model: k.link.model.Ref(), Key: k.name, State: Ready, Cause: k.cause, Limits: k.limits}
		if !k.ready() {
			h.State, h.Until = StateAfter(k.failure().Kind), k.until
		}
		all = append(all, h)
	}
	return all
}
