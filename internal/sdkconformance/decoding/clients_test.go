package decoding

import (
	"net/http"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

const (
	base    = "http://server"
	key     = "test-key"
	region  = "us-east-1"
	claude  = "claude-sonnet-4-5"
	gpt     = "gpt-5"
	flash   = "gemini-2.5-flash"
	nova    = "amazon.nova-pro-v1:0"
	longest = 32_000 // tokens of an answer
)

func endpoint(path string, h *http.Client) wire.Endpoint {
	return wire.Endpoint{BaseURL: base + path, Key: key, HTTP: h}
}

func facts(id string) llm.Model { return llm.Model{Provider: "p", ID: id, MaxOutput: longest} }

func anthropicClient(h *http.Client) llm.Client {
	return anthropic.New(facts(claude), anthropic.Options{Endpoint: endpoint("", h)})
}

func chatClient(h *http.Client) llm.Client {
	profile, _ := openai.ProfileOf("openai")
	return openai.NewChat(facts(gpt), openai.ChatOptions{Endpoint: endpoint("/v1", h), Profile: profile})
}

func responsesClient(h *http.Client) llm.Client {
	return openai.NewResponses(facts(gpt), openai.ResponsesOptions{Endpoint: endpoint("/v1", h)})
}

func geminiClient(h *http.Client) llm.Client {
	return google.New(facts(flash), google.Options{Endpoint: endpoint("", h)})
}

func bedrockClient(h *http.Client) llm.Client {
	return bedrock.New(facts(nova), bedrock.Options{Endpoint: endpoint("", h), Region: region})
}
