package openai

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// leastTokens is the lower bound that Responses has for the length of an answer, in tokens.
const leastTokens = 16

// maxTokens is the output limit of the answer: the requested one or the model's own, bounded by the room in the context window.
// It is 0 if nothing is known: the server decides.
func maxTokens(model llm.Model, req *llm.Request, messages []llm.Message) int {
	n := fit.MaxTokens(model, req.MaxTokens, model.MaxOutput, fit.Tokens(req, messages))
	if n == 0 {
		return 0
	}
	return max(n, leastTokens)
}
