package bedrock

import "strings"

// maker is the maker of a model, as far as it matters here.
type maker int

const (
	otherMaker maker = iota
	claude
	nova
	openAI
)

// thinker is the way to ask a model to think.
type thinker int

const (
	noThinker         thinker = iota
	byThinking                // Claude: thinking, with a budget or adaptive
	byReasoningConfig         // Nova 2: reasoningConfig
	byReasoningEffort         // gpt-oss: reasoning_effort
	byReasoning               // GPT: reasoning.effort
)

// cacher is the set of places where a model accepts cache points.
type cacher int

const (
	noCache    cacher = iota
	cacheAll          // after the tools, the system prompt and messages
	cacheTexts        // after the system prompt, and after messages that end with text

)

// family has the abilities of a model beyond those of all models on Bedrock. The zero value has the fewest.
type family struct {
	maker        maker
	resultMedia  bool // images and documents within results of calls, and the status of a result
	anyTool      bool // a call can be demanded
	cache        cacher
	thinks       thinker
	separate     bool // a message with calls or results cannot contain text
	cacheInInput bool // reported input tokens may include cached ones
}

// familyOf finds the family of a model ID, which may be an inference profile (us.anthropic.claude-...) or an ARN that ends in
// one. An opaque ARN, such as that of an application inference profile, gets the family with the fewest abilities.
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
