package openai

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// ChatOptions is how a [Chat] reaches its server, and in what that differs from others.
type ChatOptions struct {
	Endpoint wire.Endpoint // default base URL: that of the profile
	NoStream bool          // ask for the whole answer at once
	Profile  Profile       // what the server takes; [ProfileOf] has those of well-known ones
	Azure    *Azure        // how Azure is addressed; nil: the server is not Azure's
}

// Chat is an [llm.Client] that speaks OpenAI's Chat Completions protocol, as the server of its [Profile] does. It is safe for
// concurrent use.
//
// When a server refuses a request because of a parameter without which an answer is possible, such as stream_options or the
// temperature, the request is sent again without it, and so are all later ones.
type Chat struct {
	model llm.Model
	o     ChatOptions
	url   string
	lacks atomic.Uint32 // what the server refuses, as a set of [chatLack]
}

// NewChat returns a client for a model. It does not touch the network.
func NewChat(model llm.Model, o ChatOptions) *Chat {
	o.Azure = o.Azure.of(model)
	base := cmp.Or(o.Endpoint.BaseURL, o.Profile.BaseURL)
	c := &Chat{model: model, o: o}
	if base != "" {
		c.url = o.Azure.url(base, "chat/completions")
	}
	return c
}

// Model implements [llm.Client].
func (c *Chat) Model() llm.Model { return c.model }

// Stream implements [llm.Client].
func (c *Chat) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Stream(func(yield func(llm.Event, error) bool) error { return c.stream(ctx, req, yield) })
}

func (c *Chat) stream(ctx context.Context, req *llm.Request, yield func(llm.Event, error) bool) error {
	body := c.request(req)
	resp, err := c.post(ctx, body)
	if err != nil {
		return err
	}
	defer resp.Close()
	d := c.decoder(resp, yield)
	if body.schemaTool != "" {
		d.answer.SchemaTool(body.schemaTool)
	}
	if !resp.Streamed {
		return d.whole()
	}
	return d.stream()
}

// post sends a request, and sends it again without what the server refuses in it.
func (c *Chat) post(ctx context.Context, body *chatRequest) (*wire.Response, error) {
	if c.url == "" {
		return nil, c.invalid("no base URL is known for this provider: set one", nil)
	}
	for {
		data, err := wire.Marshal(body)
		if err != nil {
			return nil, c.invalid(fmt.Sprintf("the request cannot be written as JSON: %v: is the schema of every tool valid?", err), err)
		}
		header := c.o.Azure.authorize(&c.o.Endpoint)
		resp, err := c.o.Endpoint.Post(ctx, wire.Request{Model: c.model.Ref(), URL: c.url, Header: header, Body: data})
		if err == nil || !c.lessen(body, llm.AsError(err)) {
			return resp, err
		}
	}
}

func (c *Chat) invalid(message string, err error) *llm.Error {
	return &llm.Error{Kind: llm.KindInvalidRequest, Model: c.model.Ref(), Message: message, Err: err}
}
