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

// Full is the window that sends the whole conversation. The zero value is ready. It is safe for concurrent use.
type Full struct{}

// Request returns the request for the next answer at the end of p, and what must be appended to the journal before it is
// sent: an Epoch when the header is not that of the epoch before. The error is that of reading p.
func (Full) Request(ctx context.Context, p session.Path, h Header) (*llm.Request, []session.Body, error) {
	events, err := session.Messages(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	epoch, err := lastEpoch(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	var entries []session.Body
	if reason := changed(epoch, h); reason != "" {
		entries = append(entries, session.Epoch{Reason: reason, Model: h.Model, System: h.System, Tools: h.Tools})
	}
	return &llm.Request{
		System: h.System, Tools: h.Tools, MaxTokens: h.MaxTokens, Thinking: h.Thinking,
		Cache: h.Cache, Temperature: h.Temperature, Schema: h.Schema,
		Messages: Repair(events),
	}, entries, nil
}

func lastEpoch(ctx context.Context, p session.Path) (*session.Epoch, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if epoch, ok := e.Body.(session.Epoch); ok {
			return &epoch, nil
		}
	}
	return nil, nil
}

// changed says why a header needs a new epoch; empty when it does not.
func changed(epoch *session.Epoch, h Header) string {
	switch {
	case epoch == nil:
		return "start"
	case epoch.Model.Ref() != h.Model.Ref():
		return "model"
	case epoch.System != h.System:
		return "system"
	case !slices.EqualFunc(epoch.Tools, h.Tools, sameTool):
		return "tools"
	default:
		return ""
	}
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}
