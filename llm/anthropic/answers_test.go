package anthropic

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// fixtures returns the answers in testdata, by their paths.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/answers/*.*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		if strings.HasSuffix(path, ".want") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = data
	}
	if len(all) == 0 {
		t.Fatal("no fixtures")
	}
	return all
}

func mediaOf(path string) string {
	if strings.HasSuffix(path, ".json") {
		return "application/json"
	}
	return "text/event-stream; charset=utf-8"
}

func TestAnswers(t *testing.T) {
	for path, data := range fixtures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := recorded.Trace(t.Context(), answering(mediaOf(path), bytes.NewReader(data)), recorded.Ask())
			recorded.Golden(t, path+".want", got, *update)
			last := got[strings.LastIndexByte(strings.TrimSuffix(got, "\n"), '\n')+1:]
			if fails := strings.Contains(path, "fail_"); fails != strings.HasPrefix(last, "error ") {
				t.Errorf("it ends with %s", last)
			}
		})
	}
}

// An answer is the same wherever the network cuts it in two.
func TestChoppedAnswers(t *testing.T) {
	for path, data := range fixtures(t) {
		whole := recorded.Trace(t.Context(), answering(mediaOf(path), bytes.NewReader(data)), recorded.Ask())
		for at := range recorded.Cuts(data) {
			got := recorded.Trace(t.Context(), answering(mediaOf(path), io.MultiReader(bytes.NewReader(data[:at]), bytes.NewReader(data[at:]))), recorded.Ask())
			if got != whole {
				t.Fatalf("%s, cut at %d: got\n%swant\n%s", path, at, got, whole)
			}
		}
	}
}

// Every beginning of an answer that is not all of it is an error, never a message.
func TestCutAnswers(t *testing.T) {
	for path, data := range fixtures(t) {
		if strings.Contains(path, "fail_") {
			continue
		}
		end := bytes.LastIndex(data, []byte("}")) // from here on it is complete
		for at := range recorded.Cuts(data[:end+1]) {
			_, err := llm.Collect(t.Context(), answering(mediaOf(path), bytes.NewReader(data[:at])), recorded.Ask())
			if e := llm.AsError(err); e == nil || e.Kind != llm.KindProtocol || !e.Retryable() {
				t.Fatalf("%s, cut at %d: %v", path, at, err)
			}
		}
	}
}

// Streamed or at once, an answer gives the same message.
func TestStreamedAndWholeAgree(t *testing.T) {
	const (
		begin = `data: {"type":"message_start","message":{"id":"m","model":"claude-test","usage":{"input_tokens":5}}}` + "\n\n"
		block = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"read","input":{}}}` + "\n\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}` + "\n\n"
		end = `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}` + "\n\n" +
			`data: {"type":"message_stop"}` + "\n\n"
		whole = `{"type":"message","id":"m","model":"claude-test","content":[{"type":"tool_use","id":"t","name":"read","input":{"a":1}}],` +
			`"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":7}}`
	)
	streamed := recorded.Trace(t.Context(), answering("text/event-stream", strings.NewReader(begin+block+end)), recorded.Ask())
	atOnce := recorded.Trace(t.Context(), answering("application/json", strings.NewReader(whole)), recorded.Ask())
	last := func(s string) string { return s[strings.LastIndex(s, `{"type":"done"`):] }
	if last(streamed) != last(atOnce) {
		t.Errorf("got\n%sand\n%s", last(streamed), last(atOnce))
	}
}

func TestStatuses(t *testing.T) {
	const overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	tests := []struct {
		status      int
		media, body string
		kind        llm.Kind
	}{
		{400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"tools.0: bad"}}`, llm.KindInvalidRequest},
		{400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.KindContextOverflow},
		{400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, llm.KindQuota},
		{401, "application/json", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.KindAuth},
		{403, "application/json", `{"type":"error","error":{"type":"permission_error","message":"no"}}`, llm.KindAuth},
		{404, "application/json", `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`, llm.KindInvalidRequest},
		{413, "application/json", `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, llm.KindContextOverflow},
		{429, "application/json", `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, llm.KindRateLimited},
		{500, "application/json", `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, llm.KindOverloaded},
		{503, "text/html", `<html><title>Down</title></html>`, llm.KindOverloaded},
		{529, "application/json", overloaded, llm.KindOverloaded},
		{502, "", ``, llm.KindOverloaded},
		{307, "", ``, llm.KindInvalidRequest},
		{200, "text/html", `<html><title>Sign in</title></html>`, llm.KindProtocol},
		{200, "image/png", `x`, llm.KindProtocol},
		{200, "text/plain", ``, llm.KindProtocol},
	}
	for _, tt := range tests {
		s := recorded.Server(func(*http.Request, []byte) *http.Response {
			return response(tt.status, tt.media, strings.NewReader(tt.body))
		})
		_, err := llm.Collect(t.Context(), New(testModel(), Options{Endpoint: served(s)}), recorded.Ask())
		e := llm.AsError(err)
		if e == nil || e.Kind != tt.kind || e.RequestID != "req_1" || e.Model != "anthropic/claude-test" {
			t.Errorf("status %d, %s: got %v, want %s", tt.status, tt.body, err, tt.kind)
		}
	}
}

// The call that stands for a structured answer becomes its text.
func TestStructuredAnswerByTool(t *testing.T) {
	const body = `{"type":"message","content":[{"type":"tool_use","id":"t","name":"` + fit.SchemaToolName + `","input":{"n":1}}],"stop_reason":"tool_use"}`
	req := recorded.Ask()
	req.Schema = []byte(`{"type":"object"}`)
	m, err := llm.Collect(t.Context(), answering("application/json", strings.NewReader(body)), req)
	if err != nil || m.Text() != `{"n":1}` || m.Stop != llm.StopEnd || len(m.Calls()) != 0 {
		t.Errorf("got %+v, %v", m, err)
	}
}

// stalling gives what it has and then nothing, until the request ends.
type stalling struct {
	io.Reader
	ctx context.Context
}

func (s stalling) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// stalled returns a client of a server that stops after a part of an answer.
func stalled(beginning string) *Client {
	s := recorded.Server(func(r *http.Request, _ []byte) *http.Response {
		return response(200, "text/event-stream", stalling{strings.NewReader(beginning), r.Context()})
	})
	return New(testModel(), Options{Endpoint: served(s)})
}

const beginning = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Well, "}}` + "\n\n"

func TestStalls(t *testing.T) {
	for start, want := range map[string]time.Duration{"": 120 * time.Second, beginning: 60 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			_, err := llm.Collect(t.Context(), stalled(start), recorded.Ask())
			if e := llm.AsError(err); e.Kind != llm.KindStalled || time.Since(begin) != want {
				t.Errorf("got %v after %v, want it after %v", err, time.Since(begin), want)
			}
		})
	}
}

// pinging is an answer that takes long, with a ping now and then.
type pinging struct{ left int }

func (p *pinging) Read(b []byte) (int, error) {
	if p.left--; p.left < 0 {
		return 0, io.EOF
	}
	<-time.After(50 * time.Second)
	if p.left == 0 {
		return copy(b, beginning+"data: {\"type\":\"message_stop\"}\n\n"), nil
	}
	return copy(b, "event: ping\ndata: {\"type\": \"ping\"}\n\n"), nil
}

func TestPingsAreLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := llm.Collect(t.Context(), answering("text/event-stream", &pinging{left: 20}), recorded.Ask())
		if err != nil || m.Text() != "Well, " {
			t.Errorf("got %q, %v", m.Text(), err)
		}
	})
}

func TestCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("the person left")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		var last error
		begin := time.Now()
		for e, err := range stalled(beginning).Stream(ctx, recorded.Ask()) {
			if _, ok := e.(llm.TextDelta); ok {
				cancel(reason)
			}
			last = err
		}
		if e := llm.AsError(last); e == nil || e.Kind != llm.KindCancelled || !errors.Is(last, reason) || time.Since(begin) != 0 {
			t.Errorf("got %v after %v", last, time.Since(begin))
		}
	})
}

// A consumer may leave at any event. Nothing is yielded then, and nothing runs on.
func TestLeaving(t *testing.T) {
	for path, data := range fixtures(t) {
		for leave := 1; ; leave++ {
			seen := 0
			for range answering(mediaOf(path), bytes.NewReader(data)).Stream(t.Context(), recorded.Ask()) {
				if seen++; seen == leave {
					break
				}
			}
			if seen < leave {
				break
			}
		}
	}
}
