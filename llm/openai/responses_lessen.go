package openai

import (
	"net/http"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// respLack is something of a request that a server refuses.
type respLack uint32

const (
	lackStream    respLack = 1 << iota // organizations that are not verified cannot have some models streamed
	lackEncrypted                      // reasoning that can be sent back
	lackSummary                        // nor can they have summaries of reasoning
	lackCacheKey
	lackPhase

	// What follows depends on the request, and is tried again with the next one.
	lackThoughts // reasoning that was sent back: it is another organization's, or too old
	lackEffort
	lackReasoning
	lackTemperature
)

// lackAlways is what a server that refuses it once refuses always.
const lackAlways = lackStream | lackEncrypted | lackSummary | lackCacheKey | lackPhase

// respLacks says by which words a refusal is known. The first that fits counts, if the request has what it is about.
func respLacks() []struct {
	lack  respLack
	words []string
} {
	return []struct {
		lack  respLack
		words []string
	}{
		{lackStream, []string{"verified to stream"}},
		{lackEncrypted, []string{"encrypted content is not supported", encryptedReasoning}},
		{lackSummary, []string{"reasoning summar", "reasoning.summary"}},
		{lackCacheKey, []string{"prompt_cache_key"}},
		{lackPhase, []string{".phase'", "'phase'"}},
		{lackThoughts, []string{"encrypted content", "encrypted_content", "of type 'reasoning'", "reasoning input item", "id 'rs_"}},
		{lackEffort, []string{"reasoning.effort", "reasoning effort"}},
		{lackReasoning, []string{"'reasoning'"}},
		{lackTemperature, []string{"temperature"}},
	}
}

// lessen takes out of a request what the server refused in it. It reports whether there was something, so that the request can be
// sent again.
func (r *Responses) lessen(body *respRequest, err *llm.Error) bool {
	if err.Status != http.StatusBadRequest && err.Status != http.StatusNotFound && err.Status != http.StatusForbidden {
		return false
	}
	text := strings.ToLower(err.Message)
	for _, l := range respLacks() {
		fits := slices.ContainsFunc(l.words, func(w string) bool { return strings.Contains(text, w) })
		if fits && body.without(l.lack) {
			r.lacks.Or(uint32(l.lack & lackAlways))
			return true
		}
	}
	return false
}

// leaveOut takes out of a request what the server is known to refuse.
func (r *Responses) leaveOut(body *respRequest) {
	lacks := respLack(r.lacks.Load())
	for l := respLack(1); l <= lackAlways; l <<= 1 {
		if lacks&l != 0 {
			body.without(l)
		}
	}
}

// without takes something out of the request, and reports whether it was there.
func (body *respRequest) without(lack respLack) bool {
	switch lack {
	case lackStream:
		return unset(&body.Stream)
	case lackEncrypted:
		had := len(body.Include) > 0
		body.Include = nil
		return body.dropThoughts() || had
	case lackCacheKey:
		return unset(&body.PromptCacheKey)
	case lackPhase:
		return body.dropPhases()
	case lackThoughts:
		return body.dropThoughts()
	case lackReasoning:
		return unset(&body.Reasoning)
	case lackTemperature:
		return unset(&body.Temperature)
	case lackSummary:
		return body.Reasoning != nil && unset(&body.Reasoning.Summary)
	case lackEffort:
		return body.Reasoning != nil && unset(&body.Reasoning.Effort)
	default:
		return false
	}
}

// unset sets v to its zero value and reports whether it had another.
func unset[T comparable](v *T) bool {
	var zero T
	had := *v != zero
	*v = zero
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
