package openai

import (
	"net/http"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// chatLack is something of a request that a server refuses.
type chatLack uint32

const (
	lackLimit chatLack = 1 << iota // the name of the limit of the answer: there is another one
	lackStreamUsage
	lackAskUsage
	lackParallel
	lackDeveloper
	lackTemperatures
	lackThinking
	lackChatAll
)

// chatLacks says by which words a refusal is known. The first that fits counts, if the request has what it is about.
func chatLacks() []struct {
	lack  chatLack
	words []string
} {
	return []struct {
		lack  chatLack
		words []string
	}{
		{lackLimit, []string{"max_completion_tokens", "max_tokens"}},
		{lackStreamUsage, []string{"stream_options", "include_usage"}},
		{lackParallel, []string{"parallel_tool_calls"}},
		{lackTemperatures, []string{"temperature"}},
		{lackThinking, []string{"reasoning_effort", "reasoning effort", "chat_template_kwargs", "enable_thinking", "thinking", "reasoning"}},
		{lackDeveloper, []string{"developer"}},
		{lackAskUsage, []string{"'usage'", "\"usage\"", "usage:"}},
	}
}

// lessen takes out of a request what the server refused in it. It reports whether there was something, so that the request can be
// sent again.
func (c *Chat) lessen(body *chatRequest, err *llm.Error) bool {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusUnprocessableEntity || err.Kind != llm.KindInvalidRequest {
		return false
	}
	text := strings.ToLower(err.Message)
	if !refusesParameter(text) {
		return false
	}
	for _, l := range chatLacks() {
		for _, w := range l.words {
			if strings.Contains(text, w) && body.without(l.lack) {
				c.lacks.Or(uint32(l.lack))
				return true
			}
		}
	}
	return false
}

// refusesParameter reports whether an error is about a parameter that is not known or not taken, and not about its value.
func refusesParameter(text string) bool {
	for _, phrase := range []string{
		"unsupported", "not support", "unrecognized", "unknown", "unexpected", "extra_forbidden", "extra inputs", "not permitted",
		"not allowed", "unavailable", "no such", "additional propert", "only the default",
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

// leaveOut takes out of a request what the server is known to refuse.
func (c *Chat) leaveOut(body *chatRequest) {
	lacks := chatLack(c.lacks.Load())
	for l := chatLack(1); l < lackChatAll; l <<= 1 {
		if lacks&l != 0 {
			body.without(l)
		}
	}
}

// without takes something out of the request, and reports whether it was there.
func (body *chatRequest) without(lack chatLack) bool {
	switch lack {
	case lackLimit:
		return body.renameLimit()
	case lackStreamUsage:
		return unset(&body.StreamOptions)
	case lackAskUsage:
		return unset(&body.Usage)
	case lackParallel:
		return unset(&body.ParallelCalls)
	case lackTemperatures:
		return unset(&body.Temperature)
	case lackThinking:
		had := unset(&body.ReasoningEffort)
		had = unset(&body.Reasoning) || had
		had = unset(&body.Thinking) || had
		return unset(&body.TemplateArgs) || had
	case lackDeveloper:
		if len(body.Messages) == 0 || body.Messages[0].Role != "developer" {
			return false
		}
		body.Messages[0].Role = "system"
		return true
	default:
		return false
	}
}

// renameLimit uses the other name for the limit of the answer, once.
func (body *chatRequest) renameLimit() bool {
	if body.renamed || body.MaxTokens == 0 && body.MaxCompletionTokens == 0 {
		return false
	}
	body.MaxTokens, body.MaxCompletionTokens, body.renamed = body.MaxCompletionTokens, body.MaxTokens, true
	return true
}
