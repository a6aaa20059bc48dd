package offline

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/tenon-agent/tenon/llm"
)

const (
	contextTokens = 200_000
	bytesPerToken = 4
)

// New returns the offline model, "offline/rules". It is free, has no state, and is safe for concurrent use.
//
// Its streams fail with [llm.KindContextOverflow] for a request of more than 200 000 tokens, estimated at four bytes each,
// with [llm.KindInvalidRequest] for one that demands an answer by a schema, and with [llm.KindCancelled] when the context
// ends.
func New() llm.Client { return client{} }

// Fallback returns the offline model for a person who chose no model. Its streams also fail with [llm.KindAuth] for a message with an
// instruction that no rule matches: the work needs a model that the person has to configure, and nothing of it is done.
func Fallback() llm.Client { return client{fallback: true} }

type client struct{ fallback bool }

// Model implements [llm.Client].
func (client) Model() llm.Model {
	return llm.Model{Provider: "offline", ID: "rules", Context: contextTokens, Price: llm.Price{Free: true}}
}

// Stream implements [llm.Client].
func (c client) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := c.check(req); err != nil {
			yield(nil, err)
			return
		}
		m := answer(req)
		m.Model = c.Model().Ref()
		m.Usage = llm.Usage{Input: tokens(req.Bytes()), Output: tokens(m.Content.Bytes())}
		if stream(ctx, m, yield) {
			yield(llm.Done{Message: m}, nil)
		}
	}
}

func (c client) check(req *llm.Request) error {
	fail := func(kind llm.Kind, format string, args ...any) error {
		return &llm.Error{Kind: kind, Model: c.Model().Ref(), Message: fmt.Sprintf(format, args...)}
	}
	if n := tokens(req.Bytes()); n > contextTokens {
		return fail(llm.KindContextOverflow,
			"the request has about %d tokens, this model takes %d: begin a new session, send less at once, or choose a model with a larger window",
			n, contextTokens)
	}
	if len(req.Schema) > 0 {
		return fail(llm.KindInvalidRequest,
			"the built-in offline model cannot answer by a JSON schema: ask without one, or choose another model")
	}
	if text, _, _ := instructionsOf(req); c.fallback {
		if i := slices.IndexFunc(parse(text), func(in instruction) bool { return in.verb == unknown }); i >= 0 {
			return fail(llm.KindAuth, "%s", noModel)
		}
	}
	return nil
}

// tokens estimates how many tokens n bytes are, rounded up.
func tokens(n int) int64 { return int64(n+bytesPerToken-1) / bytesPerToken }
