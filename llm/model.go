package llm

import (
	"cmp"
	"context"
	"iter"
	"slices"
)

// Client is one model that is reached through one protocol. Implementations are safe for concurrent use.
type Client interface {
	// Model returns the facts about the model. It is cheap and does not block.
	Model() Model

	// Stream asks for one answer and yields it as it comes. The last pair is a [Done] with a nil error, or a nil event with
	// an [*Error]; nothing follows either. An answer that ends without the protocol's final event is an error. The
	// request is sent when the iteration begins; leaving the iteration or ending ctx cancels it. The request must not be
	// changed before the iteration has ended. The sequence is for one iteration.
	Stream(ctx context.Context, req *Request) iter.Seq2[Event, error]
}

// Model is the facts about a model. The zero value of a number means that it is not known.
//
// JSON: the fields by their names in snake case, empty ones left out.
type Model struct {
	Provider  string `json:"provider"`            // such as anthropic
	ID        string `json:"id"`                  // as the provider names it
	Context   int    `json:"context,omitzero"`    // tokens that a request and its answer may have together
	MaxOutput int    `json:"max_output,omitzero"` // tokens of the longest answer
	Images    bool   `json:"images,omitzero"`     // can see images
	Documents bool   `json:"documents,omitzero"`  // can read documents
	NoTools   bool   `json:"no_tools,omitzero"`   // cannot call tools
	Price     Price  `json:"price,omitzero"`

	// Reference is the name by which a person chose the model, if it is not Ref: a reference with a variant, or a pool.
	Reference string `json:"reference,omitzero"`

	Thinks   []Thinks `json:"thinks,omitzero"`   // the thinking levels that it has; nil: not known
	Thinking Thinks   `json:"thinking,omitzero"` // the level for coding; empty: the provider's default
	Quirks   []Quirk  `json:"quirks,omitzero"`   // its differences from other models of the same protocol
}

// Quirk is a way in which a model differs from others that speak the same protocol. A client ignores those that it does not know.
type Quirk string

// The quirks.
const (
	QuirkAdaptiveThinking Quirk = "adaptive_thinking" // thinking is set by effort, not by a budget of tokens
	QuirkBoundThinking    Quirk = "bound_thinking"    // its thinking is valid only while nothing before it changes
	QuirkNoTemperature    Quirk = "no_temperature"    // refuses a temperature
	QuirkNoSystem         Quirk = "no_system"         // takes no system prompt: it goes before the first message
	QuirkNativeSchema     Quirk = "native_schema"     // has a mode for structured answers that others of the provider lack
)

// Has reports whether the model has the quirk.
func (m Model) Has(q Quirk) bool { return slices.Contains(m.Quirks, q) }

// Price is in US dollars for a million tokens of each kind. The zero value is an unknown price.
type Price struct {
	Input      float64 `json:"input,omitzero"`
	CacheRead  float64 `json:"cache_read,omitzero"`
	CacheWrite float64 `json:"cache_write,omitzero"`
	Output     float64 `json:"output,omitzero"` // reasoning too
	Free       bool    `json:"free,omitzero"`   // it costs nothing
}

// Ref is the model's name as people write it: "provider/id".
func (m Model) Ref() string { return m.Provider + "/" + m.ID }

// MayThink reports whether the model can think. If its levels are not known, MayThink assumes that it can.
func (m Model) MayThink() bool {
	return len(m.Thinks) == 0 || slices.ContainsFunc(m.Thinks, func(t Thinks) bool { return t != ThinkOff })
}

// Level returns the thinking level of a request that asks for a level: the level of the model for coding if it asks for none, and
// ThinkDefault if the provider decides.
func (m Model) Level(asked Thinks) Thinks {
	level := cmp.Or(asked, m.Thinking)
	if level == ThinkProvider {
		return ThinkDefault
	}
	return level
}

// Known reports whether the price is known: it is free, or something has a price.
func (p Price) Known() bool {
	return p.Free || p.Input > 0 || p.Output > 0 || p.CacheRead > 0 || p.CacheWrite > 0
}

// Cost returns what u costs in US dollars. A cost that the provider reported itself wins.
func (p Price) Cost(u Usage) float64 {
	if u.Cost != 0 {
		return u.Cost
	}
	const million = 1e6
	return (float64(u.Input)*p.Input + float64(u.CacheRead)*p.CacheRead +
		float64(u.CacheWrite)*p.CacheWrite + float64(u.Output+u.Reasoning)*p.Output) / million
}
