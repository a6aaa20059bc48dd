package sdkconformance

import (
	"context"
	"net/http"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

const (
	key      = "test-key"
	eventMIM = "text/event-stream"
)

// protocol is one protocol as its vendor's SDK and our client speak it.
type protocol struct {
	name  string
	model string
	speak modelserver.Protocol

	// sdk asks the server below base for the conversation of conversation(), in the SDK's own types, and reads the answer.
	sdk func(ctx context.Context, base string, h *http.Client, stream bool) (reading, error)

	// ours returns our client of the server below base.
	ours func(base string, h *http.Client, stream bool) llm.Client
}

// protocols are all of them.
func protocols() []protocol {
	return []protocol{
		{
			name: "anthropic", model: "claude-sonnet-4-5", speak: modelserver.Anthropic, sdk: askAnthropic,
			ours: func(base string, h *http.Client, stream bool) llm.Client {
				return anthropic.New(facts("anthropic", "claude-sonnet-4-5"), anthropic.Options{Endpoint: endpoint(base, h), NoStream: !stream})
			},
		},
		{
			name: "chat", model: "gpt-5", speak: modelserver.OpenAIChat, sdk: askChat,
			ours: func(base string, h *http.Client, stream bool) llm.Client {
				profile, _ := openai.ProfileOf("openai")
				return openai.NewChat(facts("openai", "gpt-5"), openai.ChatOptions{
					Endpoint: endpoint(base+"/v1", h), NoStream: !stream, Profile: profile,
				})
			},
		},
		{
			name: "responses", model: "gpt-5", speak: modelserver.OpenAIResponses, sdk: askResponses,
			ours: func(base string, h *http.Client, stream bool) llm.Client {
				return openai.NewResponses(facts("openai", "gpt-5"), openai.ResponsesOptions{Endpoint: endpoint(base+"/v1", h), NoStream: !stream})
			},
		},
		{
			name: "gemini", model: "gemini-2.5-flash", speak: modelserver.Gemini, sdk: askGemini,
			ours: func(base string, h *http.Client, stream bool) llm.Client {
				return google.New(facts("gemini", "gemini-2.5-flash"), google.Options{Endpoint: endpoint(base, h), NoStream: !stream})
			},
		},
		{
			name: "bedrock", model: "anthropic.claude-sonnet-4-5-20250929-v1:0", speak: modelserver.Bedrock, sdk: askBedrock,
			ours: func(base string, h *http.Client, stream bool) llm.Client {
				return bedrock.New(facts("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0"), bedrock.Options{
					Endpoint: endpoint(base, h), Region: "us-east-1", NoStream: !stream,
				})
			},
		},
	}
}

// protocolOf returns the protocol with that name.
func protocolOf(t testing.TB, name string) protocol {
	t.Helper()
	for _, p := range protocols() {
		if p.name == name {
			return p
		}
	}
	t.Fatalf("no protocol %s", name)
	return protocol{}
}

func facts(provider, id string) llm.Model {
	return llm.Model{Provider: provider, ID: id, MaxOutput: 32_000, Images: true, Documents: true}
}

func endpoint(base string, h *http.Client) wire.Endpoint {
	return wire.Endpoint{BaseURL: base, Key: key, HTTP: h}
}

// each runs a test for every protocol, streamed and not.
func each(t *testing.T, f func(t *testing.T, p protocol, stream bool)) {
	for _, p := range protocols() {
		t.Run(p.name, func(t *testing.T) {
			t.Run("streamed", func(t *testing.T) { f(t, p, true) })
			t.Run("whole", func(t *testing.T) { f(t, p, false) })
		})
	}
}
