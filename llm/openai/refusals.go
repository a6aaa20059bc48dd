package openai

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// optional is a feature of a request without which an answer is possible. Some servers refuse the request because of it.
type optional[B any] struct {
	words  []string           // one of them is in the message of the refusal
	remove func(body *B) bool // takes the feature out of a request, and reports whether it was there
	always bool               // a server that refuses the feature once refuses it always
}

// refusals are the features that a server always refuses, as a set of indexes of its optional features.
type refusals struct{ set atomic.Uint32 }

// leaveOut takes out of a request the features that the server always refuses.
func leaveOut[B any](r *refusals, features []optional[B], body *B) {
	for i, f := range features {
		if r.set.Load()&(1<<i) != 0 {
			f.remove(body)
		}
	}
}

// lessen takes out of a request the first feature that the server may have refused. It reports whether there was one, so that
// the client can send the request again.
func lessen[B any](r *refusals, features []optional[B], body *B, message string) bool {
	text := strings.ToLower(message)
	for i, f := range features {
		if mentions(text, f.words) && f.remove(body) {
			if f.always {
				r.set.Or(1 << i)
			}
			return true
		}
	}
	return false
}

func mentions(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// post sends a request. If the server refuses it and lessened takes something out, post sends it again.
func post(ctx context.Context, e *wire.Endpoint, a *Azure, model llm.Model, url string, body any, lessened func(*llm.Error) bool) (*wire.Response, error) {
	for {
		data, err := wire.Marshal(body)
		if err != nil {
			return nil, &llm.Error{
				Kind: llm.KindInvalidRequest, Model: model.Ref(), Err: err,
				Message: fmt.Sprintf("the request cannot be written as JSON: %v: is the schema of every tool valid?", err),
			}
		}
		resp, err := e.Post(ctx, wire.Request{Model: model.Ref(), URL: url, Header: a.authorize(e), Body: data})
		if err == nil || !lessened(llm.AsError(err)) {
			return resp, err
		}
	}
}

// unset sets v to its zero value and reports whether it had another.
func unset[T comparable](v *T) bool {
	var zero T
	had := *v != zero
	*v = zero
	return had
}

// optionalInChat are the optional features of Chat Completions.
func optionalInChat() []optional[chatRequest] {
	return []optional[chatRequest]{
		{[]string{"max_completion_tokens", "max_tokens"}, (*chatRequest).renameLimit, true},
		{[]string{"stream_options", "include_usage"}, func(b *chatRequest) bool { return unset(&b.StreamOptions) }, true},
		{[]string{"parallel_tool_calls"}, func(b *chatRequest) bool { return unset(&b.ParallelCalls) }, true},
		{[]string{"temperature"}, func(b *chatRequest) bool { return unset(&b.Temperature) }, true},
		{
			[]string{"reasoning_effort", "reasoning effort", "chat_template_kwargs", "enable_thinking", "thinking", "reasoning"},
			(*chatRequest).dropThinking, true,
		},
		{[]string{"developer"}, (*chatRequest).renameDeveloper, true},
		{[]string{"'usage'", "\"usage\"", "usage:"}, func(b *chatRequest) bool { return unset(&b.Usage) }, true},
	}
}

// lessen takes out of a request the feature that the server refused, if the error is about a parameter and not about its value.
func (c *Chat) lessen(body *chatRequest, err *llm.Error) bool {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusUnprocessableEntity || err.Kind != llm.KindInvalidRequest {
		return false
	}
	about := mentions(strings.ToLower(err.Message), []string{
		"unsupported", "not support", "unrecognized", "unknown", "unexpected", "extra_forbidden", "extra inputs", "not permitted",
		"not allowed", "unavailable", "no such", "additional propert", "only the default",
	})
	return about && lessen(&c.refused, optionalInChat(), body, err.Message)
}

// renameLimit uses the other name for the limit of the answer, once.
func (body *chatRequest) renameLimit() bool {
	if body.renamed || body.MaxTokens == 0 && body.MaxCompletionTokens == 0 {
		return false
	}
	body.MaxTokens, body.MaxCompletionTokens, body.renamed = body.MaxCompletionTokens, body.MaxTokens, true
	return true
}

// renameDeveloper uses the older role for the system prompt.
func (body *chatRequest) renameDeveloper() bool {
	if len(body.Messages) == 0 || body.Messages[0].Role != "developer" {
		return false
	}
	body.Messages[0].Role = "system"
	return true
}

func (body *chatRequest) dropThinking() bool {
	had := unset(&body.ReasoningEffort)
	had = unset(&body.Reasoning) || had
	had = unset(&body.Thinking) || had
	return unset(&body.TemplateArgs) || had
}

// optionalInResponses are the optional features of Responses. OpenAI streams some models, and summarizes their reasoning, only for
// verified organizations. Reasoning that comes back can be of another organization or too old.
func optionalInResponses() []optional[respRequest] {
	return []optional[respRequest]{
		{[]string{"verified to stream"}, func(b *respRequest) bool { return unset(&b.Stream) }, true},
		{[]string{"encrypted content is not supported", encryptedReasoning}, (*respRequest).dropEncrypted, true},
		{
			[]string{"reasoning summar", "reasoning.summary"},
			func(b *respRequest) bool { return b.Reasoning != nil && unset(&b.Reasoning.Summary) }, true,
		},
		{[]string{"prompt_cache_key"}, func(b *respRequest) bool { return unset(&b.PromptCacheKey) }, true},
		{[]string{".phase'", "'phase'"}, (*respRequest).dropPhases, true},
		{
			[]string{"encrypted content", "encrypted_content", "of type 'reasoning'", "reasoning input item", "id 'rs_"},
			(*respRequest).dropThoughts, false,
		},
		{
			[]string{"reasoning.effort", "reasoning effort"},
			func(b *respRequest) bool { return b.Reasoning != nil && unset(&b.Reasoning.Effort) }, false,
		},
		{[]string{"'reasoning'"}, func(b *respRequest) bool { return unset(&b.Reasoning) }, false},
		{[]string{"temperature"}, func(b *respRequest) bool { return unset(&b.Temperature) }, false},
		{[]string{"'custom'", "custom tool", "\"custom\"", "custom_tool"}, (*respRequest).dropFreeForm, true},
	}
}

// lessen takes out of a request the feature that the server refused.
func (r *Responses) lessen(body *respRequest, err *llm.Error) bool {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusNotFound && err.Status != http.StatusForbidden {
		return false
	}
	return lessen(&r.refused, optionalInResponses(), body, err.Message)
}

func (body *respRequest) dropEncrypted() bool {
	had := len(body.Include) > 0
	body.Include = nil
	return body.dropThoughts() || had
}

// dropFreeForm makes free-form tools, and the calls of them, functions.
func (body *respRequest) dropFreeForm() bool {
	had := false
	for i := range body.Tools {
		if t := &body.Tools[i]; t.Type == "custom" {
			t.beFunction()
			had = true
		}
	}
	for i, item := range body.Input {
		switch item := item.(type) {
		case respFreeCall:
			body.Input[i], had = respCall{Type: "function_call", CallID: item.CallID, Name: item.Name, Arguments: freeArguments(item.Input)}, true
		case respOutput:
			if item.Type == "custom_tool_call_output" {
				item.Type, had = "function_call_output", true
				body.Input[i] = item
			}
		}
	}
	return had
}

func (body *respRequest) dropThoughts() bool {
	n := len(body.Input)
	body.Input = slices.DeleteFunc(body.Input, func(item any) bool {
		_, thought := item.(respThought)
		return thought
	})
	return len(body.Input) < n
}

func (body *respRequest) dropPhases() bool {
	had := false
	for i, item := range body.Input {
		if m, ok := item.(respMessage); ok && m.Phase != "" {
			m.Phase, had = "", true
			body.Input[i] = m
		}
	}
	return had
}
