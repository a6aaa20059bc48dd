package google

import "github.com/tenon-agent/tenon/llm"

// usage is the consumption so far. Any chunk may carry it; the last one counts.
type usage struct {
	Prompt     int64 `json:"promptTokenCount"`        // cached ones included
	Cached     int64 `json:"cachedContentTokenCount"` // of the prompt
	Candidates int64 `json:"candidatesTokenCount"`    // without thoughts
	Thoughts   int64 `json:"thoughtsTokenCount"`
	ToolPrompt int64 `json:"toolUsePromptTokenCount"` // results of tools that run at the provider
	Total      int64 `json:"totalTokenCount"`
}

// some reports whether any count is set: Vertex AI reports the kind of billing before the amounts.
func (u usage) some() bool { return u != usage{} }

// disjoint returns the counts as parts of their sum.
func (u usage) disjoint() llm.Usage {
	output := u.Candidates
	if u.Thoughts > 0 && output >= u.Thoughts && u.Prompt+u.ToolPrompt+output == u.Total {
		output -= u.Thoughts // some gateways count them twice
	}
	cached := min(max(u.Cached, 0), max(u.Prompt, 0))
	return llm.Usage{
		Input:     max(u.Prompt, 0) - cached + max(u.ToolPrompt, 0),
		CacheRead: cached,
		Output:    max(output, 0),
		Reasoning: max(u.Thoughts, 0),
	}
}
