package catalog_test

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
)

var update = flag.Bool("update", false, "write models.json as it is kept: checked, sorted, a model on a line")

// The embedded file is what the package itself would write: sorted, each model once and sane. Edit it in any form, and run
// go test -run Embedded -update.
func TestEmbeddedIsAsWritten(t *testing.T) {
	data, err := os.ReadFile("models.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("models.json", []byte(catalog.Text(c)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != catalog.Text(c) {
		t.Error("models.json is not as the package writes it; run go test -run Embedded -update")
	}
}

func TestEmbeddedIsSane(t *testing.T) {
	providers := map[string]int{}
	for e := range catalog.Embedded().All() {
		providers[e.Provider]++
		if e.Name == "" {
			t.Errorf("%s has no name", e.Ref())
		}
		if e.Context != 0 && e.Context < 4096 || e.Context > 4<<20 {
			t.Errorf("%s has a context of %d tokens", e.Ref(), e.Context)
		}
		if (e.Price.Input == 0) != (e.Price.Output == 0) {
			t.Errorf("%s has a price for one direction: %+v", e.Ref(), e.Price)
		}
		if e.Price.Input > e.Price.Output {
			t.Errorf("%s reads dearer than it writes: %+v", e.Ref(), e.Price)
		}
		if w := e.Price.CacheWrite; w != 0 && w < e.Price.Input {
			t.Errorf("%s writes to its cache for less than it reads: %+v", e.Ref(), e.Price)
		}
		known := []llm.Quirk{llm.QuirkAdaptiveThinking, llm.QuirkBoundThinking, llm.QuirkNoTemperature, llm.QuirkNoSystem, llm.QuirkNativeSchema}
		for _, q := range e.Quirks {
			if !slices.Contains(known, q) {
				t.Errorf("%s has the quirk %q, which no client knows", e.Ref(), q)
			}
		}
		if !slices.IsSortedFunc(e.Thinks, func(a, b llm.Thinks) int {
			order := llm.Levels()
			return slices.Index(order, a) - slices.Index(order, b)
		}) {
			t.Errorf("%s has its thinking levels in disorder: %v", e.Ref(), e.Thinks)
		}
		on := slices.DeleteFunc(slices.Clone(e.Thinks), func(l llm.Thinks) bool { return l == llm.ThinkOff })
		switch {
		case len(on) == 0 && e.Thinking != "":
			t.Errorf("%s has no known level above off and thinks at %s by default", e.Ref(), e.Thinking)
		case len(on) > 0 && !slices.Contains(on, e.Thinking):
			t.Errorf("%s has the levels %v and %q as the level for coding", e.Ref(), on, e.Thinking)
		}
	}
	for _, p := range []string{
		"anthropic", "azure", "bedrock", "cerebras", "deepseek", "fireworks", "gemini", "github", "groq", "huggingface",
		"mistral", "moonshot", "openai", "openrouter", "together", "vercel", "vertex", "xai", "zai",
	} {
		if providers[p] == 0 {
			t.Errorf("no model of %s", p)
		}
		delete(providers, p)
	}
	if len(providers) > 0 {
		t.Errorf("providers that no profile has: %v", providers)
	}
}

// Facts that adapters rely on, at a few models whose documentation is clear.
func TestEmbeddedFacts(t *testing.T) {
	c := catalog.Embedded()
	for ref, want := range map[[2]string]llm.Model{
		{"anthropic", "claude-sonnet-4-5"}: {
			Context: 200_000, MaxOutput: 64_000, Images: true, Documents: true,
			Price:  llm.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15},
			Quirks: []llm.Quirk{llm.QuirkNativeSchema},
		},
		{"openai", "gpt-5-mini"}: {
			Context: 400_000, MaxOutput: 128_000, Images: true, Documents: true,
			Price:  llm.Price{Input: 0.25, CacheRead: 0.025, Output: 2},
			Quirks: []llm.Quirk{llm.QuirkNoTemperature},
		},
		{"gemini", "gemini-2.5-flash"}: {
			Context: 1_048_576, MaxOutput: 65_536, Images: true, Documents: true,
			Price: llm.Price{Input: 0.3, CacheRead: 0.03, Output: 2.5},
		},
	} {
		got, ok := c.Model(ref[0], ref[1])
		if !ok || got.Context != want.Context || got.MaxOutput != want.MaxOutput || got.Price != want.Price ||
			got.Images != want.Images || got.Documents != want.Documents || !slices.Equal(got.Quirks, want.Quirks) {
			t.Errorf("%v: got %+v, want %+v", ref, got, want)
		}
	}
	adaptive, _ := c.Model("anthropic", "claude-opus-4-6")
	budget, _ := c.Model("anthropic", "claude-opus-4-5")
	if !adaptive.Has(llm.QuirkAdaptiveThinking) || budget.Has(llm.QuirkAdaptiveThinking) {
		t.Error("thinking by effort began with Claude Opus 4.6")
	}
}
