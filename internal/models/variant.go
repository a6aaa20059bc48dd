package models

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
)

// levels is the variants that every model has.
var levels = []llm.Thinks{llm.ThinkOff, llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}

// variant returns how a reference wants its model to be asked: by the configuration, by the catalog, or by the name of a thinking
// level.
func (r *Registry) variant(ref config.Ref) (config.Variant, error) {
	if ref.Variant == "" {
		return config.Variant{}, nil
	}
	if v, ok := r.o.Config.Variant(ref); ok {
		return v, nil
	}
	entry, _ := r.Catalog().Entry(ref.Provider, ref.Model)
	if v, ok := entry.Variants[ref.Variant]; ok {
		return config.Variant{Thinking: v.Thinking, MaxTokens: v.MaxTokens, Temperature: v.Temperature}, nil
	}
	if slices.Contains(levels, llm.Thinks(ref.Variant)) {
		return config.Variant{Thinking: llm.Thinks(ref.Variant)}, nil
	}
	var names []string
	for _, l := range levels {
		names = append(names, string(l))
	}
	for name := range entry.Variants {
		names = append(names, name)
	}
	if f, ok := r.o.Config.Facts(ref); ok {
		for name := range f.Variants {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return config.Variant{}, &UnknownError{ref.String(), fmt.Sprintf("it has no variant %q; there are %s", ref.Variant, strings.Join(slices.Compact(names), ", "))}
}

// deferred is a client that is made with the first request: only then is its key fetched.
type deferred struct {
	model llm.Model
	vary  config.Variant
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

// failure is the error of a key or an address that cannot be had.
func (d *deferred) failure(ctx context.Context, err error) *llm.Error {
	if ctx.Err() != nil {
		return &llm.Error{Kind: llm.KindCancelled, Model: d.model.Ref(), Err: context.Cause(ctx)}
	}
	return &llm.Error{Kind: llm.KindAuth, Model: d.model.Ref(), Message: err.Error(), Err: err}
}

// varied returns the request with what a variant sets.
func varied(req *llm.Request, v config.Variant) *llm.Request {
	if v == (config.Variant{}) {
		return req
	}
	out := *req
	if v.Thinking != "" {
		out.Thinking = v.Thinking
	}
	if v.MaxTokens != 0 {
		out.MaxTokens = v.MaxTokens
	}
	if v.Temperature != nil {
		out.Temperature = v.Temperature
	}
	return &out
}
