package google

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// Options are the address and the credentials of a model. The zero value is Google's own server without a key.
type Options struct {
	wire.Endpoint

	// NoStream asks for the whole answer at once.
	NoStream bool

	// Credentials, for Vertex AI, is where access tokens come from when the endpoint has neither Authorize nor Key, and where the
	// project is looked up when none was given.
	Credentials *Credentials
}

// Client is one model of Google. It is safe for concurrent use.
type Client struct {
	model    llm.Model
	options  Options
	vertex   bool
	project  string
	location string
}

// Defaults of Vertex AI and the Gemini API.
const (
	geminiHost      = "https://generativelanguage.googleapis.com"
	defaultLocation = "global"
)

// New returns a client of the Gemini API. The key travels in a header, never in the URL.
func New(model llm.Model, o Options) *Client { return &Client{model: model, options: o} }

// NewVertex returns a client of Vertex AI in a project and a location such as "europe-west4"; an empty location is "global". The
// endpoint's key, if it has one, is an access token. An empty project is that of o.Credentials, looked up with the first request.
func NewVertex(model llm.Model, project, location string, o Options) *Client {
	c := &Client{model: model, options: o, vertex: true, project: project, location: cmp.Or(location, defaultLocation)}
	if o.Credentials != nil && o.Authorize == nil && o.Key == "" {
		c.options.Authorize = o.Credentials.Authorize
	}
	return c
}

// Model implements [llm.Client].
func (c *Client) Model() llm.Model { return c.model }

// Stream implements [llm.Client].
func (c *Client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Stream(func(yield func(llm.Event, error) bool) error { return c.stream(ctx, req, yield) })
}

func (c *Client) stream(ctx context.Context, req *llm.Request, yield func(llm.Event, error) bool) error {
	resp, names, err := c.post(ctx, req)
	if err != nil {
		return err
	}
	defer resp.Close()
	r := &reader{resp: resp, names: names, answer: wire.NewAnswer(c.model, resp, yield)}
	if forced(c.model, req) {
		r.schemaTool()
	}
	return r.answer.End(r.read())
}

// post sends the request.
func (c *Client) post(ctx context.Context, req *llm.Request) (*wire.Response, names, error) {
	names := newNames(req.Tools)
	built, err := c.request(req, names)
	if err != nil {
		return nil, names, err
	}
	body, err := wire.Marshal(built)
	if err != nil {
		return nil, names, c.invalid("the request cannot be written as JSON: " + err.Error())
	}
	address, err := c.url(ctx)
	if err != nil {
		return nil, names, err
	}
	resp, err := c.options.Post(ctx, wire.Request{Model: c.model.Ref(), URL: address, Header: c.header(), Body: body})
	return resp, names, err
}

func (c *Client) header() http.Header {
	h := http.Header{}
	switch {
	case c.options.Authorize != nil, c.options.Key == "":
	case c.vertex:
		h.Set("Authorization", "Bearer "+c.options.Key)
	default:
		h.Set("X-Goog-Api-Key", c.options.Key)
	}
	return h
}

// url returns the address of the model. Only Vertex AI without a configured project may need a request for it.
func (c *Client) url(ctx context.Context) (string, error) {
	verb := ":streamGenerateContent?alt=sse"
	if c.options.NoStream {
		verb = ":generateContent"
	}
	if !c.vertex {
		return c.options.URL(geminiHost, "/v1beta/"+resource("models", c.model.ID)+verb), nil
	}
	project := c.project
	if project == "" && c.options.Credentials != nil {
		found, err := c.options.Credentials.Project(ctx)
		if err != nil {
			return "", c.named(ctx, err)
		}
		project = found
	}
	if project == "" {
		return "", c.invalid("Vertex AI needs the ID of a project: " + setProject)
	}
	path := "/v1/projects/" + url.PathEscape(project) + "/locations/" + url.PathEscape(c.location) + "/" +
		resource("publishers/google/models", c.model.ID) + verb
	return c.options.URL(vertexHost(c.location), path), nil
}

// resource returns the path of a model below a collection. An ID with a collection of its own, such as tunedModels/mine, keeps that.
func resource(collection, id string) string {
	parts := strings.Split(id, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	if len(parts) > 1 {
		return strings.Join(parts, "/")
	}
	return collection + "/" + parts[0]
}

// vertexHost returns the address of Vertex AI in a location: one for the world, one for each of two continents, one for each region.
func vertexHost(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	default:
		return "https://" + url.PathEscape(location) + "-aiplatform.googleapis.com"
	}
}

func (c *Client) invalid(message string) *llm.Error {
	return &llm.Error{Kind: llm.KindInvalidRequest, Model: c.model.Ref(), Message: message}
}

// named returns an error of the credentials as one of a request to the model.
func (c *Client) named(ctx context.Context, err error) *llm.Error {
	e := *llm.AsError(err)
	e.Model = c.model.Ref()
	if ctx.Err() != nil {
		e = llm.Error{Kind: llm.KindCancelled, Model: c.model.Ref(), Err: context.Cause(ctx)}
	}
	return &e
}
