// Package live has the bodies of transient events: events that a listener sees while they happen, and that no journal keeps. The entry
// that follows them has their outcome: a message contains all text of its deltas.
package live

import (
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session/internal/place"
)

// Body is a body of a transient event: one of the types on this page.
type Body interface {
	// Kind returns the name of the type in snake case.
	Kind() string

	// Place makes the type a body of events.
	Place() place.Place
}

// TurnStarted begins a turn: one answer of the model and the calls in it.
type TurnStarted struct {
	Trigger Trigger `json:"trigger"`
}

// TurnEnded ends a turn. Every [TurnStarted] has one.
type TurnEnded struct {
	Usage llm.Usage `json:"usage,omitzero"` // of this turn
	Calls int       `json:"calls"`          // tool calls in its answer
}

// MessageStarted reports that the model begins to answer. The message, a [Reset] or the end of the turn ends it.
type MessageStarted struct {
	Model string `json:"model"` // "provider/model"
}

// Delta is the next piece of a streaming answer.
type Delta struct {
	Type DeltaType `json:"type"`
	Part int       `json:"part,omitzero"` // index of the part of the answer
	Text string    `json:"text"`
	Call string    `json:"call,omitzero"` // ToolCall.ID, in the first delta of a call
	Tool string    `json:"tool,omitzero"` // its name, in the same delta
}

// DeltaType is the type of the part that a [Delta] extends.
type DeltaType string

// The types of deltas.
const (
	DeltaText      DeltaType = "text"
	DeltaThinking  DeltaType = "thinking"
	DeltaArguments DeltaType = "arguments"
)

// CallReady reports that a call of the streaming answer is complete.
type CallReady struct {
	Call llm.ToolCall `json:"call"`
	As   string       `json:"as,omitzero"` // the name of the tool, if the model knows it by another one
}

// Progress is output of a running tool for people. Text extends the text of earlier events of the call.
type Progress struct {
	Call string `json:"call"`
	Tool string `json:"tool"`
	Text string `json:"text"`
}

// Waiting reports that a request failed and that Tenon sends it again after Delay.
type Waiting struct {
	Attempt int           `json:"attempt"` // the next one, from 1
	Of      int           `json:"of"`
	Delay   time.Duration `json:"delay"` // in nanoseconds
	Cause   *llm.Error    `json:"cause,omitzero"`
}

// Reset voids the deltas since the last [MessageStarted]: the answer starts again.
type Reset struct {
	Cause *llm.Error `json:"cause,omitzero"`
}

// Routed reports that another model or another key answers from now on.
type Routed struct {
	Model string     `json:"model"`        // "provider/model" that Tenon asks now
	Key   string     `json:"key,omitzero"` // name of the key, never the key itself
	Cause *llm.Error `json:"cause,omitzero"`
}

// RateLimits has the limits that a provider reported with an answer.
type RateLimits struct {
	llm.RateLimits
}

// Spending has the spending of a run and of its session, and their limits, after a request that has used something. Between runs, such as after
// a request for a title, Run is zero.
type Spending struct {
	Run     Spent `json:"run,omitzero"`
	Session Spent `json:"session"` // all branches
}

// Spent is an amount and its limits. A limit of 0 is none.
type Spent struct {
	Cost      float64 `json:"cost"` // US dollars
	MaxCost   float64 `json:"max_cost,omitzero"`
	Tokens    int64   `json:"tokens"` // as limits count them: those that a provider read from its cache are a tenth
	MaxTokens int64   `json:"max_tokens,omitzero"`
}

// Compacting reports that a summary in the background starts or ends.
type Compacting struct {
	Reason string `json:"reason"` // as in session.Summarized
	Done   bool   `json:"done,omitzero"`
	Error  string `json:"error,omitzero"` // why there is none, or why the model did not write it
}

// Notice is information for people that changes nothing.
type Notice struct {
	Text string `json:"text"`
}

// Trigger is the cause of a turn.
type Trigger string

// The triggers.
const (
	TriggerUser         Trigger = "user"
	TriggerSubAgent     Trigger = "sub_agent"
	TriggerContinuation Trigger = "continuation"
	TriggerBranch       Trigger = "branch"
)

func (TurnStarted) Kind() string    { return "turn_started" }
func (TurnEnded) Kind() string      { return "turn_ended" }
func (MessageStarted) Kind() string { return "message_started" }
func (Delta) Kind() string          { return "delta" }
func (CallReady) Kind() string      { return "call_ready" }
func (Progress) Kind() string       { return "progress" }
func (Waiting) Kind() string        { return "waiting" }
func (Reset) Kind() string          { return "reset" }
func (Routed) Kind() string         { return "routed" }
func (RateLimits) Kind() string     { return "rate_limits" }
func (Spending) Kind() string       { return "spending" }
func (Compacting) Kind() string     { return "compacting" }
func (Notice) Kind() string         { return "notice" }

func (TurnStarted) Place() place.Place    { return place.Transient }
func (TurnEnded) Place() place.Place      { return place.Transient }
func (MessageStarted) Place() place.Place { return place.Transient }
func (Delta) Place() place.Place          { return place.Transient }
func (CallReady) Place() place.Place      { return place.Transient }
func (Progress) Place() place.Place       { return place.Transient }
func (Waiting) Place() place.Place        { return place.Transient }
func (Reset) Place() place.Place          { return place.Transient }
func (Routed) Place() place.Place         { return place.Transient }
func (RateLimits) Place() place.Place     { return place.Transient }
func (Spending) Place() place.Place       { return place.Transient }
func (Compacting) Place() place.Place     { return place.Transient }
func (Notice) Place() place.Place         { return place.Transient }
