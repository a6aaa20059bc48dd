package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// chatOf returns a client of a server of package modelserver. Its connections end with the test.
func chatOf(t *testing.T, s *modelserver.Server, name string) *openai.Chat {
	t.Helper()
	transport := wire.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	o := chatOptions(t, name)
	o.Endpoint.BaseURL, o.Endpoint.HTTP = s.URL, wire.NewClient(transport)
	o.Endpoint.FirstByte, o.Endpoint.Idle = -1, -1
	return openai.NewChat(llm.Model{Provider: name, ID: "m"}, o)
}

// A whole loop of tools works against a server that checks every request, streamed and not, wherever it has its reasoning.
func TestChatLoop(t *testing.T) {
	for _, reasoning := range []modelserver.Reasoning{
		modelserver.ReasoningContent, modelserver.ReasoningField, modelserver.ReasoningDetails, modelserver.ReasoningTags,
	} {
		for _, noStream := range []bool{false, true} {
			s := modelserver.New(t, modelserver.With(modelserver.Config{Reasoning: reasoning, DeltaBytes: 3}), modelserver.Steps(
				modelserver.Think("I should look.").Say("I look.").Call("read", `{"path":"a"}`).Call("list", `{}`),
				modelserver.Say("It is a library."),
			))
			o := chatOptions(t, "openai")
			o.Endpoint.BaseURL, o.NoStream = s.URL, noStream
			transport := wire.NewTransport(nil)
			t.Cleanup(transport.CloseIdleConnections)
			o.Endpoint.HTTP = wire.NewClient(transport)
			c := openai.NewChat(llm.Model{Provider: "openai", ID: "m"}, o)
			req := chatEverything("openai")
			first, err := llm.Collect(t.Context(), c, req)
			if err != nil {
				t.Fatal(reasoning, err)
			}
			thought, _ := first.Content[0].(llm.Thinking)
			if calls := first.Calls(); strings.TrimSpace(thought.Text) != "I should look." || first.Text() != "I look." || len(calls) != 2 ||
				calls[0].Arguments != `{"path":"a"}` || first.Stop != llm.StopCalls || first.Usage.Total() == 0 {
				t.Errorf("%s: got %+v", reasoning, first)
			}
			req.Messages = append(req.Messages, first)
			for _, call := range first.Calls() {
				req.Messages = append(req.Messages, llm.ToolText(call, "ok", false))
			}
			if last, err := llm.Collect(t.Context(), c, req); err != nil || last.Text() != "It is a library." {
				t.Errorf("%s: got %+v, %v", reasoning, last, err)
			}
			if v := s.Violations(); len(v) > 0 {
				t.Errorf("%s: %v", reasoning, v)
			}
		}
	}
}

// Every way in which an answer can go wrong is an error that may pass, and none is taken for an answer.
func TestChatFaults(t *testing.T) {
	for _, fault := range modelserver.Faults() {
		switch fault {
		case modelserver.Corrupt, modelserver.StallBeforeHeaders, modelserver.StallBeforeFirstByte, modelserver.StallInStream,
			modelserver.Endless, modelserver.LongLine, modelserver.Empty, modelserver.WrongType:
			continue
		}
		t.Run(string(fault), func(t *testing.T) {
			s := modelserver.New(t, modelserver.Steps(modelserver.Say("It is a library.").Call("read", `{"path":"a"}`).Fault(fault)))
			_, err := llm.Collect(t.Context(), chatOf(t, s, "openai"), &llm.Request{
				Messages: recorded.Ask().Messages, Tools: chatEverything("").Tools,
			})
			e := llm.AsError(err)
			if e == nil || !e.Retryable() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A correct response with a wrong label is an answer, and so is an empty one.
func TestChatOddAnswers(t *testing.T) {
	s := modelserver.New(t, modelserver.Steps(
		modelserver.Say("Hello.").Fault(modelserver.WrongType), modelserver.Say("Hello.").Fault(modelserver.Empty),
	))
	c := chatOf(t, s, "openai")
	if m, err := llm.Collect(t.Context(), c, recorded.Ask()); err != nil || m.Text() != "Hello." {
		t.Errorf("got %+v, %v", m, err)
	}
	if m, err := llm.Collect(t.Context(), c, recorded.Ask()); err != nil || !m.Empty() {
		t.Errorf("got %+v, %v", m, err)
	}
}

func TestChatTooLongLine(t *testing.T) {
	s := modelserver.New(t, modelserver.Steps(modelserver.Say("Hello.").LongLine(64<<20)))
	_, err := llm.Collect(t.Context(), chatOf(t, s, "openai"), recorded.Ask())
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindProtocol || !strings.Contains(e.Message, "longer than") {
		t.Errorf("got %v", err)
	}
}

func TestChatStatuses(t *testing.T) {
	for status, kind := range map[int]llm.Kind{
		400: llm.KindInvalidRequest, 401: llm.KindAuth, 403: llm.KindAuth, 404: llm.KindInvalidRequest, 429: llm.KindRateLimited,
		500: llm.KindOverloaded, 503: llm.KindOverloaded, 529: llm.KindOverloaded,
	} {
		s := modelserver.New(t, modelserver.Steps(modelserver.Fail(status).RetryAfter(2*time.Second)))
		_, err := llm.Collect(t.Context(), chatOf(t, s, "openai"), recorded.Ask())
		if e := llm.AsError(err); e == nil || e.Kind != kind || e.Status != status || e.Model != "openai/m" {
			t.Errorf("%d: got %v", status, err)
		}
	}
	s := modelserver.New(t, modelserver.Steps(modelserver.Overflow()))
	_, err := llm.Collect(t.Context(), chatOf(t, s, "openai"), recorded.Ask())
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindContextOverflow {
		t.Errorf("got %v", err)
	}
}

// Silence ends a request: after the first limit when nothing came, after the second one when something did.
func TestChatStalls(t *testing.T) {
	for begin, want := range map[string]time.Duration{
		"": wire.DefaultFirstByte,
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n": wire.DefaultIdle,
	} {
		synctest.Test(t, func(t *testing.T) {
			body, server := io.Pipe()
			defer server.Close()
			go io.WriteString(server, begin)
			c := chatAnswering(t, "openai", "text/event-stream", body)
			start := time.Now()
			_, err := llm.Collect(t.Context(), c, recorded.Ask())
			if e := llm.AsError(err); e == nil || e.Kind != llm.KindStalled || time.Since(start) != want {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	}
}

// A server that says why the answer ended, and then nothing, has given a whole answer: what may follow is not waited for long.
func TestChatStallsAfterItsEnd(t *testing.T) {
	const usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n"
	for _, c := range []struct {
		pause, took time.Duration // before the usage; of it all
		input       int64
	}{
		{time.Second, 3 * time.Second, 3},
		{50 * time.Second, 2 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			body, server := io.Pipe()
			defer server.Close()
			var written sync.WaitGroup
			written.Go(func() {
				io.WriteString(server, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n")
				time.Sleep(c.pause)
				io.WriteString(server, usage)
			})
			defer written.Wait()
			start := time.Now()
			m, err := llm.Collect(t.Context(), chatAnswering(t, "openai", "text/event-stream", body), recorded.Ask())
			if took := time.Since(start); err != nil || m.Text() != "Hello" || m.Usage.Input != c.input || took != c.took {
				t.Errorf("after %v: got %+v, %v", took, m, err)
			}
		})
	}
}

func TestChatCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, server := io.Pipe()
		defer server.Close()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the person left")
		go func() {
			io.WriteString(server, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n")
			synctest.Wait()
			cancel(gone)
		}()
		start := time.Now()
		_, err := llm.Collect(ctx, chatAnswering(t, "openai", "text/event-stream", body), recorded.Ask())
		if e := llm.AsError(err); e == nil || e.Kind != llm.KindCancelled || !errors.Is(err, gone) || time.Since(start) != 0 {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// If a server refuses an optional parameter, the client omits it now and from then on.
func TestChatRefusedParameters(t *testing.T) {
	for _, tt := range []struct{ profile, message, field, instead string }{
		{"openai", "Unsupported parameter: 'max_completion_tokens' is not supported", "max_completion_tokens", "max_tokens"},
		{"together", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens", "max_completion_tokens"},
		{"groq", "unknown field stream_options", "stream_options", ""},
		{"llamacpp", "parallel_tool_calls: Extra inputs are not permitted", "parallel_tool_calls", ""},
		{"groq", "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "temperature", ""},
		{"groq", "reasoning_effort is not supported with this model", "reasoning_effort", ""},
		{"openrouter", "Reasoning is not supported by this model", "reasoning", ""},
		{"openrouter", "Unrecognized request argument: 'usage'", "usage", ""},
		{"deepseek", "unknown variant: thinking", "thinking", ""},
		{"vllm", "chat_template_kwargs is not allowed", "chat_template_kwargs", ""},
	} {
		var bodies []map[string]any
		server := chatServer(func(_ *http.Request, data []byte) (string, io.Reader) {
			var body map[string]any
			if err := json.Unmarshal(data, &body); err != nil {
				t.Error(err)
			}
			bodies = append(bodies, body)
			if _, there := body[tt.field]; there {
				return "400 application/json", strings.NewReader(fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error"}}`, tt.message))
			}
			return "application/json", strings.NewReader(`{"choices":[{"index":0,"message":{"content":"ok"},"finish_reason":"stop"}]}`)
		})
		o := chatOptions(t, tt.profile)
		o.Endpoint.HTTP = wire.NewClient(server)
		c := openai.NewChat(chatAble(tt.profile), o)
		req := chatEverything(tt.profile)
		req.Temperature = new(0.0)
		for range 2 {
			if _, err := llm.Collect(t.Context(), c, req); err != nil {
				t.Errorf("%s: %v", tt.message, err)
			}
		}
		if len(bodies) != 3 || tt.instead != "" && bodies[2][tt.instead] == nil {
			t.Errorf("%s: %d requests, the last one %v", tt.message, len(bodies), bodies[len(bodies)-1])
		}
	}
}

// A role that a server does not know becomes the one that all know.
func TestChatRefusedRole(t *testing.T) {
	c := chatClient(t, "openai", func(_ *http.Request, data []byte) (string, io.Reader) {
		if strings.Contains(string(data), `"developer"`) {
			return "422 application/json", strings.NewReader(`{"detail":"messages[0].role: unknown variant developer"}`)
		}
		return "application/json", strings.NewReader(`{"choices":[{"index":0,"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	})
	if _, err := llm.Collect(t.Context(), c, chatEverything("openai")); err != nil {
		t.Error(err)
	}
}

// A refusal that is not about a parameter, or about one that was not sent, stays an error.
func TestChatRefusals(t *testing.T) {
	for _, message := range []string{"unknown model", "the temperature must be below 2", "unsupported: reasoning_effort", "messages: too deep"} {
		n := 0
		c := chatClient(t, "openai", func(*http.Request, []byte) (string, io.Reader) {
			n++
			return "400 application/json", strings.NewReader(fmt.Sprintf(`{"error":{"message":%q}}`, message))
		})
		_, err := llm.Collect(t.Context(), c, recorded.Ask())
		if e := llm.AsError(err); e == nil || e.Kind != llm.KindInvalidRequest || n != 1 {
			t.Errorf("%s: %v after %d requests", message, err, n)
		}
	}
}

func TestChatTooManyCalls(t *testing.T) {
	var b strings.Builder
	for i := range 10_002 {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\n", i, i)
	}
	_, err := llm.Collect(t.Context(), chatAnswering(t, "openai", "text/event-stream", strings.NewReader(b.String())), recorded.Ask())
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindProtocol || !strings.Contains(e.Message, "calls") {
		t.Errorf("got %v", err)
	}
	b.Reset()
	for i := range 10_002 {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":\"A\",\"index\":%d}]}}]}\n\n", i)
	}
	_, err = llm.Collect(t.Context(), chatAnswering(t, "openrouter", "text/event-stream", strings.NewReader(b.String())), recorded.Ask())
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindProtocol || !strings.Contains(e.Message, "reasoning") {
		t.Errorf("got %v", err)
	}
}
