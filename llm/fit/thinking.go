package fit

import (
	"slices"

	"github.com/tenon-agent/tenon/llm"
)

// LeastClaudeBudget is the smallest budget of thinking that Anthropic's models take, in tokens.
const LeastClaudeBudget = 1024

// ClaudeBudget is how many tokens of thinking a level allows a model of Anthropic, wherever it runs. The levels below the smallest
// budget have the smallest. An agent thinks between its calls too, so the budgets are larger than those of a chat.
func ClaudeBudget(level llm.Thinks) int {
	switch level {
	case llm.ThinkLow:
		return 8 << 10
	case llm.ThinkMedium:
		return 16 << 10
	case llm.ThinkHigh, llm.ThinkXHigh, llm.ThinkMax:
		return 32 << 10
	default:
		return LeastClaudeBudget
	}
}

// ClaudeOutput is the usual limit of an answer of a model of Anthropic that could write more, in tokens: the rate limit counts the maximum,
// not the use. Thinking is a part of the answer and has its own share.
func ClaudeOutput(m llm.Model, asked llm.Thinks) int {
	const text = 32_000
	if level := m.Level(asked); m.MayThink() && level != llm.ThinkDefault && level != llm.ThinkOff {
		return text + ClaudeBudget(level)
	}
	return text
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

// Effort is the word for a level where low is the least and there is no way to switch thinking off: the level itself, or the highest one
// below it that the model has. All models have low, medium and high.
func Effort(m llm.Model, level llm.Thinks) string {
	switch {
	case level == llm.ThinkMedium, level == llm.ThinkHigh:
		return string(level)
	case level == llm.ThinkXHigh && slices.Contains(m.Thinks, level), level == llm.ThinkMax && slices.Contains(m.Thinks, level):
		return string(level)
	case level == llm.ThinkMax && slices.Contains(m.Thinks, llm.ThinkXHigh):
		return string(llm.ThinkXHigh)
	case level == llm.ThinkXHigh, level == llm.ThinkMax:
		return string(llm.ThinkHigh)
	default:
		return string(llm.ThinkLow)
	}
}
