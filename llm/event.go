package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Event is one of [TextDelta], [ThinkingDelta], [CallDelta], [CallReady], [Waiting], [Reset], [Routed], [RateLimits], [Charged] and [Done].
type Event interface{ eventType() string }

// TextDelta is more text of the answer. Part numbers the parts of the answer from 0; the deltas of one part stand together.
type TextDelta struct {
	Part int    `json:"part,omitzero"`
	Text string `json:"text"`
}

// ThinkingDelta is more reasoning.
type ThinkingDelta struct {
	Part int    `json:"part,omitzero"`
	Text string `json:"text"`
}

// CallDelta is more of a tool call's arguments. The first delta of a call has its ID and Name, and may have no arguments.
type CallDelta struct {
	Part      int    `json:"part,omitzero"`
	ID        string `json:"id,omitzero"`
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments,omitzero"`
}

// CallReady says that a call's arguments are complete while the answer still streams.
type CallReady struct {
	Part int      `json:"part,omitzero"`
	Call ToolCall `json:"call"`
}

// Waiting says that a request failed in a way that may pass, and that it will be sent again after Delay.
type Waiting struct {
	Attempt int           `json:"attempt"` // the next one, counted from 1
	Of      int           `json:"of"`      // attempts in all
	Delay   time.Duration `json:"delay"`   // in nanoseconds
	Cause   *Error        `json:"cause"`
}

// Reset says that everything since the start of this answer is void: the answer starts again.
type Reset struct {
	Cause *Error `json:"cause,omitzero"`
}

// Routed says that another model or another key is asked from here on, because of Cause.
type Routed struct {
	Model string `json:"model"`        // "provider/model" that is asked now
	Key   string `json:"key,omitzero"` // name of the key, never the key itself
	Cause *Error `json:"cause,omitzero"`
}

// RateLimits has the limits that a provider reported with an answer. A [Quota] without a report is zero.
type RateLimits struct {
	Model        string `json:"model"`        // "provider/model" that was asked
	Key          string `json:"key,omitzero"` // name of the key
	Requests     Quota  `json:"requests,omitzero"`
	Tokens       Quota  `json:"tokens,omitzero"` // of both kinds together
	InputTokens  Quota  `json:"input_tokens,omitzero"`
	OutputTokens Quota  `json:"output_tokens,omitzero"`
}

// Quota is how much of something a provider allows in a period.
type Quota struct {
	Limit     int64     `json:"limit"`
	Remaining int64     `json:"remaining"`
	Reset     time.Time `json:"reset,omitzero"` // when all of it is there again
}

// Charged has the usage that a provider reported for a request without a whole answer: it failed, or its caller cancelled it.
type Charged struct {
	Model string `json:"model"` // "provider/model"
	Usage Usage  `json:"usage"`
}

// Done ends an answer. Message is whole, whatever deltas came before: a client that cannot stream yields only Done.
type Done struct {
	Message   Message `json:"message"`
	RequestID string  `json:"request_id,omitzero"` // the provider's name for the request, for its support
}

func (TextDelta) eventType() string     { return "text" }
func (ThinkingDelta) eventType() string { return "thinking" }
func (CallDelta) eventType() string     { return "call" }
func (CallReady) eventType() string     { return "call_ready" }
func (Waiting) eventType() string       { return "waiting" }
func (Reset) eventType() string         { return "reset" }
func (Routed) eventType() string        { return "routed" }
func (RateLimits) eventType() string    { return "rate_limits" }
func (Charged) eventType() string       { return "charged" }
func (Done) eventType() string          { return "done" }

// MarshalEvent returns the JSON form of e: its fields and, first, its kind in "type".
func MarshalEvent(e Event) ([]byte, error) {
	if e == nil {
		return nil, fmt.Errorf("llm: the event is nil")
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(body)+len(`{"type":"call_ready",`))
	out = append(out, `{"type":"`...)
	out = append(out, e.eventType()...)
	out = append(out, '"')
	if len(body) > len("{}") {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}

// UnmarshalEvent reads what [MarshalEvent] wrote. An unknown type is an error.
func UnmarshalEvent(data []byte) (Event, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case "text":
		return decodeEvent[TextDelta](data)
	case "thinking":
		return decodeEvent[ThinkingDelta](data)
	case "call":
		return decodeEvent[CallDelta](data)
	case "call_ready":
		return decodeEvent[CallReady](data)
	case "waiting":
		return decodeEvent[Waiting](data)
	case "reset":
		return decodeEvent[Reset](data)
	case "routed":
		return decodeEvent[Routed](data)
	case "rate_limits":
		return decodeEvent[RateLimits](data)
	case "charged":
		return decodeEvent[Charged](data)
	case "done":
		return decodeEvent[Done](data)
	default:
		return nil, fmt.Errorf("llm: unknown event type %q", head.Type)
	}
}

func decodeEvent[E Event](data []byte) (Event, error) {
	var e E
	err := json.Unmarshal(data, &e)
	return e, err
}

// Collect runs one answer to its end and returns its message. The error is an [*Error].
func Collect(ctx context.Context, c Client, req *Request) (Message, error) {
	for e, err := range c.Stream(ctx, req) {
		if err != nil {
			return Message{}, AsError(err)
		}
		if done, ok := e.(Done); ok {
			return done.Message, nil
		}
	}
	return Message{}, &Error{Kind: KindProtocol, Model: c.Model().Ref(), Message: "the stream ended without its final event"}
}
