package anthropic

import (
	"flag"
	"io"
	"net/http"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// testModel is a model that can do everything.
func testModel() llm.Model {
	return llm.Model{Provider: "anthropic", ID: "claude-test", MaxOutput: 64_000, Images: true, Documents: true}
}

// served returns an endpoint at which a server in memory answers.
func served(s recorded.Server) wire.Endpoint { return wire.Endpoint{HTTP: wire.NewClient(s)} }

// response is an answer with the ID that the server gives to requests.
func response(status int, contentType string, body io.Reader) *http.Response {
	r := recorded.Reply(status, contentType, body)
	r.Header.Set("Request-Id", "req_1")
	return r
}

// answering returns a client of a server that answers with a body.
func answering(contentType string, body io.Reader) *Client {
	return New(testModel(), Options{Endpoint: served(func(*http.Request, []byte) *http.Response { return response(200, contentType, body) })})
}
