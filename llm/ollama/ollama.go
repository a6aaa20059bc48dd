package ollama

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

const defaultURL = "http://localhost:11434"

// Options are the address of a server and the form of its answers.
type Options struct {
	wire.Endpoint      // default base URL: http://localhost:11434; a /v1 at its end, of the protocol of OpenAI, does not count
	NoStream      bool // ask for the whole answer at once
	Window        int  // tokens of the context window that Ollama shall give the model; default: the setting of the server
}

// Client is one model of Ollama. It is safe for concurrent use.
//
// If a server says that the model cannot think, the client asks it no longer to think.
type Client struct {
	model       llm.Model
	o           Options
	thoughtless atomic.Bool // the server refused to let the model think
}

// New returns a client of a model. It does not touch the network.
func New(model llm.Model, o Options) *Client {
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	return &Client{model: model, o: o}
}

// Model implements [llm.Client].
func (c *Client) Model() llm.Model { return c.model }

// Stream implements [llm.Client].
func (c *Client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Stream(func(yield func(llm.Event, error) bool) error { return c.stream(ctx, req, yield) })
}

func (c *Client) stream(ctx context.Context, req *llm.Request, yield func(llm.Event, error) bool) error {
	body := c.request(req)
	resp, err := c.post(ctx, body)
	if err != nil {
		return err
	}
	defer resp.Close()
	r := reader{resp: resp, answer: wire.NewAnswer(c.model, resp, yield)}
	if body.schemaTool {
		r.answer.SchemaTool(fit.SchemaToolName)
	}
	return r.answer.End(r.read())
}

// post sends a request; once more without thinking if the model cannot think.
func (c *Client) post(ctx context.Context, body *request) (*wire.Response, error) {
	for {
		data, err := wire.Marshal(body)
		if err != nil {
			return nil, &llm.Error{Kind: llm.KindInvalidRequest, Model: c.model.Ref(), Message: "the request cannot be written as JSON: " + err.Error()}
		}
		header := http.Header{}
		if c.o.Key != "" && c.o.Authorize == nil {
			header.Set("Authorization", "Bearer "+c.o.Key)
		}
		resp, err := c.o.Post(ctx, wire.Request{
			Model: c.model.Ref(), URL: c.o.URL(defaultURL, "/api/chat"), Header: header, Body: data, Accept: "application/x-ndjson",
		})
		if err == nil || body.Think == nil || !strings.Contains(llm.AsError(err).Message, "does not support thinking") {
			return resp, err
		}
		c.thoughtless.Store(true)
		body.Think = nil
	}
}
