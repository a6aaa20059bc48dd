package openai

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// respLevels returns the thinking levels of a model, guessed from its ID when they are not known. Nil: it does not reason.
func respLevels(m llm.Model) []llm.Thinks {
	if m.Thinks == nil {
		return respLevelsOf(m.ID)
	}
	if !slices.ContainsFunc(m.Thinks, func(t llm.Thinks) bool { return t != llm.ThinkOff && t != llm.ThinkDefault }) {
		return nil
	}
	return m.Thinks
}

func respLevelsOf(id string) []llm.Thinks {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]) // gateways put the maker before it
	later, isGPT := strings.CutPrefix(id, "gpt-")
	switch {
	case strings.Contains(id, "-chat"):
		return nil
	case strings.Contains(id, "codex"), strings.HasPrefix(id, "gpt-oss"), oSeries(id):
		return []llm.Thinks{llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	case !isGPT || later == "" || later[0] < '5' || later[0] > '9':
		return nil
	case strings.Contains(id, "-pro"):
		return []llm.Thinks{llm.ThinkHigh}
	case later == "5" || strings.HasPrefix(later, "5-"):
		return []llm.Thinks{llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	default:
		return []llm.Thinks{llm.ThinkOff, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh}
	}
}

// oSeries reports whether a model is one of o1, o3, o4-mini and their like.
func oSeries(id string) bool { return len(id) > 1 && id[0] == 'o' && id[1] >= '1' && id[1] <= '9' }

// respEffort returns the effort for a level: the level itself where the model has it, else the next one above, else the highest.
func respEffort(level llm.Thinks, levels []llm.Thinks) string {
	if level = level.Among(levels); level == llm.ThinkOff {
		return "none"
	}
	return string(level)
}
