package models_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/models"
)

// local is a server with fixed answers by method and path. It notes the requests.
func local(t *testing.T, answers map[string]string) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		*asked = append(*asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		text, ok := answers[r.Method+" "+r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

// Each local server says what window it gives to a model, in its own way.
func TestMeasure(t *testing.T) {
	show := `{"parameters":"stop \"x\"\nnum_ctx                        20000","model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
	plain := `{"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`
	for _, test := range []struct {
		name, provider string
		answers        map[string]string
		context        int
		warning        string // part of the only warning
		fails          bool
	}{
		{"vllm", "vllm", map[string]string{"GET /v1/models": `{"data":[{"id":"m","max_model_len":32768}]}`}, 32768, "", false},
		{"vllm, small", "vllm", map[string]string{"GET /v1/models": `{"data":[{"id":"m","max_model_len":12000}]}`}, 12000, "restart vLLM with --max-model-len 32768", false},
		{
			"lm studio, loaded", "lmstudio",
			map[string]string{"GET /api/v0/models": `{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":4096}]}`},
			4096, "load the model again with: lms load m --context-length 32768", true,
		},
		{"lm studio, not loaded", "lmstudio", map[string]string{"GET /api/v0/models": `{"data":[{"id":"m","state":"not-loaded","max_context_length":131072}]}`}, 131072, "", false},
		{"llama.cpp", "llamacpp", map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":24576}}`}, 24576, "", false},
		{"llama.cpp, too small", "llamacpp", map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":4096}}`}, 4096, "--ctx-size 32768", true},
		{"ollama, loaded", "ollama", map[string]string{"GET /api/ps": `{"models":[{"name":"m:latest","context_length":65536}]}`, "POST /api/show": show}, 40960, "", false},
		{"ollama, with a parameter", "ollama", map[string]string{"GET /api/ps": `{"models":[]}`, "POST /api/show": show}, 20000, "", false},
		{"ollama, too small", "ollama", map[string]string{"GET /api/ps": `{"models":[{"name":"m:latest","context_length":4096}]}`, "POST /api/show": plain}, 32768, "", false},
		{"ollama, not loaded", "ollama", map[string]string{"GET /api/ps": `{"models":[]}`, "POST /api/show": plain}, 32768, "", false},
		{"a small model", "ollama", map[string]string{
			"GET /api/ps": `{"models":[{"name":"m:latest","context_length":2048}]}`, "POST /api/show": `{"model_info":{"general.architecture":"a","a.context_length":2048}}`,
		}, 2048, "choose another one", true},
		{"nonsense", "vllm", map[string]string{"GET /v1/models": `{"data":[{"id":"m","max_model_len":-5},{"id":"m","max_model_len":99999999999}]}`}, models.AssumedContext, "", false},
		{"no JSON", "lmstudio", map[string]string{"GET /api/v0/models": `<html>`}, models.AssumedContext, "", false},
		{"wrong types", "ollama", map[string]string{
			"GET /api/ps":    `{"models":[{"name":"m","context_length":40000}]}`,
			"POST /api/show": `{"parameters":"num_ctx a\nnum_ctx","model_info":{"general.architecture":7,".context_length":"x"}}`,
		}, 40000, "", false},
		{"none of these", "vllm", nil, models.AssumedContext, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			url, _ := local(t, test.answers)
			r := setup(t, "", strings.ToUpper(test.provider)+"_BASE_URL", url+"/v1")
			warnings, err := r.Measure(t.Context(), test.provider+"/m@low")
			if all := strings.Join(warnings, "; "); len(warnings) > 1 || (all != "") != (test.warning != "") || !strings.Contains(all, test.warning) {
				t.Errorf("warnings %q", warnings)
			}
			if _, ok := errors.AsType[*models.UnavailableError](err); ok != test.fails || err != nil && !strings.Contains(err.Error(), test.warning) {
				t.Errorf("error %v", err)
			}
			c, err := r.Choose(test.provider + "/m")
			if err != nil {
				t.Fatal(err)
			}
			if m := c.Client.Model(); m.Context != test.context {
				t.Errorf("the window is %d, want %d", m.Context, test.context)
			}
		})
	}
}

func TestMeasureAsksOnlyWhatIsUnknown(t *testing.T) {
	url, asked := local(t, nil)
	config := fmt.Sprintf(`{"models": {"ollama/m": {"context": 9000}}, "pools": {"both": ["ollama/m", "own/m"]},
		"providers": {"own": {"base_url": %q, "profile": "vllm", "api_key": "k-123456"}}}`, url+"/v1")
	r := setup(t, config, "OLLAMA_HOST", url, "ANTHROPIC_API_KEY", "k-123456")
	for _, name := range []string{"ollama/m", "anthropic/claude-sonnet-4-6", "offline", "no-such-pool", "nobody/m"} {
		if warnings, err := r.Measure(t.Context(), name); len(warnings) > 0 || err != nil || len(*asked) > 0 {
			t.Errorf("%s: %q, %v, asked %q", name, warnings, err, *asked)
		}
	}
	if _, err := r.Measure(t.Context(), "both"); err != nil || !slices.Equal(*asked, []string{"GET /v1/models"}) {
		t.Errorf("%v, asked %q", err, *asked)
	}
}

// A search for servers says their windows, and loads no model.
func TestMeasureFound(t *testing.T) {
	url, asked := local(t, map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"a"},{"id":"b"}]}`, "GET /api/ps": `{"models":[{"name":"a:latest","context_length":4096}]}`,
		"POST /api/show": `{"model_info":{"general.architecture":"x","x.context_length":40960}}`,
	})
	r := setup(t, "", "OLLAMA_HOST", url, "LMSTUDIO_BASE_URL", "http://127.0.0.1:1/v1", "LLAMACPP_BASE_URL", "http://127.0.0.1:1/v1", "VLLM_BASE_URL", "http://127.0.0.1:1/v1")
	found, small := r.MeasureFound(t.Context(), r.Discover(t.Context()))
	if len(found) != 1 || found[0].Windows["a"] != (models.Window{Tokens: 4096, Most: 40960}) || found[0].Windows["b"] != (models.Window{Most: 40960}) {
		t.Fatalf("found %+v", found)
	}
	if slices.Contains(*asked, "POST /api/generate") {
		t.Error("it loads a model")
	}
	if len(small) > 0 { // requests give the model a larger one
		t.Errorf("got %q", small)
	}
}

// Every model has a context window. One that is assumed says so.
func TestEveryModelHasAWindow(t *testing.T) {
	assumed := map[string]bool{}
	for m := range setup(t, "").All() {
		if m.Context <= 0 {
			t.Errorf("%s has no context window", m.Ref())
		}
		assumed[m.Ref()] = m.Assumed
	}
	if !assumed["xai/grok-4.3"] || assumed["openai/gpt-4o"] {
		t.Error("the assumption is wrong about grok-4.3 or gpt-4o")
	}
}

// Whatever a server answers, the window is a number that makes sense.
func FuzzMeasure(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"id":"m","max_model_len":1e300}]}`, `{"default_generation_settings":{"n_ctx":true}}`, `{"models":[{"name":"m:latest","context_length":4096}]}`,
		`{"parameters":"num_ctx 9","model_info":{"general.architecture":"a","a.context_length":-1e300}}`, "[]", "null", "",
	} {
		f.Add(seed)
	}
	var answer string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) }))
	f.Cleanup(srv.Close)
	f.Fuzz(func(t *testing.T, data string) {
		answer = data
		url := srv.URL + "/v1"
		r := setup(t, "", "OLLAMA_HOST", url, "LMSTUDIO_BASE_URL", url, "LLAMACPP_BASE_URL", url, "VLLM_BASE_URL", url)
		for _, provider := range []string{"ollama", "lmstudio", "llamacpp", "vllm"} {
			_, _ = r.Measure(t.Context(), provider+"/m")
			if c, err := r.Choose(provider + "/m"); err != nil || c.Client.Model().Context <= 0 {
				t.Errorf("%s: %v", provider, err)
			}
		}
	})
}
