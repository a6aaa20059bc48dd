package bedrock_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/wire"
)

// against returns a client of a server that speaks as Bedrock does, with its own connections.
func against(t *testing.T, s *modelserver.Server, o bedrock.Options) *bedrock.Client {
	t.Helper()
	transport := wire.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	o.Endpoint.BaseURL, o.Endpoint.HTTP = s.URL+"/some/prefix", wire.NewClient(transport)
	return bedrock.New(haiku, o)
}

// A loop with thinking and parallel calls, signed, streamed and not: the server verifies signatures of requests and of thinking.
func TestLoop(t *testing.T) {
	clean(t)
	withKeys(t)
	t.Setenv("AWS_REGION", "eu-central-1")
	for name, o := range map[string]bedrock.Options{"streamed": {}, "whole": {NoStream: true}} {
		t.Run(name, func(t *testing.T) {
			usage := llm.Usage{Input: 10, CacheRead: 1000, CacheWrite: 20, Output: 30}
			s := modelserver.New(t, modelserver.With(modelserver.Config{
				Keys: []string{"AKIDEXAMPLE"}, Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ChunkBytes: 7,
				Rules: modelserver.Rules{NoPrefill: true},
			}), modelserver.Steps(
				modelserver.Think("I should look at both.").Call("look", `{}`).Call("read", `{"path":"go.mod"}`).Usage(usage),
				modelserver.Think("It is clear.").Say("It is a module."),
			))
			c := against(t, s, o)
			req := &llm.Request{
				System: "Be brief.", Tools: someTools(), Settings: llm.Settings{Thinking: llm.ThinkLow},
				Messages: []llm.Message{{Role: llm.RoleUser, Content: llm.Content{llm.Text{Text: "What is it?"}, llm.Image{Data: picture(t)}}}},
			}
			first, err := llm.Collect(t.Context(), c, req)
			if err != nil || len(first.Calls()) != 2 || first.Stop != llm.StopCalls || first.Calls()[1].Arguments != `{"path":"go.mod"}` {
				t.Fatal(first, err)
			}
			usage.Cost = haiku.Price.Cost(usage)
			if first.Usage != usage {
				t.Errorf("usage %+v", first.Usage)
			}
			req.Messages = append(req.Messages, first)
			for _, call := range first.Calls() {
				req.Messages = append(req.Messages, llm.ToolText(call, "module x", false))
			}
			last, err := llm.Collect(t.Context(), c, req)
			if err != nil || last.Text() != "It is a module." || last.Stop != llm.StopEnd {
				t.Error(last, err)
			}
			if v := s.Violations(); len(v) > 0 {
				t.Error(v)
			}
			body := string(s.Requests()[1].Body)
			if !strings.Contains(body, `{"reasoningContent":{"reasoningText":{"text":"I should look at both.","signature":"`) {
				t.Error("the thinking did not go back:", body)
			}
		})
	}
}

// The error for a wrong secret says that the secret is wrong.
func TestWrongSecret(t *testing.T) {
	clean(t)
	withKeys(t)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	s := modelserver.New(t, modelserver.With(modelserver.Config{Keys: []string{"AKIDEXAMPLE"}, Secret: "right"}), modelserver.Steps(modelserver.Say("no")))
	_, err := llm.Collect(t.Context(), against(t, s, bedrock.Options{Region: "us-east-1"}), ask("?"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindAuth || e.Status != http.StatusForbidden {
		t.Errorf("got %v", err)
	}
}

// However an answer goes wrong, it ends with an error that can be asked again, or it is whole.
func TestFaults(t *testing.T) {
	right := modelserver.Say("It is the right answer, and all of it.").Call("look", `{"path":"a long enough path"}`)
	for _, fault := range modelserver.Faults() {
		for name, o := range map[string]bedrock.Options{"streamed": {}, "whole": {NoStream: true}} {
			t.Run(string(fault)+" "+name, func(t *testing.T) {
				s := modelserver.New(t, modelserver.Steps(right.Fault(fault)))
				o.Endpoint = wire.Endpoint{Key: "a-key", FirstByte: 300 * time.Millisecond, Idle: 300 * time.Millisecond}
				c := against(t, s, o)
				bytes, over := 0, false
				for e, err := range c.Stream(t.Context(), &llm.Request{Messages: []llm.Message{llm.UserText("?")}, Tools: someTools()}) {
					switch e := e.(type) {
					case nil:
						over = true
						if e := llm.AsError(err); !e.Retryable() {
							t.Errorf("%v", err)
						}
					case llm.TextDelta:
						bytes += len(e.Text)
					case llm.Done:
						over = true
						switch m := e.Message; {
						case fault == modelserver.Empty && m.Empty():
						case m.Text() != "It is the right answer, and all of it." || len(m.Calls()) != 1:
							t.Errorf("taken for an answer: %v", m)
						case name == "streamed" && fault != modelserver.WrongType:
							t.Errorf("the fault was not noticed: %v", m)
						}
					}
					if fault == modelserver.Endless && bytes > 1<<16 {
						return
					}
				}
				if !over {
					t.Error("there was no end")
				}
				if v := s.Violations(); len(v) > 0 {
					t.Error(v)
				}
			})
		}
	}
}

// Statuses become kinds.
func TestStatuses(t *testing.T) {
	for status, want := range map[int]llm.Kind{
		400: llm.KindInvalidRequest, 401: llm.KindAuth, 403: llm.KindAuth, 404: llm.KindInvalidRequest, 408: llm.KindOverloaded,
		424: llm.KindOverloaded, 429: llm.KindRateLimited, 500: llm.KindOverloaded, 503: llm.KindOverloaded,
	} {
		s := modelserver.New(t, modelserver.Steps(modelserver.Fail(status).RetryAfter(3*time.Second), modelserver.Overflow()))
		c := against(t, s, bedrock.Options{Endpoint: wire.Endpoint{Key: "a-key"}})
		_, err := llm.Collect(t.Context(), c, ask("?"))
		if e := llm.AsError(err); e == nil || e.Kind != want || e.Status != status || e.RetryAfter != 3*time.Second {
			t.Errorf("%d: %v", status, err)
		}
		_, err = llm.Collect(t.Context(), c, ask("?"))
		if e := llm.AsError(err); e == nil || e.Kind != llm.KindContextOverflow {
			t.Errorf("overflow: %v", err)
		}
	}
}

// These are responses without an answer.
func TestNoAnswer(t *testing.T) {
	tests := []struct {
		name, media, body, want string
	}{
		{"a page", "text/html", "<html><title>Log in</title></html>", `a web page titled "Log in"`},
		{"a page without a type", "", "<html><title>Log in</title></html>", `a web page titled "Log in"`},
		{"another type", "image/png", "", "an answer of the type image/png"},
		{"half of a JSON", "application/json", `{"output":{"mess`, "malformed"},
		{"an error with status 200", "application/json", `{"message":"Too many requests"}`, "rate limited: Too many requests"},
		{"nothing", "application/json", ``, "malformed"},
		{"something else", "application/json", `{"a":1}`, `{"a":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := llm.Collect(t.Context(), saying(haiku, tt.media, strings.NewReader(tt.body)), ask("?"))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !llm.AsError(err).Retryable() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A structured answer arrives as the arguments of a tool. The stream yields it as text.
func TestStructuredAnswer(t *testing.T) {
	for name, o := range map[string]bedrock.Options{"streamed": {}, "whole": {NoStream: true}} {
		t.Run(name, func(t *testing.T) {
			s := modelserver.New(t, modelserver.Steps(modelserver.Call("final_answer", `{"n":4}`)))
			o.Endpoint.Key = "a-key"
			req := ask("What is 2+2?")
			req.Schema = []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
			m, err := llm.Collect(t.Context(), against(t, s, o), req)
			if err != nil || m.Text() != `{"n":4}` || len(m.Calls()) != 0 || m.Stop != llm.StopEnd {
				t.Errorf("got %v %v", m, err)
			}
		})
	}
}
