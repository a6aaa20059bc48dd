package google_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/wire"
)

func ExampleNew() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hello from %s\"}]}}]}\n\n", r.URL.Path)
		fmt.Fprint(w, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n")
	}))
	defer srv.Close()

	model := llm.Model{Provider: "gemini", ID: "gemini-2.5-flash"}
	endpoint := wire.Endpoint{BaseURL: srv.URL, Key: "key", HTTP: wire.NewClient(srv.Client().Transport)}
	client := google.New(model, google.Options{Endpoint: endpoint})

	answer, err := llm.Collect(context.Background(), client, &llm.Request{Messages: []llm.Message{llm.UserText("Hi")}})
	fmt.Println(answer.Text(), err)
	// Output: Hello from /v1beta/models/gemini-2.5-flash:streamGenerateContent <nil>
}
