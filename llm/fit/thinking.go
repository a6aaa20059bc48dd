package fit

import "github.com/tenon-agent/tenon/llm"

// LeastClaudeBudget is the smallest budget of thinking that Anthropic's models take, in tokens.
const LeastClaudeBudget = 1024

// ClaudeBudget is how many tokens of thinking a level allows a model of Anthropic, wherever it runs. The levels below the smallest
// budget have the smallest.
func ClaudeBudget(level llm.Thinks) int {
	switch level {
	case llm.ThinkMedium:
		return 2048
	case llm.ThinkHigh:
		return 8192
	default:
		return LeastClaudeBudget
	}
}

// ClaudeMayThink reports whether an Anthropic model with a thinking budget can continue a fitted conversation. If the last
// turn has calls, it must have begun with thinking; a turn that a model of another provider began did not. A turn extends from
// one user message to the next; a user message after results does not end it.
func ClaudeMayThink(conversation []llm.Message) bool {
	for i := len(conversation) - 1; i >= 0; i-- {
		if conversation[i].Role != llm.RoleUser || i > 0 && conversation[i-1].Role == llm.RoleTool {
			continue
		}
		if i+1 == len(conversation) {
			return true
		}
		_, thought := conversation[i+1].Content[0].(llm.Thinking)
		return thought
	}
	return false // a conversation that is fit begins with the user's message, so this is not reached
}

// Effort is the word for a level where there are only low, medium and high, and no way to switch thinking off.
func Effort(level llm.Thinks) string {
	switch level {
	case llm.ThinkMedium:
		return "medium"
	case llm.ThinkHigh:
		return "high"
	default:
		return "low"
	}
}
