package bedrock_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/wire"
)

func ExampleNew() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.EscapedPath())
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"output":{"message":{"role":"assistant","content":[{"text":"Hello."}]}},"stopReason":"end_turn"}`)
	}))
	defer server.Close()

	model := llm.Model{Provider: "bedrock", ID: "us.anthropic.claude-haiku-4-5-20251001-v1:0"}
	client := bedrock.New(model, bedrock.Options{
		Endpoint: wire.Endpoint{BaseURL: server.URL, Key: "an API key of Bedrock"}, // both can be left out on a machine that is set up for AWS
		NoStream: true,
	})
	answer, err := llm.Collect(context.Background(), client, &llm.Request{Messages: []llm.Message{llm.UserText("Hello?")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
	// Output:
	// POST /model/us.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse
	// Hello.
}
