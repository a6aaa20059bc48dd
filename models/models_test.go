package models_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

// setup makes a registry of a configuration and an environment of pairs.
func setup(t *testing.T, file string, pairs ...string) *models.Registry {
	t.Helper()
	dir := t.TempDir()
	if file != "" {
		if err := os.WriteFile(filepath.Join(dir, "tenon.json"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string {
		if i := slices.Index(pairs, name); i >= 0 && i%2 == 0 {
			return pairs[i+1]
		}
		return ""
	}
	c, err := config.Load(config.Options{Dir: dir, Getenv: getenv, Providers: models.Names()})
	if err != nil {
		t.Fatal(err)
	}
	return models.New(models.Options{Providers: c.Providers, Models: c.Models, Pools: c.Pools, Keys: keys.Open(dir, keys.Options{Getenv: func(n string) string {
		if n == "TENON_KEYRING" {
			return "off"
		}
		return getenv(n)
	}}), Getenv: getenv, Version: "v1"})
}

// Each name speaks its protocol, with the key and the address from the usual variables.
func TestEveryProviderIsAskedInItsWay(t *testing.T) {
	for _, test := range []struct {
		ref  string
		vars []string // SERVER stands for the server's address
		want modelserver.Protocol
		path string
		key  string
	}{
		{"anthropic/claude-sonnet-4-5", []string{"ANTHROPIC_API_KEY", "k-123456", "ANTHROPIC_BASE_URL", "SERVER"}, modelserver.Anthropic, "/v1/messages", "k-123456"},
		{"anthropic/claude-sonnet-4-5", []string{"ANTHROPIC_AUTH_TOKEN", "k-123456", "ANTHROPIC_BASE_URL", "SERVER/v1/"}, modelserver.Anthropic, "/v1/messages", "k-123456"},
		{"openai/gpt-4o", []string{"OPENAI_API_KEY", "k-123456", "OPENAI_BASE_URL", "SERVER/v1"}, modelserver.OpenAIChat, "/v1/chat/completions", "k-123456"},
		{"openai-responses/gpt-4o", []string{"OPENAI_API_KEY", "k-123456", "OPENAI_BASE_URL", "SERVER/v1"}, modelserver.OpenAIResponses, "/v1/responses", "k-123456"},
		{"openai-chat/gpt-4o", []string{"OPENAI_API_KEY", "k-123456", "OPENAI_BASE_URL", "SERVER/v1"}, modelserver.OpenAIChat, "/v1/chat/completions", "k-123456"},
		{"groq/openai/gpt-oss-120b", []string{"GROQ_API_KEY", "k-123456", "GROQ_BASE_URL", "SERVER/openai/v1"}, modelserver.OpenAIChat, "/openai/v1/chat/completions", "k-123456"},
		{"ollama/qwen3", []string{"OLLAMA_HOST", "SERVER"}, modelserver.Ollama, "/api/chat", ""},
		{"vllm/m", []string{"VLLM_BASE_URL", "SERVER/v1"}, modelserver.OpenAIChat, "/v1/chat/completions", ""},
		{"azure/gpt-4o", []string{"AZURE_OPENAI_API_KEY", "k-123456", "AZURE_OPENAI_ENDPOINT", "SERVER"}, modelserver.OpenAIResponses, "/openai/v1/responses", "k-123456"},
		{"azure-chat/gpt-4o", []string{"AZURE_OPENAI_API_KEY", "k-123456", "AZURE_OPENAI_ENDPOINT", "SERVER", "AZURE_OPENAI_API_VERSION", "2024-10-21"}, modelserver.OpenAIChat, "/openai/deployments/gpt-4o/chat/completions", "k-123456"},
		{"gemini/gemini-2.5-flash", []string{"GOOGLE_API_KEY", "k-123456", "GOOGLE_GEMINI_BASE_URL", "SERVER"}, modelserver.Gemini, "/v1beta/models/gemini-2.5-flash:streamGenerateContent", "k-123456"},
		{"vertex/gemini-2.5-flash", []string{"VERTEX_API_KEY", "k-123456", "VERTEX_BASE_URL", "SERVER", "GOOGLE_CLOUD_PROJECT", "p", "GOOGLE_CLOUD_LOCATION", "l"}, modelserver.GeminiVertex, "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:streamGenerateContent", "k-123456"},
		{"vertex/claude-sonnet-4-5@20250929", []string{"VERTEX_API_KEY", "k-123456", "VERTEX_BASE_URL", "SERVER", "GOOGLE_CLOUD_PROJECT", "p", "GOOGLE_CLOUD_LOCATION", "l"}, modelserver.AnthropicVertex, "/v1/projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict", "k-123456"},
		{"bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", []string{"AWS_BEARER_TOKEN_BEDROCK", "k-123456", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "SERVER", "AWS_REGION", "us-east-1"}, modelserver.Bedrock, "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream", "k-123456"},
	} {
		t.Run(test.ref+" "+test.vars[0], func(t *testing.T) {
			srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hello")))
			for i, v := range test.vars {
				test.vars[i] = strings.Replace(v, "SERVER", srv.URL, 1)
			}
			choice, err := setup(t, "", test.vars...).Choose(test.ref)
			if err != nil {
				t.Fatal(err)
			}
			m, err := llm.Collect(t.Context(), choice.Client, &llm.Request{Messages: []llm.Message{llm.UserText("hi")}})
			if err != nil || m.Text() != "hello" {
				t.Fatalf("got %q, %v", m.Text(), err)
			}
			got := srv.Requests()[0]
			if got.Protocol != test.want || got.Path != test.path || got.Key != test.key {
				t.Errorf("it was asked by %s at %s with %q", got.Protocol, got.Path, got.Key)
			}
			if agent := got.Header.Get("User-Agent"); agent != "tenon/1" {
				t.Errorf("user agent %q", agent)
			}
			if choice.Models[0].Ref() != test.ref || choice.Client.Model().Ref() != test.ref {
				t.Errorf("the model is %s", choice.Models[0].Ref())
			}
		})
	}
}

func TestOpenAIItselfSpeaksResponses(t *testing.T) {
	for _, p := range setup(t, "", "OPENAI_API_KEY", "k").Providers() {
		if p.Name == "openai" && p.Protocol != "openai-responses" {
			t.Errorf("it speaks %s", p.Protocol)
		}
	}
}

func TestConfiguredProvider(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say("one"), modelserver.Say("two")))
	r := setup(t, `{
		"pools": {"mine": ["own/large@fast", "nokey/x"]},
		"providers": {
			"own": {"protocol": "anthropic", "base_url": "`+srv.URL+`", "api_key": "$(echo from-a-command)", "headers": {"X-Team": "blue"},
				"models": {"large": {"context": 1000, "max_output": 77, "price": {"input": 5, "output": 6}, "variants": {"fast": {"max_tokens": 50}}}}},
			"nokey": {"protocol": "openai-chat", "base_url": "http://127.0.0.1:1", "api_key": "$UNSET_VARIABLE"},
		},
	}`)
	choice, err := r.Choose("mine")
	if err != nil {
		t.Fatal(err)
	}
	if m := choice.Models[0]; m.Context != 1000 || m.Price.Output != 6 || len(choice.Models) != 2 {
		t.Errorf("models %+v", choice.Models)
	}
	answer, err := llm.Collect(t.Context(), choice.Client, &llm.Request{Messages: []llm.Message{llm.UserText("hi")}})
	if err != nil || answer.Text() != "one" || answer.Usage.Cost == 0 {
		t.Errorf("got %+v, %v", answer, err)
	}
	got := srv.Requests()[0]
	if got.Key != "from-a-command" || got.Header.Get("X-Team") != "blue" || got.MaxTokens != 50 {
		t.Errorf("key %q, header %q, max tokens %d", got.Key, got.Header.Get("X-Team"), got.MaxTokens)
	}
	broken, err := r.Choose("nokey/x")
	if err != nil {
		t.Fatal(err)
	}
	_, err = llm.Collect(t.Context(), broken.Client, &llm.Request{})
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindAuth || !strings.Contains(e.Error(), "UNSET_VARIABLE") {
		t.Errorf("an unset variable: %v", err)
	}
}

func TestKeysInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	store := keys.Open(dir, keys.Options{Getenv: func(string) string { return "off" }})
	k, err := keys.New("k-kept-0123456789")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Set(t.Context(), "groq", "spare", k); err != nil {
		t.Fatal(err)
	}
	srv := modelserver.New(t, modelserver.Steps(modelserver.Fail(429), modelserver.Say("hello")))
	env := map[string]string{"GROQ_API_KEY": "k-environment", "GROQ_BASE_URL": srv.URL + "/v1", "TENON_KEYRING": "off"}
	getenv := func(n string) string { return env[n] }
	var secrets []string
	r := models.New(models.Options{
		Keys: keys.Open(dir, keys.Options{Getenv: getenv}), Getenv: getenv,
		Secret: func(s string) { secrets = append(secrets, s) },
	})
	choice, err := r.Choose("groq/m")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.Collect(t.Context(), choice.Client, &llm.Request{Messages: []llm.Message{llm.UserText("hi")}}); err != nil {
		t.Fatal(err)
	}
	var used []string
	for _, q := range srv.Requests() {
		used = append(used, q.Key)
	}
	if want := []string{"k-environment", "k-kept-0123456789"}; !slices.Equal(used, want) || !slices.Equal(secrets, want) {
		t.Errorf("used %q, reported %q", used, secrets)
	}
	if got := r.KnownSecrets(); !slices.Contains(got, "k-environment") {
		t.Errorf("keys of the environment: %d", len(got))
	}
}

// Looking at what there is runs no command of the configuration: it may ask for a password, or be slow.
func TestLookingRunsNoCommand(t *testing.T) {
	ran := filepath.ToSlash(filepath.Join(t.TempDir(), "ran"))
	command := `"$(echo >` + ran + ` && echo http://127.0.0.1:1/v1)"`
	r := setup(t, `{"providers": {
		"github": {"base_url": `+command+`}, "groq": {"base_url": `+command+`, "proxy": `+command+`}, "own": {"base_url": `+command+`, "api_key": `+command+`},
	}}`, "GITHUB_TOKEN", "k", "GROQ_API_KEY", "k")
	r.Providers()
	r.KnownSecrets()
	for range r.All() {
	}
	if ref, _, ok := r.Default(); !ok || ref != "groq/openai/gpt-oss-120b" {
		t.Errorf("the default is %q", ref)
	}
	for _, name := range []string{"groq/x", "github/x", "own/x"} {
		if _, err := r.Choose(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a command ran")
	}
}

// A model keeps the name of its choice, so that a session resumes with the variant or the pool.
func TestAModelKeepsTheNameOfItsChoice(t *testing.T) {
	r := setup(t, `{"pools": {"main": ["anthropic/claude-sonnet-4-6"]}}`, "ANTHROPIC_API_KEY", "k")
	for name, want := range map[string]string{
		"main": "main", "anthropic/claude-sonnet-4-6@high": "anthropic/claude-sonnet-4-6@high", "anthropic/claude-sonnet-4-6": "",
	} {
		c, err := r.Choose(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := c.Client.Model(); m.Reference != want || m.Ref() != "anthropic/claude-sonnet-4-6" {
			t.Errorf("%s: reference %q of %s", name, m.Reference, m.Ref())
		}
	}
}

func TestNamesThatMeanNothing(t *testing.T) {
	r := setup(t, `{"pools": {"main": ["openai/gpt-5"]}}`, "ANTHROPIC_API_KEY", "k")
	for name, want := range map[string]string{
		"antropic/x":         `did you mean "anthropic"?`,
		"":                   "tenon models",
		"openai":             "write openai/MODEL, such as openai/",
		"mian":               `did you mean "main"?`,
		"offline/x":          "offline/rules",
		"anthropic/x@bright": `default, high, low, max, medium, minimal, off, xhigh`,
	} {
		_, err := r.Choose(name)
		if _, ok := errors.AsType[*models.UnknownError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for name, want := range map[string]string{
		"openai/gpt-5": "set OPENAI_API_KEY, or run `tenon auth login openai`",
		"main":         "set OPENAI_API_KEY",
		"azure/x":      "set AZURE_OPENAI_",
		"bedrock/x":    "AWS_PROFILE",
		"vertex/x":     "gcloud auth application-default login",
	} {
		_, err := r.Choose(name)
		if _, ok := errors.AsType[*models.UnavailableError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"anthropic/x", "anthropic/x@high", "ollama/x", "offline", " offline/rules "} {
		if _, err := r.Choose(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestVariantsChangeTheRequest(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hello")))
	choice, err := setup(t, "", "OPENAI_API_KEY", "k-123456", "OPENAI_BASE_URL", srv.URL+"/v1").Choose("openai-responses/gpt-5@low")
	if err != nil {
		t.Fatal(err)
	}
	req := &llm.Request{Messages: []llm.Message{llm.UserText("hi")}, Settings: llm.Settings{Thinking: llm.ThinkHigh}}
	if _, err := llm.Collect(t.Context(), choice.Client, req); err != nil {
		t.Fatal(err)
	}
	if body := string(srv.Requests()[0].Body); !strings.Contains(body, `"effort":"low"`) || req.Thinking != llm.ThinkHigh {
		t.Errorf("the request was %s", body)
	}
}

// Every model that is chosen by itself is one that the catalog knows.
func TestTheDefaultsAreKnown(t *testing.T) {
	for _, p := range setup(t, "").Providers() {
		for _, v := range p.KeyVars {
			r := setup(t, "", v, "k-123456")
			ref, why, ok := r.Default()
			if !ok {
				continue
			}
			provider, id, _ := strings.Cut(ref, "/")
			if _, known := r.Catalog().Model(provider, id); !known {
				t.Errorf("%s leads to %s, which is not in the catalog", v, ref)
			}
			if !strings.Contains(why, v) {
				t.Errorf("%q does not name %s", why, v)
			}
		}
	}
}

// The token of a code host is not sent to another host that the configuration names instead.
func TestTokensStayAtHome(t *testing.T) {
	for _, p := range setup(t, "", "GITHUB_TOKEN", "k-123456", "GITHUB_BASE_URL", "http://elsewhere.example").Providers() {
		if p.Name == "github" && slices.Contains(p.Keys, "$GITHUB_TOKEN") {
			t.Errorf("%+v", p)
		}
	}
}

func TestDiscovery(t *testing.T) {
	srv := modelserver.New(t, modelserver.With(modelserver.Config{Models: []string{"qwen3:8b", "nomic-embed-text"}}))
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	defer page.Close()
	r := setup(t, "", "OLLAMA_HOST", strings.TrimPrefix(srv.URL, "http://"), "VLLM_BASE_URL", page.URL, "LMSTUDIO_BASE_URL", "http://127.0.0.1:1/v1", "LLAMACPP_BASE_URL", silent.URL)
	found := r.Discover(t.Context())
	if len(found) != 1 || found[0].Provider != "ollama" || !slices.Equal(found[0].Models, []string{"qwen3:8b"}) {
		t.Fatalf("found %+v", found)
	}
	if ref, why, ok := models.FirstFound(found); !ok || ref != "ollama/qwen3:8b" || !strings.Contains(why, srv.URL) {
		t.Errorf("first %q, %q, %v", ref, why, ok)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := r.Discover(ctx); len(found) != 0 {
		t.Errorf("cancelled: %+v", found)
	}
	if _, _, ok := models.FirstFound(nil); ok {
		t.Error("nothing was found, and yet there is a first")
	}
}

func TestListed(t *testing.T) {
	r := setup(t, `{"providers": {"own": {"base_url": "http://h", "models": {"m": {"context": 5}}}}, "models": {"groq/z": {"context": 6}}}`, "ANTHROPIC_API_KEY", "k")
	usable, all := 0, map[string]models.Listed{}
	last := ""
	for l := range r.All() {
		if l.Ref() <= last && l.Provider < last {
			t.Errorf("%s stands after %s", l.Ref(), last)
		}
		last = l.Provider
		all[l.Ref()] = l
		if l.Usable {
			usable++
		}
	}
	if l := all["own/m"]; !l.Usable || l.Context != 5 {
		t.Errorf("own/m: %+v", l)
	}
	if l := all["groq/z"]; l.Usable || l.Context != 6 || !strings.Contains(l.Why, "GROQ_API_KEY") {
		t.Errorf("groq/z: %+v", l)
	}
	if !all["offline/rules"].Usable || !all["anthropic/claude-sonnet-4-6"].Usable || usable > len(all)/2 {
		t.Errorf("%d of %d are usable", usable, len(all))
	}
}

func BenchmarkChoose(b *testing.B) {
	dir := b.TempDir()
	getenv := func(n string) string { return map[string]string{"ANTHROPIC_API_KEY": "k-123456"}[n] }
	b.ReportAllocs()
	for b.Loop() {
		c, err := config.Load(config.Options{Dir: dir, Getenv: getenv, Providers: models.Names()})
		if err != nil {
			b.Fatal(err)
		}
		r := models.New(models.Options{Providers: c.Providers, Keys: keys.Open(dir, keys.Options{Getenv: getenv}), Getenv: getenv})
		ref, _, _ := r.Default()
		if _, err := r.Choose(ref); err != nil {
			b.Fatal(err)
		}
	}
}
