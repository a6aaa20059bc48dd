package openai_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// A server that speaks the Responses protocol is asked for one answer. Without the base URL it would be OpenAI's own.
func ExampleNewResponses() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"Hello, \"}\n\n")
		fmt.Fprint(w, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"world.\"}\n\n")
		fmt.Fprint(w, "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":4}}}\n\n")
	}))
	defer server.Close()

	client := openai.NewResponses(
		llm.Model{Provider: "openai-responses", ID: "gpt-5"},
		openai.ResponsesOptions{Endpoint: wire.Endpoint{BaseURL: server.URL, Key: "secret", HTTP: server.Client()}},
	)
	answer, err := llm.Collect(context.Background(), client, &llm.Request{Messages: []llm.Message{llm.UserText("Greet the world.")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
	fmt.Println(answer.Usage.Total(), "tokens")
	// Output:
	// Hello, world.
	// 13 tokens
}
