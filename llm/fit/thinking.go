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
