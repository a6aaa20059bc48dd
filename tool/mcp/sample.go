//lint:file-ignore SA1019 servers have the feature until its removal from the protocol

package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
)

// Sampling is a request of a server for the answer of a model, during a call of one of its tools. Its texts are those of the server.
type Sampling struct {
	Server    string
	System    string
	Messages  []llm.Message
	MaxTokens int // of the answer
}

// The limits of the requests for a model.
const (
	maxSamples      = 8        // of one call
	maxSampleText   = 64 << 10 // bytes of the texts of one request
	maxSampleTokens = 4096     // of one answer
)

// running is a call of a tool that waits for its server.
type running struct {
	ctx   context.Context
	asked int // requests for a model
}

// calling notes a call until it is done.
func (l *link) calling(ctx context.Context) (done func()) {
	one := &running{ctx: ctx}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, one)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for i, c := range l.calls {
			if c == one {
				l.calls = append(l.calls[:i:i], l.calls[i+1:]...)
				return
			}
		}
	}
}

// asks returns the context of the newest call, for one more request for a model.
func (l *link) asks() (context.Context, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == 0 {
		return nil, fmt.Errorf("a server can ask for a model only during a call of one of its tools")
	}
	c := l.calls[len(l.calls)-1]
	if c.asked++; c.asked > maxSamples {
		return nil, fmt.Errorf("the call asked for a model more than %d times", maxSamples)
	}
	return c.ctx, nil
}

// samples lets a server ask for a model if the person allows it. Otherwise the server gets the error of the protocol.
func samples(s *server, l *link, o *mcp.ClientOptions) {
	if !s.Sampling || s.client.options.Sample == nil {
		return
	}
	o.CreateMessageHandler = func(request context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
		q, err := samplingOf(s.Name, r.Params)
		if err != nil {
			return nil, err
		}
		ctx, err := l.asks()
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(request, cancel)()
		s.asking.Add(1)
		defer s.asking.Add(-1)
		answer, model, err := s.client.options.Sample(ctx, q)
		if err != nil {
			s.log.add("no answer of a model: %v", err)
			return nil, fmt.Errorf("the model did not answer")
		}
		reason := "endTurn"
		if answer.Stop == llm.StopLength {
			reason = "maxTokens"
		}
		return &mcp.CreateMessageResult{Role: "assistant", Model: model, StopReason: reason, Content: &mcp.TextContent{Text: answer.Text()}}, nil
	}
}

// samplingOf returns the request of a server within the limits.
func samplingOf(server string, p *mcp.CreateMessageParams) (Sampling, error) {
	q := Sampling{Server: server, System: term.Harmless(p.SystemPrompt), MaxTokens: int(min(max(p.MaxTokens, 1), maxSampleTokens))}
	size := len(p.SystemPrompt)
	for _, m := range p.Messages {
		if m == nil {
			continue
		}
		c := &collected{}
		switch part := m.Content.(type) {
		case *mcp.TextContent, *mcp.ImageContent:
			c.add(part)
		default:
			return q, fmt.Errorf("a model gets only texts and pictures from a server")
		}
		content := c.others
		if text := term.Harmless(c.text.String()); text != "" {
			size += len(text)
			content = append(llm.Content{llm.Text{Text: strings.TrimSuffix(text, "\n")}}, content...)
		}
		role := llm.RoleUser
		if m.Role == "assistant" {
			role = llm.RoleAssistant
		}
		q.Messages = append(q.Messages, llm.Message{Role: role, Content: content})
	}
	switch {
	case size > maxSampleText:
		return q, fmt.Errorf("the request has %d bytes of text; the limit is %d", size, maxSampleText)
	case len(q.Messages) == 0:
		return q, fmt.Errorf("the request has no message")
	}
	return q, nil
}
