package google

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// thinkingConfig is how much a model reasons: by a budget of tokens up to generation 2.5, by a level since then.
type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitzero"`
	ThinkingBudget  *int   `json:"thinkingBudget,omitzero"`
	ThinkingLevel   string `json:"thinkingLevel,omitzero"`
}

// thinking returns the configuration of a model for a level; nil is none, for models that do not reason.
func thinking(m llm.Model, level llm.Thinks) *thinkingConfig {
	g := generation(m.ID)
	switch {
	case g < 2.5, len(m.Thinks) == 1 && m.Thinks[0] == llm.ThinkOff:
		return nil
	case g >= 3:
		return thinkingLevel(m, level)
	default:
		return thinkingBudget(m, level)
	}
}

// thinkingBudget gives the budgets that Google documents: Pro reasons with 128 to 32768 tokens and always, Flash with 0 to 24576, Flash-Lite
// with 512 to 24576, or 0, which is its default.
func thinkingBudget(m llm.Model, level llm.Thinks) *thinkingConfig {
	name := bare(m.ID)
	least, canStop := 0, true
	switch {
	case strings.Contains(name, "flash-lite"):
		least = 512
	case strings.Contains(name, "pro"):
		least, canStop = 128, false
	}
	budget := 0
	switch level {
	case llm.ThinkOff:
		if canStop {
			return &thinkingConfig{ThinkingBudget: &budget} // thoughts must not be asked for then
		}
	case llm.ThinkMinimal:
		budget = 512
		if !canStop {
			budget = least
		}
	case llm.ThinkLow:
		budget = 1024
	case llm.ThinkMedium:
		budget = 8192
	case llm.ThinkHigh:
		budget = 24576
	default:
		if strings.Contains(name, "flash-lite") {
			return nil // it does not reason by itself, and thoughts must not be asked for then
		}
		return &thinkingConfig{IncludeThoughts: true}
	}
	budget = max(budget, least)
	return &thinkingConfig{IncludeThoughts: true, ThinkingBudget: &budget}
}

// ladder is the levels from the least to the most.
func ladder() []llm.Thinks {
	return []llm.Thinks{llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
}

// thinkingLevel gives the level that is asked for, or the nearest that the model has, rather more than less. These models always reason.
func thinkingLevel(m llm.Model, level llm.Thinks) *thinkingConfig {
	c := &thinkingConfig{IncludeThoughts: true}
	if level == llm.ThinkOff {
		level = llm.ThinkMinimal
	}
	asked := slices.Index(ladder(), level)
	if asked < 0 {
		return c
	}
	for _, l := range slices.Concat(ladder()[asked:], reversed(ladder()[:asked])) {
		if hasLevel(m, l) {
			c.ThinkingLevel = strings.ToUpper(string(l))
			break
		}
	}
	return c
}

// hasLevel reports whether a model has a level. Of a model that nothing is known of, it is that all have low and high, that Pro has no
// minimal, and that 3 Pro has no medium either.
func hasLevel(m llm.Model, level llm.Thinks) bool {
	if slices.ContainsFunc(m.Thinks, func(l llm.Thinks) bool { return l != llm.ThinkOff }) {
		return slices.Contains(m.Thinks, level)
	}
	name := bare(m.ID)
	switch level {
	case llm.ThinkMinimal:
		return strings.Contains(name, "flash")
	case llm.ThinkMedium:
		return !strings.HasPrefix(name, "gemini-3-pro")
	default:
		return true
	}
}

func reversed(list []llm.Thinks) []llm.Thinks {
	slices.Reverse(list)
	return list
}
