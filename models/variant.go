package models

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
)

// levels returns the thinking levels that are variants of every model.
func levels() []llm.Thinks { return append(llm.Levels(), llm.ThinkProvider) }

// variant returns the settings of the variant of a reference, from the configuration or the catalog, or of a thinking level.
func (r *Registry) variant(ref Ref) (llm.Settings, error) {
	if ref.Variant == "" {
		return llm.Settings{}, nil
	}
	facts, _ := r.facts(ref)
	if v, ok := facts.Variants[ref.Variant]; ok {
		return llm.Settings(v), nil
	}
	entry, _ := r.Catalog().Entry(ref.Provider, ref.Model)
	if v, ok := entry.Variants[ref.Variant]; ok {
		return v, nil
	}
	if slices.Contains(levels(), llm.Thinks(ref.Variant)) {
		return llm.Settings{Thinking: llm.Thinks(ref.Variant)}, nil
	}
	var names []string
	for _, l := range levels() {
		names = append(names, string(l))
	}
	for name := range entry.Variants {
		names = append(names, name)
	}
	for name := range facts.Variants {
		names = append(names, name)
	}
	slices.Sort(names)
	return llm.Settings{}, &UnknownError{ref.String(), fmt.Sprintf("it has no variant %q; known are %s", ref.Variant, strings.Join(slices.Compact(names), ", "))}
}

// deferred makes its client, and fetches the key, with the first request.
type deferred struct {
	model llm.Model
	vary  llm.Settings
	make  func(context.Context) (llm.Client, error)

	mu     sync.Mutex
	client llm.Client
}

// Model implements [llm.Client].
func (d *deferred) Model() llm.Model { return d.model }

// Stream implements [llm.Client].
func (d *deferred) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		c, err := d.ready(ctx)
		if err != nil {
			yield(nil, d.failure(ctx, err))
			return
		}
		for e, err := range c.Stream(ctx, varied(req, d.vary)) {
			if !yield(e, err) {
				return
			}
		}
	}
}

func (d *deferred) ready(ctx context.Context) (llm.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.client == nil {
		c, err := d.make(ctx)
		if err != nil {
			return nil, err
		}
		d.client = c
	}
	return d.client, nil
}

// failure returns the error of a missing key or address.
func (d *deferred) failure(ctx context.Context, err error) *llm.Error {
	if ctx.Err() != nil {
		return &llm.Error{Kind: llm.KindCancelled, Model: d.model.Ref(), Err: context.Cause(ctx)}
	}
	return &llm.Error{Kind: llm.KindAuth, Model: d.model.Ref(), Message: err.Error(), Err: err}
}

// varied returns the request with the settings of a variant.
func varied(req *llm.Request, v llm.Settings) *llm.Request {
	out := *req
	out.Settings = req.With(v)
	return &out
}
