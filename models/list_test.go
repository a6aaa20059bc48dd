package models

import (
	"slices"
	"testing"
)

// registry returns one with an environment, and nothing else.
func registry(_ *testing.T, env map[string]string) *Registry {
	return New(Options{Getenv: func(name string) string { return env[name] }})
}

func provided(t *testing.T, r *Registry, name string) ProviderStatus {
	t.Helper()
	all := r.Providers()
	i := slices.IndexFunc(all, func(p ProviderStatus) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no provider %s", name)
	}
	return all[i]
}

// A provider that cannot be asked names the variable that would help first; each names all that it looks at, once.
func TestWhatAProviderNeeds(t *testing.T) {
	r := registry(t, nil)
	for name, set := range map[string]string{
		"anthropic": "ANTHROPIC_API_KEY", "azure": "AZURE_OPENAI_ENDPOINT", "bedrock": "AWS_PROFILE", "vertex": "GOOGLE_APPLICATION_CREDENTIALS",
		"openai-compatible": "OPENAI_COMPATIBLE_BASE_URL", "ollama": "",
	} {
		if p := provided(t, r, name); p.Set != set || p.Usable != (set == "") {
			t.Errorf("%s: usable %v, set %q, want %q (%s)", name, p.Usable, p.Set, set, p.Why)
		}
	}
	for _, p := range r.Providers() {
		for _, names := range [][]string{p.KeyVars, p.URLVars} {
			if sorted := slices.Sorted(slices.Values(names)); len(slices.Compact(sorted)) != len(names) || len(names) == 0 {
				t.Errorf("%s: %v", p.Name, names)
			}
		}
	}
	if p := provided(t, registry(t, map[string]string{"ANTHROPIC_API_KEY": "sk-planted-0123456789"}), "anthropic"); !p.Usable || p.Set != "" || p.Why != "key $ANTHROPIC_API_KEY" {
		t.Errorf("got %+v", p)
	}
	if vars := provided(t, r, "github").KeyVars; vars[0] != "GITHUB_MODELS_TOKEN" || !slices.Contains(vars, "GITHUB_TOKEN") {
		t.Errorf("github: %v", vars)
	}
	if vars := provided(t, r, "ollama").URLVars; !slices.Contains(vars, "OLLAMA_HOST") {
		t.Errorf("ollama: %v", vars)
	}
}

// Before any request, the status names the variable that makes a provider unusable.
func TestVariablesThatAreOfNoUse(t *testing.T) {
	const key = "sk-planted-0123456789"
	for _, test := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"anthropic", map[string]string{"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": "localhost:8080"}, "ANTHROPIC_BASE_URL"},
		{"azure", map[string]string{"AZURE_OPENAI_API_KEY": key, "AZURE_OPENAI_ENDPOINT": "mine.openai.azure.com"}, "AZURE_OPENAI_ENDPOINT"},
		{"ollama", map[string]string{"OLLAMA_HOST": "localhost:8080"}, ""},
		{"github", map[string]string{"GITHUB_TOKEN": key, "GITHUB_MODELS_BASE_URL": "https://example.com"}, "GITHUB_MODELS_TOKEN"},
	} {
		if p := provided(t, registry(t, test.env), test.name); p.Set != test.want || p.Usable != (test.name == "ollama") {
			t.Errorf("%s: usable %v, %s", test.name, p.Usable, p.Why)
		}
	}
}

// A model is listed wherever the configuration names it, whether or not the catalog has it.
func TestModelsThatAreNamedAreListed(t *testing.T) {
	r := New(Options{
		Getenv: func(string) string { return "" }, Named: []string{"pool", "ollama/role@high"},
		Pools: map[string][]string{"pool": {"ollama/member", "offline/rules"}},
	})
	var got []string
	for m := range r.All() {
		if m.Provider == "ollama" || m.Provider == "offline" {
			got = append(got, m.Ref())
		}
	}
	if want := []string{"offline/rules", "ollama/member", "ollama/role"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// There is a model to try out every provider with that the catalog knows.
func TestAModelToTry(t *testing.T) {
	r := registry(t, nil)
	if ref, ok := r.ModelOf("anthropic"); ref != "anthropic/claude-sonnet-5-5" || !ok {
		t.Errorf("got %q", ref)
	}
	for _, name := range []string{"vertex", "bedrock", "github"} {
		if ref, ok := r.ModelOf(name); !ok {
			t.Errorf("%s: none", name)
		} else if _, err := ParseRef(ref); err != nil {
			t.Error(err)
		}
	}
	if ref, ok := r.ModelOf("unknown"); ok {
		t.Errorf("got %q", ref)
	}
}
