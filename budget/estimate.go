package budget

import "github.com/tenon-agent/tenon/llm"

// What estimates assume.
const (
	bytesPerToken = 3      // fewer than of usual texts, so that an estimate is seldom too low
	mediaTokens   = 3000   // of an image or a page
	pageBytes     = 40_000 // of a document
	answerTokens  = 32_000 // of the longest answer of a model that does not say
)

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

// estimate returns about how many tokens a request has.
func estimate(r *llm.Request) int64 {
	media := int64(0)
	for _, m := range r.Messages {
		for _, p := range m.Content {
			switch p := p.(type) {
			case llm.Image:
				media += mediaTokens
			case llm.Document:
				media += mediaTokens * int64(1+len(p.Data)/pageBytes)
			}
		}
	}
	return tokens(r.Bytes()) + media
}

// most returns the most that a request to one of the models is expected to draw: all of its input is written to the cache, and its answer is
// the longest.
func most(models []llm.Model, r *llm.Request, input int64) (a amount) {
	for _, m := range models {
		in, out := input, int64(r.MaxTokens)
		if out <= 0 {
			out = answerTokens
		}
		if m.MaxOutput > 0 {
			out = min(out, int64(m.MaxOutput))
		}
		if m.Context > 0 {
			in = min(in, int64(m.Context))
		}
		const million = 1e6
		money := (float64(in)*max(m.Price.Input, m.Price.CacheWrite) + float64(out)*m.Price.Output) / million
		a = amount{max(a.money, money), max(a.tokens, in+out)}
	}
	return a
}
