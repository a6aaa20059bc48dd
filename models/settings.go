package models

import (
	"encoding/json"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/redact"
)

// Provider is the settings of a server or a family of servers. All fields are optional: a built-in provider needs only the settings that
// differ. The tags of its fields are the documentation of the configuration file.
type Provider struct {
	Protocol   Protocol                `json:"protocol" doc:"The protocol of the server."`
	Profile    string                  `json:"profile" is:"profile" doc:"The built-in provider that this one behaves like."`
	BaseURL    redact.Value            `json:"base_url" is:"url" doc:"The base URL of the server, without the paths of the protocol."`
	APIKey     redact.Value            `json:"api_key" is:"secret" doc:"The key, preferably as a reference: $NAME or $(command)."`
	APIKeys    []Key                   `json:"api_keys" doc:"Several keys, instead of api_key. If one is exhausted, Tenon uses the next one."`
	Headers    map[string]redact.Value `json:"headers" is:"secret" keys:"header" doc:"Headers of every request."`
	Proxy      redact.Value            `json:"proxy" is:"proxy" doc:"The proxy for this provider: http, https, socks5 or socks5h."`
	Project    redact.Value            `json:"project" is:"text" doc:"The project of the cloud account."`
	Region     redact.Value            `json:"region" is:"text" doc:"The region of the cloud account."`
	Location   redact.Value            `json:"location" is:"text" doc:"The location of the cloud account; Vertex calls it a region."`
	APIVersion redact.Value            `json:"api_version" is:"text" doc:"The version of the API, if the protocol has one."`
	Timeouts   Timeouts                `json:"timeouts" doc:"Timeouts for silence of the server."`
	Retry      Retry                   `json:"retry" doc:"How often to retry a failed request."`
	Models     map[string]Facts        `json:"models" keys:"id" doc:"Facts about models of this provider, by the provider's name for them."`
}

// Key is one of several keys of a provider.
type Key struct {
	Name string       `json:"name" is:"name" doc:"The name of the key in messages. Default: its position in the list, from 1."`
	Key  redact.Value `json:"key" is:"secret" doc:"The key, preferably as a reference: $NAME or $(command)."`
}

// Timeouts limit the silence of a server. Nil is the default, zero is no limit.
type Timeouts struct {
	FirstByte *time.Duration `json:"first_byte" min:"0" doc:"From the request to the first byte of the answer, such as 120s. 0: no limit."`
	Idle      *time.Duration `json:"idle" min:"0" doc:"Between two bytes of an answer, such as 60s. 0: no limit."`
}

// Retry says how to retry a failed request. Nil is the default.
type Retry struct {
	Retries  *int           `json:"retries" min:"0" max:"100" doc:"Retries after the first attempt. 0: none."`
	Delay    *time.Duration `json:"delay" min:"0" doc:"The wait before the first retry; it doubles each time."`
	MaxDelay *time.Duration `json:"max_delay" min:"0" doc:"The longest wait."`
}

// Facts describe a model. Facts that are set win over the catalog: see [Facts.Apply].
type Facts struct {
	Context   int                `json:"context" min:"1" doc:"The most tokens of a request and its answer together."`
	MaxOutput int                `json:"max_output" min:"1" doc:"Tokens of the longest answer."`
	Images    *bool              `json:"images" doc:"Whether it can see images."`
	Documents *bool              `json:"documents" doc:"Whether it can read documents."`
	NoTools   *bool              `json:"no_tools" doc:"Whether it cannot call tools."`
	Price     Price              `json:"price" doc:"US dollars for a million tokens."`
	Thinks    []llm.Thinks       `json:"thinks" doc:"Its thinking levels."`
	Thinking  llm.Thinks         `json:"thinking" doc:"Its thinking level if a request names none. default: whatever the provider does."`
	Quirks    []llm.Quirk        `json:"quirks" doc:"Where it differs from other models of the same protocol."`
	Variants  map[string]Request `json:"variants" keys:"variant" doc:"Named ways to ask it, chosen by provider/model@variant."`
}

// Price is in US dollars for a million tokens of each kind; nil is not set.
type Price struct {
	Input      *float64 `json:"input" min:"0" doc:"Tokens of the request that come from no cache."`
	Output     *float64 `json:"output" min:"0" doc:"Tokens of the answer, including reasoning."`
	CacheRead  *float64 `json:"cache_read" min:"0" doc:"Tokens read from the cache."`
	CacheWrite *float64 `json:"cache_write" min:"0" doc:"Tokens written to the cache."`
}

// Request has the fields of [llm.Settings] and converts to it. Zero is not set.
type Request struct {
	Schema      json.RawMessage `json:"-"` // not of the configuration
	MaxTokens   int             `json:"max_tokens" min:"1" doc:"Maximum length of an answer, in tokens. Default: the model's maximum."`
	Temperature *float64        `json:"temperature" min:"0" max:"2" doc:"Sampling temperature. Default: the provider's."`
	Thinking    llm.Thinks      `json:"thinking" doc:"How much the model may reason before it answers. default: whatever the provider does. Default: the level of the model for coding; tenon models shows it."`
	Cache       llm.CachePolicy `json:"cache" is:"cache" doc:"Positions of marks for the provider's prompt cache: auto, off, or some of system, tools and messages, separated by commas."`
}

// Protocol is the protocol of a server.
type Protocol string

// The protocols.
const (
	Anthropic       Protocol = "anthropic"        // Messages
	OpenAIChat      Protocol = "openai-chat"      // Chat Completions
	OpenAIResponses Protocol = "openai-responses" // Responses
	Ollama          Protocol = "ollama"           // the native protocol of Ollama
	Gemini          Protocol = "gemini"           // the Gemini API
	Vertex          Protocol = "vertex"           // Gemini on Vertex AI
	VertexAnthropic Protocol = "vertex-anthropic" // Messages on Vertex AI
	Bedrock         Protocol = "bedrock"          // ConverseStream
	AzureChat       Protocol = "azure-chat"       // Chat Completions on Azure
	AzureResponses  Protocol = "azure-responses"  // Responses on Azure
)

// Protocols returns all protocols.
func Protocols() []Protocol {
	return []Protocol{Anthropic, OpenAIChat, OpenAIResponses, Ollama, Gemini, Vertex, VertexAnthropic, Bedrock, AzureChat, AzureResponses}
}

// Keys returns the configured keys of the provider, the preferred one first, each with a name.
func (p Provider) Keys() []Key {
	if p.APIKey.IsSet() {
		return []Key{{Name: "1", Key: p.APIKey}}
	}
	return p.APIKeys
}

// Apply returns m with the facts that are set.
func (f Facts) Apply(m llm.Model) llm.Model {
	over(&m.Context, f.Context != 0, &f.Context)
	over(&m.MaxOutput, f.MaxOutput != 0, &f.MaxOutput)
	over(&m.Images, f.Images != nil, f.Images)
	over(&m.Documents, f.Documents != nil, f.Documents)
	over(&m.NoTools, f.NoTools != nil, f.NoTools)
	over(&m.Price.Input, f.Price.Input != nil, f.Price.Input)
	over(&m.Price.Output, f.Price.Output != nil, f.Price.Output)
	over(&m.Price.CacheRead, f.Price.CacheRead != nil, f.Price.CacheRead)
	over(&m.Price.CacheWrite, f.Price.CacheWrite != nil, f.Price.CacheWrite)
	if in, out := f.Price.Input, f.Price.Output; in != nil && out != nil {
		m.Price.Free = *in == 0 && *out == 0
	}
	over(&m.Thinks, f.Thinks != nil, &f.Thinks)
	over(&m.Thinking, f.Thinking != "", &f.Thinking)
	over(&m.Quirks, f.Quirks != nil, &f.Quirks)
	return m
}

func over[T any](dst *T, set bool, with *T) {
	if set {
		*dst = *with
	}
}
