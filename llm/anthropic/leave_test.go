package anthropic

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
)

// A consumer may leave at what comes before an answer that fails then.
func TestLeavingBeforeAFailure(t *testing.T) {
	for _, body := range []string{`data: {"type":"error","error":{"type":"api_error"}}` + "\n\n", "data: {\n\n", ""} {
		s := recorded.Server(func(*http.Request, []byte) *http.Response {
			r := response(200, "text/event-stream", strings.NewReader(body))
			r.Header.Set("Anthropic-Ratelimit-Requests-Limit", "5")
			return r
		})
		for range New(testModel(), Options{Endpoint: served(s)}).Stream(t.Context(), recorded.Ask()) {
			break
		}
	}
}
