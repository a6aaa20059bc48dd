package bedrock

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// Limits of an answer, in tokens.
const (
	defaultOutput = 8192   // of a Claude of which nothing is known: its default on Bedrock is 4096, which cuts long answers
	usualOutput   = 32_000 // of models that could write more: the rate limit counts the maximum, not the use
)

// limit sets the limits of the answer and how free it is.
func (c *Client) limit(r *request, req *llm.Request, conversation []llm.Message) {
	r.Inference = &inference{MaxTokens: c.maxTokens(req, conversation)}
	if req.Temperature != nil && !c.model.Has(llm.QuirkNoTemperature) {
		t := min(max(*req.Temperature, 0), 1) // the protocol has no more
		r.Inference.Temperature = &t
	}
}

// maxTokens is the limit of the answer; 0 is the model's own.
func (c *Client) maxTokens(req *llm.Request, conversation []llm.Message) int {
	usual := 0
	switch {
	case c.model.MaxOutput > 0 && c.family.thinks == byThinking:
		usual = fit.ClaudeOutput(c.model, req.Thinking)
	case c.model.MaxOutput > 0:
		usual = usualOutput
	case c.family.maker == claude:
		usual = defaultOutput
	}
	return fit.MaxTokens(c.model, req.MaxTokens, usual, fit.Tokens(req, conversation))
}
