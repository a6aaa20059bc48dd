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

// ResponsesOptions is how a [Responses] reaches its server. The zero value is OpenAI's own server, without a key.
type ResponsesOptions struct {
	Endpoint wire.Endpoint // default base URL: https://api.openai.com/v1
	NoStream bool          // ask for the whole answer at once
	Azure    *Azure        // how Azure is addressed; nil: the server is not Azure's
}

// Responses is an [llm.Client] that speaks OpenAI's Responses protocol. It asks the server to keep nothing: the whole conversation
// goes with every request, with the encrypted reasoning of the model's own answers in it. It is safe for concurrent use.
//
// What a server refuses although an answer is possible without it, such as summaries of reasoning for organizations that are
// not verified, is left out and the request is sent again at once. What is known to be refused always is not tried again.
type Responses struct {
	model  llm.Model
	o      ResponsesOptions
	url    string
	levels []llm.Thinks  // nil: the model does not reason
	lacks  atomic.Uint32 // what the server refuses always, as a set of [respLack]
}

// NewResponses returns a client for a model. It does not touch the network.
func NewResponses(model llm.Model, o ResponsesOptions) *Responses {
	o.Azure = o.Azure.of(model)
	return &Responses{
		model: model, o: o, levels: respLevels(model),
		url: o.Azure.url(cmp.Or(o.Endpoint.BaseURL, "https://api.openai.com/v1"), "responses"),
	}
}

// Model implements [llm.Client].
func (r *Responses) Model() llm.Model { return r.model }

// Stream implements [llm.Client].
func (r *Responses) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return wire.Stream(func(yield func(llm.Event, error) bool) error { return r.stream(ctx, req, yield) })
}

func (r *Responses) stream(ctx context.Context, req *llm.Request, yield func(llm.Event, error) bool) error {
	resp, err := r.post(ctx, r.request(req))
	if err != nil {
		return err
	}
	defer resp.Close()
	d := respDecoder{resp: resp, answer: wire.NewAnswer(r.model, resp, yield), modelOf: r.answered}
	if resp.Streamed {
		return d.stream()
	}
	return d.whole()
}

// post sends a request, and sends it again without what the server refuses in it.
func (r *Responses) post(ctx context.Context, body *respRequest) (*wire.Response, error) {
	for {
		data, err := wire.Marshal(body)
		if err != nil {
			return nil, &llm.Error{
				Kind: llm.KindInvalidRequest, Model: r.model.Ref(),
				Message: fmt.Sprintf("the request cannot be written as JSON: %v: is the schema of every tool valid?", err), Err: err,
			}
		}
		header := r.o.Azure.authorize(&r.o.Endpoint)
		resp, err := r.o.Endpoint.Post(ctx, wire.Request{Model: r.model.Ref(), URL: r.url, Header: header, Body: data})
		if err == nil || !r.lessen(body, llm.AsError(err)) {
			return resp, err
		}
	}
}

// answered returns the ID of the model that answered when it is another one than was asked, not merely a dated name of the
// same. A deployment on Azure has a name of its own, so there is nothing to compare.
func (r *Responses) answered(id string) string {
	if r.o.Azure != nil || id == r.model.ID || dated(id, r.model.ID) {
		return ""
	}
	return id
}

// dated reports whether id is name with a date behind it, as in gpt-5-2025-08-07.
func dated(id, name string) bool {
	if len(id) <= len(name)+1 || id[:len(name)] != name || id[len(name)] != '-' {
		return false
	}
	for _, c := range []byte(id[len(name)+1:]) {
		if c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
