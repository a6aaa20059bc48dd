package anthropic

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// Options are the address, the key and the mode of a server. The zero value is Anthropic's own, without a key.
type Options struct {
	wire.Endpoint

	Bearer   bool // send the key as "Authorization: Bearer" and not as x-api-key, for gateways and tokens; Vertex always does
	NoStream bool // ask for the whole answer at once; the endpoint's FirstByte then limits how long it takes
}

const (
	apiURL     = "https://api.anthropic.com"
	apiHost    = "api.anthropic.com"
	apiVersion = "2023-06-01"

	// interleaved lets models that think within a budget think between calls too. Others ignore it, there.
	interleaved = "interleaved-thinking-2025-05-14"

	// bindingControls lets a request say how earlier thinking is treated after something before it has changed.
	bindingControls = "thinking-binding-controls-2026-08-01"
)

// Client is one model of the Messages API. It is safe for concurrent use.
type Client struct {
	model  llm.Model
	o      Options
	vertex *vertex // nil: not on Vertex
}

// New returns a client of a model at Anthropic or at a compatible server. Nothing is sent before the first request.
func New(model llm.Model, o Options) *Client { return &Client{model: model, o: o} }

// Model implements [llm.Client].
func (c *Client) Model() llm.Model { return c.model }

// Stream implements [llm.Client].
func (c *Client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Stream(func(yield func(llm.Event, error) bool) error { return c.stream(ctx, req, yield) })
}

// stream sends the request and yields the answer. It returns an error for the caller to yield.
func (c *Client) stream(ctx context.Context, req *llm.Request, yield func(llm.Event, error) bool) error {
	body := c.request(req)
	data, err := wire.Marshal(body)
	if err != nil {
		return c.invalid(fmt.Sprintf("the request has no JSON form: %v", err))
	}
	if c.vertex != nil && (c.vertex.project == "" || c.vertex.location == "") {
		return c.invalid("Vertex needs the name of a Google Cloud project and a location, such as global")
	}
	resp, err := c.o.Post(ctx, wire.Request{Model: c.model.Ref(), URL: c.url(), Header: c.header(body), Body: data})
	if err != nil {
		return err
	}
	defer resp.Close()
	answer := wire.NewAnswer(c.model, resp, yield)
	if body.schemaTool {
		answer.SchemaTool(fit.SchemaToolName)
	}
	d := decoder{resp: resp, answer: answer, asked: c.model.ID}
	if resp.Streamed {
		return answer.End(d.stream())
	}
	return d.whole()
}

func (c *Client) invalid(message string) error {
	return &llm.Error{Kind: llm.KindInvalidRequest, Model: c.model.Ref(), Message: message}
}

func (c *Client) url() string {
	if c.vertex != nil {
		return c.vertex.url(&c.o.Endpoint, c.model.ID, !c.o.NoStream)
	}
	return c.o.URL(apiURL, "/v1/messages")
}

func (c *Client) header(body *request) http.Header {
	h := http.Header{}
	if c.vertex == nil {
		h.Set("Anthropic-Version", apiVersion)
	}
	if c.vertex == nil && c.o.Host(apiURL) == apiHost && len(body.Tools) > 0 && body.Thinking != nil && body.Thinking.Budget > 0 {
		h.Set("Anthropic-Beta", interleaved)
	}
	if body.Thinking != nil && body.Thinking.Binding != nil {
		h.Set("Anthropic-Beta", bindingControls)
	}
	switch {
	case c.o.Key == "" || c.o.Authorize != nil:
	case c.o.Bearer || c.vertex != nil:
		h.Set("Authorization", "Bearer "+c.o.Key)
	default:
		h.Set("X-Api-Key", c.o.Key)
	}
	return h
}

// vertex is the place of a model on Google Vertex.
type vertex struct{ project, location string }

const vertexVersion = "vertex-2023-10-16"

// NewVertex returns a client of an Anthropic model on Google Vertex, by its name there, such as claude-sonnet-4-5@20250929. Project
// is the name of a Google Cloud project; location is a region such as us-east5, a group of them (us, eu), or global. The key is
// an access token; as those end after an hour, [wire.Endpoint.Authorize] is the better way. A base URL takes the place of Google's
// server. Nothing is sent before the first request.
func NewVertex(model llm.Model, project, location string, o Options) *Client {
	return &Client{model: model, o: o, vertex: &vertex{project, location}}
}

func (v *vertex) url(e *wire.Endpoint, id string, stream bool) string {
	host := v.location + "-aiplatform.googleapis.com"
	switch v.location {
	case "global":
		host = "aiplatform.googleapis.com"
	case "us", "eu":
		host = "aiplatform." + v.location + ".rep.googleapis.com"
	}
	method := ":rawPredict"
	if stream {
		method = ":streamRawPredict"
	}
	return e.URL("https://"+host, "/v1/projects/"+url.PathEscape(v.project)+"/locations/"+url.PathEscape(v.location)+
		"/publishers/anthropic/models/"+url.PathEscape(id)+method)
}
