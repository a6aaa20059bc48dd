package openai

import "github.com/tenon-agent/tenon/llm"

// chatUsage is the usage of an answer, in the spellings of all servers.
type chatUsage struct {
	Prompt     looseNumber `json:"prompt_tokens"`
	Completion looseNumber `json:"completion_tokens"`
	Total      looseNumber `json:"total_tokens"`

	PromptDetails struct {
		Cached        looseNumber `json:"cached_tokens"`
		CacheWrite    looseNumber `json:"cache_write_tokens"`    // OpenRouter
		CacheCreation looseNumber `json:"cache_creation_tokens"` // LiteLLM
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning looseNumber `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	CacheHit      looseNumber `json:"prompt_cache_hit_tokens"`     // DeepSeek
	Cached        looseNumber `json:"cached_tokens"`               // Moonshot
	CacheRead     looseNumber `json:"cache_read_input_tokens"`     // LiteLLM
	CacheCreation looseNumber `json:"cache_creation_input_tokens"` // LiteLLM
	Reasoning     looseNumber `json:"reasoning_tokens"`

	Cost        looseNumber `json:"cost"` // US dollars; OpenRouter, Vercel
	OwnKey      looseString `json:"is_byok"`
	CostDetails struct {
		Upstream looseNumber `json:"upstream_inference_cost"`
	} `json:"cost_details"`
	Ticks looseNumber `json:"cost_in_usd_ticks"` // xAI
}

// tick is in US dollars.
const tick = 1e-10

// counts returns the usage in disjoint counts.
func (u *chatUsage) counts(p *Profile) llm.Usage {
	prompt, completion := u.Prompt.tokens(), u.Completion.tokens()
	cached := max(u.PromptDetails.Cached, u.CacheHit, u.Cached, u.CacheRead).tokens()
	written := max(u.PromptDetails.CacheWrite, u.PromptDetails.CacheCreation, u.CacheCreation).tokens()
	reasoning := max(u.CompletionDetails.Reasoning, u.Reasoning).tokens()
	cached = min(cached, prompt)
	written = min(written, prompt-cached)
	out := llm.Usage{
		Input: prompt - cached - written, CacheRead: cached, CacheWrite: written,
		Output: completion, Reasoning: reasoning, Cost: u.cost(),
	}
	if !u.apart(prompt, completion, reasoning, p) {
		out.Reasoning = min(reasoning, completion)
		out.Output = completion - out.Reasoning
	}
	return out
}

// apart reports whether completion_tokens excludes reasoning tokens. The total, if there is one, decides.
func (u *chatUsage) apart(prompt, completion, reasoning int64, p *Profile) bool {
	switch total := u.Total.tokens(); {
	case reasoning == 0, total == prompt+completion:
		return false
	case total == prompt+completion+reasoning:
		return true
	default:
		return p.ReasoningApart || reasoning > completion
	}
}

// cost returns the cost of the answer in US dollars, according to the server. With your own key at a gateway, the price of the
// provider comes on top of the gateway's fee.
func (u *chatUsage) cost() float64 {
	cost := float64(u.Cost)
	if u.OwnKey == "true" {
		cost += float64(u.CostDetails.Upstream)
	}
	if cost == 0 {
		cost = float64(u.Ticks) * tick
	}
	return max(cost, 0)
}

// empty reports whether the usage has no counts, as the first one of some servers.
func (u *chatUsage) empty() bool { return u.Prompt == 0 && u.Completion == 0 && u.Total == 0 }
