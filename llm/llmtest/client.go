package llmtest

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// Client is an [llm.Client] that answers as its test wants. It keeps the requests it got. It is safe for concurrent use.
type Client struct {
	model     llm.Model
	noStream  bool
	byHistory bool
	source    source

	mu       sync.Mutex
	requests []*llm.Request
}

// source gives the answer to request n, counted from 0. It is called when the iteration begins.
type source func(ctx context.Context, c *Client, n int, req *llm.Request) iter.Seq2[llm.Event, error]

// Option changes how a [Client] behaves.
type Option func(*Client)

// WithModel sets the facts about the model. The default is test/script, with a window of 200 000 tokens, that can see
// images and read documents.
func WithModel(m llm.Model) Option { return func(c *Client) { c.model = m } }

// ByHistory selects the turn by the number of answers in the request, instead of counting requests. An interrupted conversation
// then continues at the right turn with a new client, and a repeated request gets the same turn again.
func ByHistory() Option { return func(c *Client) { c.byHistory = true } }

// NoStream leaves out all deltas: an answer is only its final event, as from a provider that cannot stream.
func NoStream() Option { return func(c *Client) { c.noStream = true } }

// Parse returns a client that answers from script. The error names the line.
func Parse(script string, opts ...Option) (*Client, error) {
	turns, err := parse(script)
	if err != nil {
		return nil, err
	}
	return newClient(turns.answer, opts), nil
}

// New is [Parse] for tests: it fails the test when the script has an error.
func New(tb testing.TB, script string, opts ...Option) *Client {
	tb.Helper()
	c, err := Parse(script, opts...)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// Must is [Parse] for examples and variables: it panics when the script has an error.
func Must(script string, opts ...Option) *Client {
	c, err := Parse(script, opts...)
	if err != nil {
		panic(err)
	}
	return c
}

// Func returns a client that answers each request with what f returns, streamed as by [Stream] in pieces of a few bytes.
// Role, model, stop reason and the ids of calls are filled in where f leaves them empty. An error of f becomes an [*llm.Error].
// f may wait, but not beyond the end of ctx; it may be called concurrently.
func Func(f func(ctx context.Context, req *llm.Request) (llm.Message, error), opts ...Option) *Client {
	const chunk = 12
	answer := func(ctx context.Context, c *Client, n int, req *llm.Request) iter.Seq2[llm.Event, error] {
		m, err := f(ctx, req)
		if err != nil {
			return fail(llm.AsError(err))
		}
		m = complete(m, c.model, n)
		if c.noStream {
			return func(yield func(llm.Event, error) bool) { yield(llm.Done{Message: m}, nil) }
		}
		return Stream(m, chunk)
	}
	return newClient(answer, opts)
}

func newClient(s source, opts []Option) *Client {
	c := &Client{
		source: s,
		model:  llm.Model{Provider: "test", ID: "script", Context: 200_000, MaxOutput: 32_000, Images: true, Documents: true},
	}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Model implements [llm.Client].
func (c *Client) Model() llm.Model { return c.model }

// Stream implements [llm.Client].
func (c *Client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		n := c.record(req)
		if ctx.Err() != nil {
			yield(nil, c.cancelled(ctx))
			return
		}
		c.source(ctx, c, n, req)(yield)
	}
}

// Requests returns copies of the requests that came so far, in the order in which their answers began.
func (c *Client) Requests() []*llm.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*llm.Request, len(c.requests))
	for i, r := range c.requests {
		out[i] = cloneRequest(r)
	}
	return out
}

func (c *Client) record(req *llm.Request) int {
	own := cloneRequest(req)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, own)
	return len(c.requests) - 1
}

func (c *Client) cancelled(ctx context.Context) *llm.Error {
	return &llm.Error{Kind: llm.KindCancelled, Model: c.model.Ref(), Err: context.Cause(ctx)}
}

func fail(err *llm.Error) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) { yield(nil, err) }
}

// complete fills in the fields that the author of a message may leave out. n is the number of its request, from 0.
func complete(m llm.Message, model llm.Model, n int) llm.Message {
	if m.Role == "" {
		m.Role = llm.RoleAssistant
	}
	if m.Model == "" {
		m.Model = model.Ref()
	}
	if m.Stop == "" {
		m.Stop = stopOf(m.Content)
	}
	var content llm.Content
	for i, p := range m.Content {
		call, ok := p.(llm.ToolCall)
		if !ok || call.ID != "" {
			continue
		}
		if content == nil {
			content = append(content, m.Content...)
		}
		call.ID = fmt.Sprintf("call_%d_%d", n+1, i+1)
		content[i] = call
	}
	if content != nil {
		m.Content = content
	}
	return m
}

// stopOf is the default stop reason of an answer with that content.
func stopOf(content llm.Content) llm.StopReason {
	stop := llm.StopEnd
	for _, p := range content {
		if call, ok := p.(llm.ToolCall); ok && call.Truncated {
			return llm.StopLength
		} else if ok {
			stop = llm.StopCalls
		}
	}
	return stop
}
