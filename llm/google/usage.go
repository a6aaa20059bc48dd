package google

import "github.com/tenon-agent/tenon/llm"

// usage is what was consumed so far. Each chunk may tell it, and the last that does counts.
type usage struct {
	Prompt     int64 `json:"promptTokenCount"`        // cached ones included
	Cached     int64 `json:"cachedContentTokenCount"` // of the prompt
	Candidates int64 `json:"candidatesTokenCount"`    // without thoughts
	Thoughts   int64 `json:"thoughtsTokenCount"`
	ToolPrompt int64 `json:"toolUsePromptTokenCount"` // results of tools that run at the provider
	Total      int64 `json:"totalTokenCount"`
}

// some reports whether anything was counted: Vertex AI tells how a request is billed before it tells how much.
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
