package anthropic_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/wire"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"type":"message_start","message":{"usage":{"input_tokens":9}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Good "}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"morning."}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}

data: {"type":"message_stop"}

`)
	}))
	defer server.Close()

	model := llm.Model{Provider: "anthropic", ID: "claude-sonnet-4-5"}
	client := anthropic.New(model, anthropic.Options{Endpoint: wire.Endpoint{BaseURL: server.URL, Key: "secret"}})
	answer, err := llm.Collect(context.Background(), client, &llm.Request{Messages: []llm.Message{llm.UserText("Hello")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text(), answer.Stop, answer.Usage.Total())
	// Output: Good morning. end 13
}
