package openai

import (
	"net/http"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

func TestAzureURL(t *testing.T) {
	const base = "https://name.openai.azure.com"
	for _, tt := range []struct{ version, base, path, want string }{
		{"", base, "chat/completions", base + "/openai/v1/chat/completions"},
		{"v1", base + "/", "responses", base + "/openai/v1/responses"},
		{"preview", base, "responses", base + "/openai/v1/responses?api-version=preview"},
		{"2024-10-21", base, "chat/completions", base + "/openai/deployments/my%20model/chat/completions?api-version=2024-10-21"},
		{"2025-04-01-preview", base, "responses", base + "/openai/responses?api-version=2025-04-01-preview"},
		{"", base + "/openai", "responses", base + "/openai/v1/responses"},
		{"", base + "/openai/v1/", "responses", base + "/openai/v1/responses"},
		{"2024-10-21", base + "/openai/deployments/other", "chat/completions", base + "/openai/deployments/other/chat/completions?api-version=2024-10-21"},
		{"2024-10-21", base + "?api-version=x&a=b", "responses", base + "/openai/responses?api-version=x&a=b"},
		{"2024-10-21", base + "?a=b", "responses", base + "/openai/responses?a=b&api-version=2024-10-21"},
		{"", "https://gateway.test/azure", "responses", "https://gateway.test/azure/openai/v1/responses"},
	} {
		a := (&Azure{APIVersion: tt.version}).of(llm.Model{ID: "my model"})
		if got := a.url(tt.base, tt.path); got != tt.want {
			t.Errorf("%+v: got %s", tt, got)
		}
	}
}

func TestPlainURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.openai.com/v1":      "https://api.openai.com/v1/responses",
		"http://localhost:8080":          "http://localhost:8080/v1/responses",
		"http://localhost:8080/":         "http://localhost:8080/v1/responses",
		"https://api.z.ai/api/paas/v4/":  "https://api.z.ai/api/paas/v4/responses",
		"https://gateway.test/v1?team=a": "https://gateway.test/v1/responses?team=a",
	} {
		if got := (*Azure)(nil).url(base, "responses"); got != want {
			t.Errorf("%s: got %s", base, got)
		}
	}
}

func TestAzureNames(t *testing.T) {
	model := llm.Model{ID: "gpt-5"}
	if got := (&Azure{Deployment: "mine"}).of(model).model("gpt-5"); got != "mine" {
		t.Errorf("got %s", got)
	}
	if got := (&Azure{}).of(model).model("gpt-5"); got != "gpt-5" {
		t.Errorf("got %s", got)
	}
	if got := (*Azure)(nil).of(model).model("gpt-5"); got != "gpt-5" {
		t.Errorf("got %s", got)
	}
}

func TestAzureAuthorize(t *testing.T) {
	for _, tt := range []struct {
		azure       *Azure
		key         string
		name, value string
	}{
		{nil, "k", "Authorization", "Bearer k"},
		{&Azure{}, "k", "Api-Key", "k"},
		{nil, "", "Authorization", ""},
		{&Azure{}, "", "Api-Key", ""},
	} {
		e := wire.Endpoint{Key: tt.key}
		if h := tt.azure.authorize(&e); h.Get(tt.name) != tt.value || len(h) > 1 {
			t.Errorf("%+v: got %v", tt, h)
		}
		e.Authorize = func(*http.Request, []byte) error { return nil }
		if h := tt.azure.authorize(&e); len(h) > 0 {
			t.Errorf("%+v: got %v together with another proof", tt, h)
		}
	}
}
