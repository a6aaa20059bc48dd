package window

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// Header is the part of a request before its messages, and the settings of the answer.
type Header struct {
	Model  llm.Model
	System string
	Tools  []llm.Tool // sorted by name
	llm.Settings

	// Late are tools that a [Window] adds with the first epoch that begins because it trims or summarizes the conversation.
	Late []llm.Tool

	// BeforeSummary can refuse a summary before the window writes it, by returning an error. Nil: it refuses none.
	BeforeSummary func(ctx context.Context, reason string) error
}

// Full is the window that sends the whole conversation, or everything after a summary. It never shrinks: if the provider refuses the
// request as too long, the run ends. The zero value is ready. It is safe for concurrent use.
type Full struct{}

// Request returns the request for the next answer at the end of p, and the entries that must precede it in the journal: an Epoch if the
// header differs from that of the current epoch. The error is that of reading p.
func (Full) Request(ctx context.Context, p view.Path, h Header) (*llm.Request, []session.Body, error) {
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

// Room implements the window of an agent: there is always the usual space.
func (Full) Room(context.Context, view.Path, Header) (Room, error) { return Room{}, nil }

// Overflow implements the window of an agent: it returns cause.
func (Full) Overflow(_ context.Context, _ view.Path, _ Header, cause error) ([]session.Body, error) {
	return nil, cause
}

// request is a request for the next answer.
func (h Header) request(messages []llm.Message) *llm.Request {
	return &llm.Request{System: h.System, Tools: h.Tools, Messages: messages, Settings: h.Settings}
}

// epoch is the entry that begins an epoch with this header.
func (h Header) epoch(reason string) session.Epoch {
	return session.Epoch{Reason: reason, Model: h.Model, System: h.System, Tools: h.Tools, Thinking: h.Thinking}
}

// changed is the reason why a header needs a new epoch; empty if it needs none.
func (v *View) changed(h Header) string {
	epoch, begun := v.Epoch.Body.(session.Epoch)
	switch {
	case !begun && v.loose == "":
		return "start"
	case !begun: // it precedes the summary
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

// withLate returns the header with its late tools among the others.
func (h Header) withLate() Header {
	h.Tools, h.Late = slices.Concat(h.Tools, h.Late), nil
	slices.SortFunc(h.Tools, func(a, b llm.Tool) int { return strings.Compare(a.Name, b.Name) })
	return h
}

// hasLate reports whether the current epoch has late tools.
func (v *View) hasLate(h Header) bool {
	epoch, _ := v.Epoch.Body.(session.Epoch)
	return slices.ContainsFunc(epoch.Tools, func(t llm.Tool) bool {
		return slices.ContainsFunc(h.Late, func(late llm.Tool) bool { return late.Name == t.Name })
	})
}

func sameTool(a, b llm.Tool) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema) && a.Grammar == b.Grammar
}
