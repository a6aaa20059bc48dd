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

// thinking returns the configuration of a model for a level; nil is none, for models that do not reason. room is the limit of
// the whole answer in tokens, or 0: thoughts count toward it, so a budget that would fill it is halved.
func thinking(m llm.Model, level llm.Thinks, room int) *thinkingConfig {
	g := generation(m.ID)
	level = m.Level(level)
	switch {
	case g < 2.5, len(m.Thinks) == 1 && m.Thinks[0] == llm.ThinkOff:
		return nil
	case g >= 3:
		return thinkingLevel(m, level)
	default:
		return thinkingBudget(m, level, room)
	}
}

// thinkingBudget gives the budgets that Google documents: Pro reasons with 128 to 32768 tokens and always, Flash with 0 to 24576, Flash-Lite
// with 512 to 24576, or 0, which is its default.
func thinkingBudget(m llm.Model, level llm.Thinks, room int) *thinkingConfig {
	name := bare(m.ID)
	least, most, canStop := 0, 24576, true
	switch {
	case strings.Contains(name, "flash-lite"):
		least = 512
	case strings.Contains(name, "pro"):
		least, most, canStop = 128, 32768, false
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
		budget = 8192
	case llm.ThinkMedium:
		budget = 16384
	case llm.ThinkHigh, llm.ThinkXHigh, llm.ThinkMax:
		budget = most
	default:
		if strings.Contains(name, "flash-lite") {
			return nil // it does not reason by itself, and thoughts must not be asked for then
		}
		return &thinkingConfig{IncludeThoughts: true}
	}
	if room > 0 && budget >= room {
		budget = room / 2
	}
	budget = max(budget, least)
	return &thinkingConfig{IncludeThoughts: true, ThinkingBudget: &budget}
}

// thinkingLevel gives the level that is asked for, or the nearest that the model has, rather more than less. These models always reason.
func thinkingLevel(m llm.Model, level llm.Thinks) *thinkingConfig {
	c := &thinkingConfig{IncludeThoughts: true}
	if level == llm.ThinkOff {
		level = llm.ThinkMinimal
	}
	c.ThinkingLevel = strings.ToUpper(string(level.Among(levelsOf(m))))
	return c
}

// levelsOf returns the levels of a model above off. Of a model that nothing is known of, it is that all have low and high, that Pro has no
// minimal, and that 3 Pro has no medium either.
func levelsOf(m llm.Model) []llm.Thinks {
	on := func(l llm.Thinks) bool { return l != llm.ThinkOff }
	name := bare(m.ID)
	switch {
	case slices.ContainsFunc(m.Thinks, on):
		return slices.DeleteFunc(slices.Clone(m.Thinks), func(l llm.Thinks) bool { return !on(l) })
	case strings.HasPrefix(name, "gemini-3-pro"):
		return []llm.Thinks{llm.ThinkLow, llm.ThinkHigh}
	case strings.Contains(name, "flash"):
		return []llm.Thinks{llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	default:
		return []llm.Thinks{llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	}
}
