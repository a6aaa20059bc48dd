package window

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Header is what stands before the messages of a request.
type Header struct {
	Model     llm.Model
	System    string
	Tools     []llm.Tool // sorted by name
	MaxTokens int        // of the answer; 0: what the model allows
	Thinking  llm.Thinks

	Cache       llm.CachePolicy
	Temperature *float64        // nil: the provider's default
	Schema      json.RawMessage // JSON Schema that the last answer must satisfy; nil: none
}

// Full is the window that sends the whole conversation, or what a digest has left of it. It never makes it smaller: when the provider
// says that it is too long, the run ends. The zero value is ready. It is safe for concurrent use.
type Full struct{}

// Request returns the request for the next answer at the end of p, and what must be appended to the journal before it is
// sent: an Epoch when the header is not that of the epoch before. The error is that of reading p.
func (Full) Request(ctx context.Context, p session.Path, h Header) (*llm.Request, []session.Body, error) {
	v, err := Look(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	var entries []session.Body
	if reason := v.changed(h); reason != "" {
		entries = append(entries, h.epoch(reason))
	}
	return h.request(v.Messages), entries, nil
}

// Room implements the window of an agent: there is always as much room as usual.
func (Full) Room(context.Context, session.Path, Header) (Room, error) { return Room{}, nil }

// Overflow implements the window of an agent: there is nothing that it could do.
func (Full) Overflow(_ context.Context, _ session.Path, _ Header, cause error) ([]session.Body, error) {
	return nil, cause
}

// request is a request for the next answer.
func (h Header) request(messages []llm.Message) *llm.Request {
	return &llm.Request{
		System: h.System, Tools: h.Tools, MaxTokens: h.MaxTokens, Thinking: h.Thinking,
		Cache: h.Cache, Temperature: h.Temperature, Schema: h.Schema, Messages: messages,
	}
}

// epoch is the entry that begins an epoch with this header.
func (h Header) epoch(reason string) session.Epoch {
	return session.Epoch{Reason: reason, Model: h.Model, System: h.System, Tools: h.Tools, Thinking: h.Thinking}
}

// changed says why a header needs a new epoch; empty when it does not.
func (v *View) changed(h Header) string {
	epoch, begun := v.Epoch.Body.(session.Epoch)
	switch {
	case !begun && v.loose == "":
		return "start"
	case !begun: // it stands before the digest
		return v.loose
	case epoch.Model.Ref() != h.Model.Ref():
		return "model"
	case epoch.System != h.System:
		return "system"
	case !slices.EqualFunc(epoch.Tools, h.Tools, sameTool):
		return "tools"
	case epoch.Thinking != h.Thinking:
		return "thinking"
	default:
		return v.loose
	}
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}
