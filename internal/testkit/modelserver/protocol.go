package modelserver

import (
	"net/http"
	"net/url"
	"strings"
)

// Protocol names what a request speaks. The values are stable: scripts and tests write them.
type Protocol string

// The protocols. Those on Vertex differ from their direct forms in path, authorization and a few fields.
const (
	Anthropic       Protocol = "anthropic"        // POST {prefix}/v1/messages
	AnthropicVertex Protocol = "anthropic-vertex" // POST {prefix}/publishers/anthropic/models/{model}:streamRawPredict, :rawPredict
	OpenAIChat      Protocol = "openai-chat"      // POST {prefix}/chat/completions
	OpenAIResponses Protocol = "openai-responses" // POST {prefix}/responses
	Gemini          Protocol = "gemini"           // POST {prefix}/v1beta/models/{model}:streamGenerateContent, :generateContent
	GeminiVertex    Protocol = "gemini-vertex"    // POST {prefix}/publishers/google/models/{model}:...
	Bedrock         Protocol = "bedrock"          // POST {prefix}/model/{model}/converse-stream, /converse
	Ollama          Protocol = "ollama"           // POST {prefix}/api/chat
)

// Protocols returns every protocol in a fixed order.
func Protocols() []Protocol {
	return []Protocol{Anthropic, AnthropicVertex, OpenAIChat, OpenAIResponses, Gemini, GeminiVertex, Bedrock, Ollama}
}

// target is what the URL of a request says.
type target struct {
	protocol Protocol
	model    string // when the path names it
	stream   bool   // when the path asks for a stream
	azure    bool
}

// route finds the protocol that a URL belongs to.
func route(u *url.URL) (target, bool) {
	path := u.EscapedPath()
	azure := strings.Contains(path, "/openai/deployments/") || u.Query().Has("api-version") || strings.Contains(u.Host, ".azure.com")
	switch {
	case strings.HasSuffix(path, "/v1/messages"):
		return target{protocol: Anthropic}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return target{protocol: OpenAIChat, azure: azure, model: deployment(path)}, true
	case strings.HasSuffix(path, "/responses"):
		return target{protocol: OpenAIResponses, azure: azure, model: deployment(path)}, true
	case strings.HasSuffix(path, "/api/chat"):
		return target{protocol: Ollama}, true
	}
	if _, rest, ok := strings.Cut(path, "/publishers/anthropic/models/"); ok {
		return verb(AnthropicVertex, rest, "rawPredict", "streamRawPredict")
	}
	if _, rest, ok := strings.Cut(path, "/publishers/google/models/"); ok {
		return verb(GeminiVertex, rest, "generateContent", "streamGenerateContent")
	}
	if at := strings.LastIndex(path, "/models/"); at >= 0 && strings.Contains(path[at:], ":") {
		return verb(Gemini, path[at+len("/models/"):], "generateContent", "streamGenerateContent")
	}
	if at := strings.LastIndex(path, "/model/"); at >= 0 {
		return converse(path[at+len("/model/"):])
	}
	return target{}, false
}

// deployment returns the deployment that an Azure path names, which takes the place of the model.
func deployment(path string) string {
	_, rest, ok := strings.Cut(path, "/openai/deployments/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return unescape(name)
}

// verb reads model:verb.
func verb(p Protocol, rest, whole, stream string) (target, bool) {
	at := strings.LastIndex(rest, ":")
	if at <= 0 {
		return target{}, false
	}
	model, name := unescape(rest[:at]), rest[at+1:]
	return target{protocol: p, model: model, stream: name == stream}, name == whole || name == stream
}

// converse reads model/converse or model/converse-stream.
func converse(rest string) (target, bool) {
	at := strings.LastIndex(rest, "/")
	if at <= 0 {
		return target{}, false
	}
	name := rest[at+1:]
	t := target{protocol: Bedrock, model: unescape(rest[:at]), stream: name == "converse-stream"}
	return t, name == "converse" || name == "converse-stream"
}

func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}

// keyOf returns the API key or bearer token that a request shows, or nothing. A signature names its access key.
func keyOf(r *http.Request) string {
	for _, name := range []string{"X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		if key := r.Header.Get(name); key != "" {
			return key
		}
	}
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return strings.TrimSpace(rest)
	case scheme == "AWS4-HMAC-SHA256":
		if a, err := parseAuthorization(r.Header.Get("Authorization")); err == nil {
			return a.accessKey
		}
	}
	return r.URL.Query().Get("key")
}
