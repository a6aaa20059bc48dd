package e2e_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// way is one way to a model: the settings that a person needs for it.
type way struct {
	name     string // of the provider, unless provider is set
	provider string
	model    string
	protocol modelserver.Protocol
	env      func(p *project, url string) []string
	key      string // the key that the server accepts; empty: it wants none
	secrets  []string
	server   modelserver.Config
	thinks   bool // the reasoning of a turn must go back to the server with the turn's calls
	like     bool // an earlier way has the same protocol
}

// takes reports whether case i of a matrix runs for way number n. Anthropic takes every case. Each other way takes a diagonal, so that
// another protocol meets each case, too.
func (w way) takes(n, i int) bool {
	switch {
	case w.name == "anthropic":
		return true
	case w.like:
		return sample.Takes(n+i, 12, 12)
	default:
		return sample.Takes(n+i, 4, 5)
	}
}

// ref is what --model takes.
func (w way) ref() string { return w.of() + "/" + w.model }

// of is the name of the provider.
func (w way) of() string {
	if w.provider != "" {
		return w.provider
	}
	return w.name
}

// serve starts the server of a way with a script, and sets in p what a person would set.
func (w way) serve(p *project, opts ...modelserver.Option) *modelserver.Server {
	p.t.Helper()
	c := w.server
	if w.key != "" {
		c.Keys = []string{w.key}
	}
	srv := modelserver.New(p.t, append([]modelserver.Option{modelserver.With(c)}, opts...)...)
	w.use(p, srv.URL)
	return srv
}

// use sets in p what a person would set to reach a server at url.
func (w way) use(p *project, url string) {
	p.env = append(p.env, w.env(p, url)...)
	p.secrets = append(p.secrets, w.secrets...)
	if w.key != "" {
		p.secrets = append(p.secrets, w.key)
	}
}

// vars is an environment whose values may have URL in them.
func vars(pairs ...string) func(*project, string) []string {
	return func(_ *project, url string) []string {
		var all []string
		for _, pair := range pairs {
			all = append(all, strings.ReplaceAll(pair, "URL:", url))
		}
		return all
	}
}

// ways is every way that the documentation names, with nothing set beyond what it names.
func ways() []way {
	const (
		key      = "sk-e2e-0123456789abcdefghij"
		awsID    = "AKIAE2E0123456789ABC"
		awsOwn   = "e2eSecretAccessKey/0123456789abcdefghij+"
		region   = "AWS_REGION=us-east-1"
		claude   = "us.anthropic.claude-sonnet-4-6"
		endpoint = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME=URL:"
	)
	return []way{
		{
			name: "anthropic", model: "claude-sonnet-4-6", protocol: modelserver.Anthropic, key: key, thinks: true,
			env: vars("ANTHROPIC_API_KEY="+key, "ANTHROPIC_BASE_URL=URL:"),
		},
		{
			name: "openai-responses", model: "gpt-5.4", protocol: modelserver.OpenAIResponses, key: key, thinks: true,
			env: vars("OPENAI_API_KEY="+key, "OPENAI_BASE_URL=URL:/v1"),
		},
		{
			name: "openai", model: "gpt-5.4", protocol: modelserver.OpenAIChat, key: key,
			env: vars("OPENAI_API_KEY="+key, "OPENAI_BASE_URL=URL:/v1"),
		},
		{
			name: "openrouter", like: true, model: "anthropic/claude-sonnet-4.6", protocol: modelserver.OpenAIChat, key: key, thinks: true,
			env:    vars("OPENROUTER_API_KEY="+key, "OPENROUTER_BASE_URL=URL:/api/v1"),
			server: modelserver.Config{Reasoning: modelserver.ReasoningDetails, Comments: true, Rules: modelserver.Rules{Extra: []string{"usage", "reasoning", "reasoning_details", "cache_control"}}},
		},
		{
			name: "ollama", model: "qwen3:8b", protocol: modelserver.Ollama, thinks: true,
			env: vars("OLLAMA_HOST=URL:"),
		},
		{
			name: "azure-chat", like: true, model: "gpt-5.4", protocol: modelserver.OpenAIChat, key: key,
			env: vars("AZURE_OPENAI_API_KEY="+key, "AZURE_OPENAI_ENDPOINT=URL:"),
		},
		{
			name: "azure", like: true, model: "gpt-5.4", protocol: modelserver.OpenAIResponses, key: key, thinks: true,
			env: vars("AZURE_OPENAI_API_KEY="+key, "AZURE_OPENAI_ENDPOINT=URL:"),
		},
		{
			name: "gemini", model: "gemini-3.5-flash", protocol: modelserver.Gemini, key: key, thinks: true,
			env:    vars("GEMINI_API_KEY="+key, "GOOGLE_GEMINI_BASE_URL=URL:"),
			server: modelserver.Config{Rules: modelserver.Rules{ThoughtSignatures: true}},
		},
		{
			name: "vertex-gemini", like: true, provider: "vertex", model: "gemini-3.5-flash", protocol: modelserver.GeminiVertex,
			key: googleToken, env: serviceAccount, secrets: []string{serviceKey()[100:160]}, thinks: true,
			server: modelserver.Config{Rules: modelserver.Rules{ThoughtSignatures: true}},
		},
		{
			name: "vertex-claude", like: true, provider: "vertex", model: "claude-sonnet-4-6", protocol: modelserver.AnthropicVertex,
			key: googleToken, env: serviceAccount, secrets: []string{serviceKey()[100:160]}, thinks: true,
		},
		{
			name: "bedrock", model: claude, protocol: modelserver.Bedrock, key: awsID, secrets: []string{awsOwn}, thinks: true,
			env:    vars("AWS_ACCESS_KEY_ID="+awsID, "AWS_SECRET_ACCESS_KEY="+awsOwn, region, endpoint),
			server: modelserver.Config{Secret: awsOwn},
		},
		{
			name: "bedrock-token", like: true, provider: "bedrock", model: claude, protocol: modelserver.Bedrock, key: key, thinks: true,
			env: vars("AWS_BEARER_TOKEN_BEDROCK="+key, region, endpoint),
		},
	}
}

// wayOf returns the way of a name.
func wayOf(t testing.TB, name string) way {
	t.Helper()
	for _, w := range ways() {
		if w.name == name {
			return w
		}
	}
	t.Fatalf("there is no way called %s", name)
	return way{}
}

// googleToken is the access token that the token server of the tests gives.
const googleToken = "ya29.e2e-0123456789abcdefghij"

// serviceKey is the private key of a service account, made once.
var serviceKey = sync.OnceValue(func() string {
	const bits = 2048
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
})

// serviceAccount sets what a service account of Google Cloud needs. Its tokens come from a server of the test.
func serviceAccount(p *project, url string) []string {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"` + googleToken + `","token_type":"Bearer","expires_in":3600}`))
	}))
	p.t.Cleanup(tokens.Close)
	return accountOf(p, tokens.URL, url)
}

// accountOf sets the same with tokens from a given server.
func accountOf(p *project, tokens, url string) []string {
	data, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "e2e-project", "private_key_id": "k1", "private_key": serviceKey(),
		"client_email": "e2e@e2e-project.iam.gserviceaccount.com", "client_id": "1", "token_uri": tokens + "/token",
	})
	if err != nil {
		p.t.Fatal(err)
	}
	file := filepath.Join(p.home, "account.json")
	p.write(file, string(data))
	return []string{
		"GOOGLE_APPLICATION_CREDENTIALS=" + file, "GOOGLE_CLOUD_PROJECT=e2e-project", "GOOGLE_VERTEX_BASE_URL=" + url,
	}
}
