package models

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm/openai"
)

// provider has the built-in facts about a provider.
type provider struct {
	name     string
	title    string // for people
	protocol Protocol
	profile  string   // of package openai, for Chat Completions
	keys     []string // environment variables that may hold its key, the usual one first
	homeKeys []string // the same, for its own server only: such a token gives access to more
	urls     []string // environment variables that may hold its base URL
	local    bool     // runs on this machine, and needs no key
	port     int      // its default port
	home     bool     // it has a server of its own and needs no base URL
	cloud    string   // the cloud whose credentials replace a key
	model    string   // the default model; empty: Tenon never chooses this provider by itself
}

// builtin returns the built-in providers in the order of their choice.
func builtin() []provider {
	all := []provider{
		{
			name: "anthropic", title: "Anthropic", protocol: Anthropic, model: "claude-sonnet-5-5",
			home: true, keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"}, urls: []string{"ANTHROPIC_BASE_URL"},
		},
		{
			name: "openai", title: "OpenAI", model: "gpt-6.2-sol", profile: "openai", // its address decides the protocol
			home: true, keys: []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL"},
		},
		{
			name: "openai-responses", title: "OpenAI, Responses", protocol: OpenAIResponses,
			home: true, keys: []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL"},
		},
		{
			name: "openai-chat", title: "OpenAI, Chat Completions", protocol: OpenAIChat, profile: "openai",
			home: true, keys: []string{"OPENAI_API_KEY"}, urls: []string{"OPENAI_BASE_URL"},
		},
		{
			name: "gemini", title: "Google Gemini", protocol: Gemini, model: "gemini-3.8-flash",
			home: true, keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, urls: []string{"GOOGLE_GEMINI_BASE_URL"},
		},
		{name: "vertex", title: "Google Vertex AI", protocol: Vertex, cloud: "Google Cloud", home: true, urls: []string{"GOOGLE_VERTEX_BASE_URL"}},
		{
			name: "bedrock", title: "Amazon Bedrock", protocol: Bedrock, cloud: "AWS", home: true,
			keys: []string{"AWS_BEARER_TOKEN_BEDROCK"}, urls: []string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"},
		},
		azure("azure", "Azure OpenAI", AzureResponses),
		azure("azure-chat", "Azure OpenAI, Chat Completions", AzureChat),
		azure("azure-responses", "Azure OpenAI, Responses", AzureResponses),
	}
	for p := range openai.Profiles() {
		if slices.ContainsFunc(all, func(b provider) bool { return b.name == p.Name }) {
			continue
		}
		protocol := OpenAIChat
		if p.Name == "ollama" {
			protocol = Ollama
		}
		all = append(all, provider{
			name: p.Name, title: p.Title, protocol: protocol, profile: p.Name,
			keys: p.KeyVars, homeKeys: p.HomeKeyVars, urls: p.BaseURLVars, local: p.Local, port: p.Port, home: p.BaseURL != "",
			model: firstModels[p.Name],
		})
	}
	return all
}

func azure(name, title string, p Protocol) provider {
	return provider{
		name: name, title: title, protocol: p, profile: "azure",
		keys: []string{"AZURE_OPENAI_API_KEY"}, urls: []string{"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL"},
	}
}

// firstModels are the default models of providers. A provider whose usual variable often has other purposes, such as a token of a code host,
// has none.
var firstModels = map[string]string{
	"openrouter": "anthropic/claude-sonnet-4.6",
	"xai":        "grok-4.5",
	"mistral":    "devstral-2512",
	"deepseek":   "deepseek-chat",
	"groq":       "openai/gpt-oss-120b",
	"cerebras":   "gpt-oss-120b",
	"moonshot":   "kimi-k2.7-code",
	"zai":        "glm-5.1",
	"together":   "moonshotai/Kimi-K2.6",
	"fireworks":  "accounts/fireworks/models/kimi-k2p6",
	"vercel":     "anthropic/claude-sonnet-4.6",
}

// variable returns the name of an environment variable of a provider, such as VLLM_BASE_URL.
func variable(provider, what string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(provider)) + "_" + what
}

// Names returns the names of the built-in providers.
func Names() []string {
	names := []string{offlineName}
	for _, p := range builtin() {
		names = append(names, p.name)
	}
	return names
}
