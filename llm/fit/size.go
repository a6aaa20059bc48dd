package fit

import "github.com/tenon-agent/tenon/llm"

// Tokens is about how many tokens a request with these messages has, rather too many than too few: no provider's tokenizer is asked.
func Tokens(req *llm.Request, messages []llm.Message) int {
	const (
		bytesPerToken = 3
		frame         = 8    // tokens around a message
		imageTokens   = 1600 // of an image of the usual size
		pageBytes     = 50 << 10
	)
	bytes, tokens := len(req.System)+len(req.Schema), 0
	for _, t := range req.Tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range messages {
		tokens += frame
		for _, p := range m.Content {
			switch p := p.(type) {
			case llm.Text:
				bytes += len(p.Text)
			case llm.Thinking:
				bytes += max(len(p.Text), len(p.Opaque)/3) // encrypted text is longer than its plain text
			case llm.ToolCall:
				bytes += len(p.ID) + len(p.Name) + len(p.Arguments)
			case llm.Image:
				tokens += imageTokens
			case llm.Document:
				tokens += imageTokens * (1 + len(p.Data)/pageBytes)
			}
		}
	}
	return bytes/bytesPerToken + tokens
}

// Room around the limit of an answer, in tokens.
const (
	margin      = 1024 // between the estimated end of the request and the window's
	leastAnswer = 4096 // output of a request that fills a large window: the size of the request is only an estimate
)

// MaxTokens is the output limit of an answer: asked, or byDefault if asked is 0, bounded by the model's own limit and by the
// room that a request of that size leaves in the context window. It is 0 if nothing is known and nothing asked for.
func MaxTokens(model llm.Model, asked, byDefault, size int) int {
	n := asked
	if n <= 0 {
		n = byDefault
	}
	if n <= 0 {
		return 0
	}
	if model.MaxOutput > 0 {
		n = min(n, model.MaxOutput)
	}
	if model.Context > 0 {
		n = min(n, max(model.Context-size-margin, min(leastAnswer, model.Context/8)))
	}
	return n
}
