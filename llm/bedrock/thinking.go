package bedrock

import (
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// think asks for as much thinking as the request wants, in the words of the model's maker. Nothing is sent where the request
// leaves it to the model, or where the maker documents no way.
func (c *Client) think(r *request, req *llm.Request, conversation []llm.Message) {
	level := c.model.Level(req.Thinking)
	if level == llm.ThinkDefault || !c.model.MayThink() {
		return
	}
	switch c.family.thinks {
	case byThinking:
		c.thinkAsClaude(r, level, conversation)
	case byReasoningConfig:
		if level == llm.ThinkOff {
			return // it is off by default
		}
		r.Fields = map[string]any{"reasoningConfig": map[string]any{"type": "enabled", "maxReasoningEffort": fit.Effort(c.model, level)}}
		r.Inference.Temperature = nil
		if fit.Effort(c.model, level) == string(llm.ThinkHigh) {
			r.Inference.MaxTokens = 0 // refused at this level
		}
	case byReasoningEffort:
		r.Fields = map[string]any{"reasoning_effort": fit.Effort(c.model, level)} // it cannot be switched off
	case byReasoning:
		how := fit.Effort(c.model, level)
		if level == llm.ThinkOff {
			how = "none"
		}
		r.Fields = map[string]any{"reasoning": map[string]any{"effort": how}}
	}
}

func (c *Client) thinkAsClaude(r *request, level llm.Thinks, conversation []llm.Message) {
	switch adaptive := c.model.Has(llm.QuirkAdaptiveThinking); {
	case level == llm.ThinkOff && adaptive:
		r.Fields = map[string]any{"thinking": map[string]any{"type": "disabled"}}
		if !slices.Contains(c.model.Thinks, llm.ThinkOff) && len(c.model.Thinks) > 0 {
			r.Fields = map[string]any{"thinking": map[string]any{"type": "adaptive"}, "output_config": map[string]any{"effort": "low"}}
		}
	case level == llm.ThinkOff:
		return
	case adaptive:
		r.Fields = map[string]any{"thinking": map[string]any{"type": "adaptive"}, "output_config": map[string]any{"effort": fit.Effort(c.model, level)}}
	case r.Inference.MaxTokens <= fit.LeastClaudeBudget || !fit.ClaudeMayThink(conversation):
		return
	default:
		b := fit.ClaudeBudget(level)
		if b >= r.Inference.MaxTokens {
			b = max(r.Inference.MaxTokens/2, fit.LeastClaudeBudget)
		}
		r.Fields = map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": b}}
	}
	if r.thinks() {
		r.Inference.Temperature = nil
	}
}

// thinks reports whether a Claude that gets the request thinks.
func (r *request) thinks() bool {
	t, _ := r.Fields["thinking"].(map[string]any)
	return t != nil && t["type"] != "disabled"
}
