package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// chatServer is a server in memory.
type chatServer func(r *http.Request, body []byte) (contentType string, answer io.Reader)

// RoundTrip implements [http.RoundTripper].
func (s chatServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return recorded.Server(func(r *http.Request, body []byte) *http.Response {
		kind, answer := s(r, body)
		code := http.StatusOK
		if status, rest, found := strings.Cut(kind, " "); found {
			kind = rest
			code, _ = strconv.Atoi(status) // 0 is no status, and fails the test
		}
		if pipe, ok := answer.(*io.PipeReader); ok { // as a connection ends with its request
			context.AfterFunc(r.Context(), func() { pipe.CloseWithError(r.Context().Err()) })
		}
		return recorded.Reply(code, kind, answer)
	}).RoundTrip(r)
}

// chatClient returns a client of the server, with the profile of that name.
func chatClient(t testing.TB, name string, s chatServer) *openai.Chat {
	t.Helper()
	o := chatOptions(t, name)
	o.Endpoint.HTTP = wire.NewClient(s)
	return openai.NewChat(llm.Model{Provider: name, ID: "m"}, o)
}

func chatOptions(t testing.TB, name string) openai.ChatOptions {
	t.Helper()
	p, ok := openai.ProfileOf(name)
	if !ok {
		t.Fatalf("there is no profile %s", name)
	}
	return openai.ChatOptions{Profile: p, Endpoint: wire.Endpoint{BaseURL: "http://server.test/v1", Key: "sk-secret"}}
}

// chatAnswering returns a client of a server that answers with the bytes of a reader.
func chatAnswering(t testing.TB, name, kind string, answer io.Reader) *openai.Chat {
	return chatClient(t, name, func(*http.Request, []byte) (string, io.Reader) { return kind, answer })
}

// chatFixture is an answer in testdata/chat/answers, in a file PROFILE.WHAT.sse or .json.
type chatFixture struct {
	path, profile, kind string
	data                []byte
}

func (f chatFixture) client(t testing.TB, r io.Reader) *openai.Chat {
	return chatAnswering(t, f.profile, f.kind, r)
}

func chatFixtures(t testing.TB) []chatFixture {
	t.Helper()
	var all []chatFixture
	for pattern, kind := range map[string]string{"*.sse": "text/event-stream", "*.json": "application/json"} {
		paths, err := filepath.Glob("testdata/chat/answers/" + pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures: %v", err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			profile, _, _ := strings.Cut(filepath.Base(path), ".")
			all = append(all, chatFixture{path, profile, kind, bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))})
		}
	}
	return all
}

// Each file has one known form of an answer or a failure. The golden file next to it has the events.
func TestChatAnswers(t *testing.T) {
	for _, f := range chatFixtures(t) {
		t.Run(filepath.Base(f.path), func(t *testing.T) {
			got := recorded.Trace(t.Context(), f.client(t, bytes.NewReader(f.data)), recorded.Ask())
			recorded.Golden(t, f.path+".txt", got, *update)
			if failed := strings.Contains(got, "\nerror ") || strings.HasPrefix(got, "error "); failed != strings.Contains(f.path, ".error-") {
				t.Errorf("it failed: %t\n%s", failed, got)
			}
		})
	}
}

// It does not matter in which pieces the bytes come.
func TestChatChopped(t *testing.T) {
	for _, f := range chatFixtures(t) {
		want := recorded.Trace(t.Context(), f.client(t, bytes.NewReader(f.data)), recorded.Ask())
		if got := recorded.Trace(t.Context(), f.client(t, iotest.OneByteReader(bytes.NewReader(f.data))), recorded.Ask()); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", f.path, got, want)
		}
	}
}

// Wherever a good answer is cut, it is an error, or it is the same message without what follows the reason of its end.
func TestChatCutAnywhere(t *testing.T) {
	for _, f := range chatFixtures(t) {
		whole, err := llm.Collect(t.Context(), f.client(t, bytes.NewReader(f.data)), recorded.Ask())
		if err != nil || strings.Contains(f.path, "done-without-reason") {
			continue
		}
		for n := range recorded.Cuts(f.data) {
			got, err := llm.Collect(t.Context(), f.client(t, bytes.NewReader(f.data[:n])), recorded.Ask())
			if err != nil {
				if !llm.AsError(err).Retryable() {
					t.Fatalf("%s cut at %d: %v", f.path, n, err)
				}
				continue
			}
			got.Usage = whole.Usage
			if string(chatJSON(t, got)) != string(chatJSON(t, whole)) {
				t.Fatalf("%s cut at %d of %d: %s", f.path, n, len(f.data), chatJSON(t, got))
			}
		}
	}
}

func chatJSON(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The events make up the message.
func TestChatEventsMakeTheMessage(t *testing.T) {
	for _, f := range chatFixtures(t) {
		text, ready := map[int]string{}, map[string]llm.ToolCall{}
		var order []int
		for e, err := range f.client(t, bytes.NewReader(f.data)).Stream(t.Context(), recorded.Ask()) {
			if err != nil {
				break
			}
			switch e := e.(type) {
			case llm.TextDelta:
				if _, known := text[e.Part]; !known {
					order = append(order, e.Part)
				}
				text[e.Part] += e.Text
			case llm.CallReady:
				ready[e.Call.ID] = e.Call
			case llm.Done:
				said := ""
				for _, n := range order {
					said += text[n]
				}
				if said != e.Message.Text() {
					t.Errorf("%s: the events say %q, the message %q", f.path, said, e.Message.Text())
				}
				for _, c := range e.Message.Calls() {
					if r, ok := ready[c.ID]; !c.Truncated && (!ok || r.Arguments != c.Arguments || r.Name != c.Name) {
						t.Errorf("%s: the call %v was ready as %v", f.path, c, r)
					}
				}
			}
		}
	}
}

// A consumer may leave at any event.
func TestChatLeave(t *testing.T) {
	for _, f := range chatFixtures(t) {
		for most := 1; ; most++ {
			n := 0
			for range f.client(t, bytes.NewReader(f.data)).Stream(t.Context(), recorded.Ask()) {
				if n++; n == most {
					break
				}
			}
			if n < most {
				break
			}
		}
	}
}

// A router's answer names the model that answered; a version or a variant of the asked one is the same.
func TestChatRouted(t *testing.T) {
	for _, tt := range [][3]string{
		{"z-ai/glm", "z-ai/glm-20260315", "z-ai/glm"},
		{"z-ai/glm:free", "z-ai/glm-20260315", "z-ai/glm:free"},
		{"z-ai/glm:free", "z-ai/glm", "z-ai/glm:free"},
		{"openrouter/auto", "z-ai/glm", "z-ai/glm"},
	} {
		o := chatOptions(t, "openrouter")
		o.Endpoint.HTTP = wire.NewClient(chatServer(func(*http.Request, []byte) (string, io.Reader) {
			return "application/json", strings.NewReader(`{"model":"` + tt[1] + `","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
		}))
		c := openai.NewChat(llm.Model{Provider: "openrouter", ID: tt[0]}, o)
		if m, err := llm.Collect(t.Context(), c, recorded.Ask()); err != nil || m.Model != "openrouter/"+tt[2] || c.Model().ID != tt[0] {
			t.Errorf("%v: got %s, %v", tt, m.Model, err)
		}
	}
}
