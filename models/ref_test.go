package models

import (
	"slices"
	"strings"
	"testing"
)

func TestReferencesToModels(t *testing.T) {
	for in, want := range map[string]Ref{
		"anthropic/claude-sonnet-4-5":        {"anthropic", "claude-sonnet-4-5", ""},
		"anthropic/claude-sonnet-4-5@deep":   {"anthropic", "claude-sonnet-4-5", "deep"},
		"openrouter/z-ai/glm-4.6:free":       {"openrouter", "z-ai/glm-4.6:free", ""},
		"vertex/claude-3-5-sonnet@20240620":  {"vertex", "claude-3-5-sonnet@20240620", ""},
		"vertex/gemini-2.5-pro@default":      {"vertex", "gemini-2.5-pro@default", ""},
		"vertex/gemini-2.5-pro@latest@quick": {"vertex", "gemini-2.5-pro@latest", "quick"},
		"x/@deep":                            {"x", "@deep", ""},
	} {
		got, err := ParseRef(in)
		if err != nil || got != want || got.String() != in {
			t.Errorf("%s: got %+v, %v, written %s", in, got, err, got)
		}
	}
	for _, in := range []string{"", "claude", "/claude", "anthropic/", "Anthropic/x", "a b/c", "a/b c", "a/$B", "a/b\n", "a/ü"} {
		if got, err := ParseRef(in); err == nil {
			t.Errorf("%q is %+v", in, got)
		}
	}
}

func TestCandidates(t *testing.T) {
	r := New(Options{
		Getenv: func(string) string { return "" },
		Pools:  map[string][]string{"fast": {"anthropic/claude-sonnet-4-5", "openrouter/z-ai/glm-4.6"}, "odd": {"no reference"}},
	})
	for in, want := range map[string][]Ref{
		"fast":       {{"anthropic", "claude-sonnet-4-5", ""}, {"openrouter", "z-ai/glm-4.6", ""}},
		"openai/o3":  {{"openai", "o3", ""}},
		"fats":       nil,
		"odd":        nil,
		"Openai/gpt": nil,
	} {
		got, err := r.candidates(in)
		if !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("%s: got %v, %v", in, got, err)
		}
	}
	if _, err := r.Choose("fats"); err == nil || !strings.Contains(err.Error(), `did you mean "fast"?`) {
		t.Errorf("the error does not suggest the pool: %v", err)
	}
}

// Facts of the provider win over those by reference.
func TestFactsOfTheProviderWin(t *testing.T) {
	r := New(Options{
		Getenv:    func(string) string { return "" },
		Providers: map[string]Provider{"a": {Models: map[string]Facts{"m": {Context: 1}}}},
		Models:    map[string]Facts{"a/m": {Context: 2}, "b/m": {Context: 3}},
	})
	for ref, want := range map[Ref]int{{"a", "m", ""}: 1, {"b", "m", "v"}: 3, {"c", "m", ""}: 0} {
		if f, ok := r.facts(ref); f.Context != want || ok != (want != 0) {
			t.Errorf("%s: got %+v, %v", ref, f, ok)
		}
	}
}
