package openai

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// leastTokens is the lower bound that Responses has for the length of an answer, in tokens.
const leastTokens = 16

// maxTokens is the limit of the answer: what was asked for, or what the model writes, within what its window has room for. It is 0 when
// nothing is known, which leaves it to the server.
func maxTokens(model llm.Model, req *llm.Request, messages []llm.Message) int {
	n := fit.MaxTokens(model, req.MaxTokens, model.MaxOutput, fit.Tokens(req, messages))
	if n == 0 {
		return 0
	}
	return max(n, leastTokens)
}
