package llm

// Usage counts the tokens of an answer. The five counts are disjoint: their sum is the number of tokens that the provider processed.
//
// JSON: {"input","cache_read","cache_write","output","reasoning","cost"}, zeroes left out.
type Usage struct {
	Input      int64   `json:"input,omitzero"`       // read without the cache
	CacheRead  int64   `json:"cache_read,omitzero"`  // read from the provider's prompt cache
	CacheWrite int64   `json:"cache_write,omitzero"` // read without the cache and written to that cache
	Output     int64   `json:"output,omitzero"`      // written, without reasoning
	Reasoning  int64   `json:"reasoning,omitzero"`   // written as reasoning
	Cost       float64 `json:"cost,omitzero"`        // in US dollars; 0 when unknown or free
}

// Total is the sum of all tokens.
func (u Usage) Total() int64 {
	return u.Input + u.CacheRead + u.CacheWrite + u.Output + u.Reasoning
}

// Prompt is the tokens that were read, cached or not: how full the window was.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// CacheHits is the share of the prompt that came from the cache, from 0 to 1.
func (u Usage) CacheHits() float64 {
	if u.Prompt() == 0 {
		return 0
	}
	return float64(u.CacheRead) / float64(u.Prompt())
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		Cost:       u.Cost + v.Cost,
	}
}
