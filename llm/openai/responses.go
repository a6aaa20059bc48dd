package openai

import (
	"cmp"
	"context"
	"iter"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// ResponsesOptions are the address and the mode of the server of a [Responses]. The zero value is OpenAI's own server, without a key.
type ResponsesOptions struct {
	Endpoint wire.Endpoint // default base URL: https://api.openai.com/v1
	NoStream bool          // ask for the whole answer at once
	Azure    *Azure        // the form of Azure's addresses; nil: the server is not Azure's
}

// Responses is an [llm.Client] that speaks OpenAI's Responses protocol. It asks the server to store nothing: every request has the
// whole conversation, with the encrypted reasoning of the model's own answers. It is safe for concurrent use.
//
// If a server refuses an optional feature, such as reasoning summaries for unverified organizations, the client repeats the
// request at once without it. It remembers features that the server always refuses.
type Responses struct {
	model   llm.Model
	o       ResponsesOptions
	url     string
	levels  []llm.Thinks // nil: the model does not reason
	refused refusals
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
	body := r.request(req)
	resp, err := post(ctx, &r.o.Endpoint, r.o.Azure, r.model, r.url, body, func(err *llm.Error) bool { return r.lessen(body, err) })
	if err != nil {
		return err
	}
	defer resp.Close()
	d := respDecoder{resp: resp, answer: wire.NewAnswer(r.model, resp, yield), modelOf: r.answered}
	if resp.Streamed {
		return d.answer.End(d.stream())
	}
	return d.answer.End(d.whole())
}

// answered returns the ID of the model that answered when it is another one than was asked, not merely a dated name of the
// same. A deployment on Azure has a name of its own, so there is nothing to compare.
func (r *Responses) answered(id string) string {
	if r.o.Azure != nil || id == r.model.ID || dated(id, r.model.ID) {
		return ""
	}
	return id
}

// dated reports whether id is name followed by a date, as in gpt-5-2025-08-07.
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
