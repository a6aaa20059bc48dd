package openai

import (
	"cmp"
	"context"
	"iter"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// ChatOptions are the address and the abilities of the server of a [Chat].
type ChatOptions struct {
	Endpoint wire.Endpoint // default base URL: that of the profile
	NoStream bool          // ask for the whole answer at once
	Profile  Profile       // abilities of the server; [ProfileOf] has those of well-known ones
	Azure    *Azure        // the form of Azure's addresses; nil: the server is not Azure's
}

// Chat is an [llm.Client] that speaks OpenAI's Chat Completions protocol, as the server of its [Profile] does. It is safe for
// concurrent use.
//
// When a server refuses a request because of a parameter without which an answer is possible, such as stream_options or the
// temperature, the request is sent again without it, and so are all later ones.
type Chat struct {
	model   llm.Model
	o       ChatOptions
	url     string
	refused refusals
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
	return d.answer.End(d.stream())
}

func (c *Chat) post(ctx context.Context, body *chatRequest) (*wire.Response, error) {
	if c.url == "" {
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Model: c.model.Ref(), Message: "the base URL of this provider is not known: set one"}
	}
	return post(ctx, &c.o.Endpoint, c.o.Azure, c.model, c.url, body, func(err *llm.Error) bool { return c.lessen(body, err) })
}
