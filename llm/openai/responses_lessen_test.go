package openai_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
)

// If a server refuses an optional parameter, the client omits it from the same request, and from the next one if the server
// always refuses it.
func TestResponsesLessen(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		message string
		gone    string // the parameter that the request no longer has
		always  bool
		model   llm.Model
	}{
		"summaries are for the verified": {
			400, "Your organization must be verified to generate reasoning summaries.", `"summary":"auto"`, true, respModel(),
		},
		"streams are for the verified": {400, "Your organization must be verified to stream this model.", `"stream":true`, true, respModel()},
		"reasoning is not encrypted":   {400, "Encrypted content is not supported with this model.", `"include"`, true, respModel()},
		"no key of the cache":          {400, "Unknown parameter: 'prompt_cache_key'.", `"prompt_cache_key"`, true, respModel()},
		"no phases":                    {400, "Unknown parameter: 'input[2].phase'.", `"phase"`, true, respModel()},
		"another's reasoning": {
			400, "The encrypted content for item rs_1 could not be verified.", `"type":"reasoning"`, false, respModel(),
		},
		"forgotten reasoning": {404, "Item with id 'rs_1' not found.", `"type":"reasoning"`, false, respModel()},
		"lone reasoning": {
			400, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", `"type":"reasoning"`, false, respModel(),
		},
		"not this effort": {400, "Unsupported value: 'reasoning.effort' does not support 'low' with this model.", `"effort"`, false, respModel()},
		"no reasoning":    {400, "Unsupported parameter: 'reasoning' is not supported with this model.", `"reasoning":{`, false, respModel()},
		"no temperature": {
			400, "Unsupported parameter: 'temperature' is not supported with this model.", `"temperature"`, false,
			llm.Model{Provider: "openai", ID: "mine"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies [][]byte
			s := recorded.Server(func(_ *http.Request, body []byte) *http.Response {
				bodies = append(bodies, body)
				if bytes.Contains(body, []byte(c.gone)) {
					return recorded.Reply(c.status, respJSON, strings.NewReader(
						fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, c.message)))
				}
				return recorded.Reply(200, respJSON, strings.NewReader(`{"object":"response","output":[]}`))
			})
			client := openai.NewResponses(c.model, openai.ResponsesOptions{Endpoint: respAt(s)})
			req := respEverything()
			req.Thinking, req.Temperature = llm.ThinkLow, new(float64)
			for range 2 {
				if _, err := llm.Collect(t.Context(), client, req); err != nil {
					t.Fatal(err)
				}
			}
			if want := map[bool]int{true: 3, false: 4}[c.always]; len(bodies) != want {
				t.Errorf("%d requests, want %d", len(bodies), want)
			}
		})
	}
}

// Any other refusal is handed on, and so is one that is about something that the request does not have.
func TestResponsesRefused(t *testing.T) {
	for _, c := range []struct {
		status  int
		message string
		kind    llm.Kind
	}{
		{400, "Invalid value for 'input'.", llm.KindInvalidRequest},
		{400, "Unsupported parameter: 'temperature'.", llm.KindInvalidRequest},
		{400, "Unsupported parameter: 'input[1].phase'.", llm.KindInvalidRequest},
		{400, "Reasoning input items can only be provided to a reasoning model.", llm.KindInvalidRequest},
		{401, "Incorrect API key. Your organization must be verified to stream this model.", llm.KindAuth},
		{429, "Rate limit of reasoning.effort", llm.KindRateLimited},
	} {
		n := 0
		s := recorded.Server(func(*http.Request, []byte) *http.Response {
			n++
			return recorded.Reply(c.status, respJSON, strings.NewReader(fmt.Sprintf(`{"error":{"message":%q}}`, c.message)))
		})
		_, err := llm.Collect(t.Context(), openai.NewResponses(respModel(), openai.ResponsesOptions{Endpoint: respAt(s)}), recorded.Ask())
		if e := llm.AsError(err); e == nil || e.Kind != c.kind || n != 1 {
			t.Errorf("%d %s: got %v after %d requests", c.status, c.message, err, n)
		}
	}
}
