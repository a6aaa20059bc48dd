package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// A server on the same machine answers.
func ExampleNewChat() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"<think>Easy.</think>"}}]}

data: {"choices":[{"index":0,"delta":{"content":"Four."},"finish_reason":"stop"}]}

data: [DONE]

`)
	}))
	defer server.Close()

	profile, _ := openai.ProfileOf("llamacpp")
	client := openai.NewChat(llm.Model{Provider: "llamacpp", ID: "gemma"}, openai.ChatOptions{
		Profile:  profile,
		Endpoint: wire.Endpoint{BaseURL: server.URL, HTTP: server.Client()},
	})
	answer, err := llm.Collect(context.Background(), client, &llm.Request{
		Messages: []llm.Message{llm.UserText("What is two and two?")},
	})
	fmt.Println(answer.Text(), err)
	// Output: Four. <nil>
}
