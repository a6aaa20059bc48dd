package bedrock

import "strings"

// maker is who made a model, as far as it matters here.
type maker int

const (
	otherMaker maker = iota
	claude
	nova
	openAI
)

// thinker is how a model is asked to think.
type thinker int

const (
	noThinker         thinker = iota
	byThinking                // Claude: thinking, with a budget or adaptive
	byReasoningConfig         // Nova 2: reasoningConfig
	byReasoningEffort         // gpt-oss: reasoning_effort
	byReasoning               // GPT: reasoning.effort
)

// cacher is where a model takes cache points.
type cacher int

const (
	noCache    cacher = iota
	cacheAll          // behind the tools, the system prompt and messages
	cacheTexts        // behind the system prompt, and behind messages that end with text

)

// family is what a model takes beyond what all models on Bedrock do. The zero value is the least.
type family struct {
	maker        maker
	resultMedia  bool // images and documents within results of calls, and the status of a result
	anyTool      bool // a call can be demanded
	cache        cacher
	thinks       thinker
	separate     bool // texts cannot stand beside calls or beside results
	cacheInInput bool // the input tokens that are told may include those of the cache
}

// familyOf tells a model by its ID, which may be that of an inference profile (us.anthropic.claude-...) or an ARN that ends in
// one. Of an ARN that says nothing, such as that of an application inference profile, the least is believed.
func familyOf(id string) family {
	id = strings.ToLower(id)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(id, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("claude"):
		f := family{maker: claude, resultMedia: true, anyTool: true, cache: cacheAll, thinks: byThinking}
		if has("claude-3-5", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-v2", "claude-instant") {
			f.thinks = noThinker
		}
		if has("claude-3-5-sonnet-20240620", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-v2", "claude-instant") {
			f.cache = noCache
		}
		return f
	case has("amazon.nova"):
		f := family{maker: nova, resultMedia: true, anyTool: true, cache: cacheTexts}
		if has("nova-2") {
			f.thinks = byReasoningConfig
		}
		return f
	case has("openai.gpt-oss"):
		return family{maker: openAI, thinks: byReasoningEffort, cacheInInput: true}
	case has("openai."):
		return family{maker: openAI, anyTool: true, thinks: byReasoning, cacheInInput: true}
	case has("mistral."):
		return family{anyTool: true, separate: true}
	case has("meta.", "cohere.", "ai21."):
		return family{separate: true}
	default:
		return family{}
	}
}
