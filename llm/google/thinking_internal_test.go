package google

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

var levels = []llm.Thinks{
	llm.ThinkDefault, llm.ThinkOff, llm.ThinkMinimal, llm.ThinkLow, llm.ThinkMedium, llm.ThinkHigh,
}

// Each model has its own parameter for the amount of reasoning. The values are in the order of levels; - means no parameter.
func TestThinking(t *testing.T) {
	for _, test := range []struct{ id, has, want string }{
		{"gemini-2.5-flash", "", "thoughts budget:0 thoughts,budget:512 thoughts,budget:8192 thoughts,budget:16384 thoughts,budget:24576"},
		{"gemini-2.5-flash-lite", "", "- budget:0 thoughts,budget:512 thoughts,budget:8192 thoughts,budget:16384 thoughts,budget:24576"},
		{"gemini-2.5-pro", "", "thoughts thoughts,budget:128 thoughts,budget:128 thoughts,budget:8192 thoughts,budget:16384 thoughts,budget:32768"},
		{"gemini-2.0-flash", "off", "- - - - - -"},
		{"gemini-2.0-flash", "", "- - - - - -"},
		{"gemma-3-27b-it", "", "- - - - - -"},
		{"gemini-3-pro-preview", "low high", "thoughts LOW LOW LOW HIGH HIGH"},
		{"gemini-3-pro-preview", "", "thoughts LOW LOW LOW HIGH HIGH"},
		{"gemini-3.1-pro-preview", "", "thoughts LOW LOW LOW MEDIUM HIGH"},
		{"gemini-3-flash-preview", "", "thoughts MINIMAL MINIMAL LOW MEDIUM HIGH"},
		{"gemini-3.7-flash", "low medium high", "thoughts LOW LOW LOW MEDIUM HIGH"},
		{"gemini-4-argon", "minimal low", "thoughts MINIMAL MINIMAL LOW LOW LOW"},
		{"gemini-flash-latest", "", "thoughts MINIMAL MINIMAL LOW MEDIUM HIGH"},
		{"models/gemini-2.5-flash-preview-09-2025", "", "thoughts budget:0 thoughts,budget:512 thoughts,budget:8192 thoughts,budget:16384 thoughts,budget:24576"},
	} {
		m := llm.Model{Provider: "gemini", ID: test.id}
		for level := range strings.FieldsSeq(test.has) {
			m.Thinks = append(m.Thinks, llm.Thinks(level))
		}
		var got []string
		for _, level := range levels {
			got = append(got, inShort(t, thinking(m, level, 0)))
		}
		if all := strings.Join(got, " "); all != test.want {
			t.Errorf("%s with %q:\ngot  %s\nwant %s", test.id, test.has, all, test.want)
		}
	}
}

// Thoughts count toward the limit of the answer, so a budget leaves room for text.
func TestThinkingLeavesRoom(t *testing.T) {
	for _, test := range []struct{ room, want int }{{1000, 500}, {8192, 4096}, {8193, 8192}, {100, 128}} {
		c := thinking(llm.Model{ID: "gemini-2.5-pro"}, llm.ThinkLow, test.room)
		if *c.ThinkingBudget != test.want {
			t.Errorf("an answer of %d tokens: a budget of %d, want %d", test.room, *c.ThinkingBudget, test.want)
		}
	}
}

func inShort(t *testing.T, c *thinkingConfig) string {
	t.Helper()
	if c == nil {
		return "-"
	}
	if c.ThinkingLevel != "" {
		if !c.IncludeThoughts || c.ThinkingBudget != nil {
			t.Errorf("got %+v together with a level", *c)
		}
		return c.ThinkingLevel
	}
	data, err := wire.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`{`, "", `}`, "", `"includeThoughts":true`, "thoughts", `"thinkingBudget"`, "budget").Replace(string(data))
}

// Signatures go back to the model that made them, and to no other.
func TestOwnSignatures(t *testing.T) {
	model := llm.Model{Provider: "gemini", ID: "gemini-3-pro-preview"}
	for author, want := range map[string]bool{
		"gemini/gemini-3-pro-preview": true, "gemini/gemini-3-pro": true, "gemini/models/gemini-3-pro-preview-11-2025": true,
		"gemini/gemini-3.1-pro-preview": false, "gemini/gemini-3-flash-preview": false, "vertex/gemini-3-pro-preview": false,
		"anthropic/claude": false, "": false, "gemini": false,
	} {
		if got := own(model, author); got != want {
			t.Errorf("%s: got %v", author, got)
		}
	}
}
