package ollama_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/ollama"
	"github.com/tenon-agent/tenon/llm/wire"
)

func ExampleNew() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		fmt.Fprintf(w, "{\"message\":{\"role\":\"assistant\",\"content\":\"Hello from %s\"},\"done\":false}\n", r.URL.Path)
		fmt.Fprintln(w, `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":4}`)
	}))
	defer srv.Close()

	model := llm.Model{Provider: "ollama", ID: "qwen3:8b"}
	endpoint := wire.Endpoint{BaseURL: srv.URL, HTTP: wire.NewClient(srv.Client().Transport)}
	client := ollama.New(model, ollama.Options{Endpoint: endpoint, Window: 32_768})

	answer, err := llm.Collect(context.Background(), client, &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}})
	fmt.Println(answer.Text(), answer.Usage.Input, answer.Usage.Output, err)
	// Output: Hello from /api/chat 9 4 <nil>
}
