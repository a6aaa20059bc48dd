package anthropic

import "github.com/tenon-agent/tenon/llm"

// usage has the counts of the API. Input excludes cached tokens; output includes thinking.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Details    struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// update merges later counts. They are cumulative; a missing count keeps its value.
func (u *usage) update(v *usage) {
	for _, c := range []struct{ to, from *int64 }{
		{&u.Input, &v.Input},
		{&u.CacheWrite, &v.CacheWrite},
		{&u.CacheRead, &v.CacheRead},
		{&u.Output, &v.Output},
		{&u.Details.Thinking, &v.Details.Thinking},
	} {
		if *c.from > 0 {
			*c.to = *c.from
		}
	}
}

// disjoint returns the counts so that none is within another.
func (u *usage) disjoint() llm.Usage {
	thinking := min(u.Details.Thinking, u.Output)
	return llm.Usage{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		Output: u.Output - thinking, Reasoning: thinking,
	}
}
