package sdkconformance

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// scripts are answers with all that a model can say.
func scripts() map[string]llm.Message {
	usage := llm.Usage{Input: 40, CacheRead: 60, CacheWrite: 7, Output: 20, Reasoning: 10}
	read := llm.ToolCall{ID: "call_a", Name: "read", Arguments: `{"path":"dir/größe <1>.txt"}`}
	list := llm.ToolCall{ID: "call_b", Name: "list", Arguments: `{}`}
	thinking := llm.Thinking{Text: "First one,\nthen the other: 世界 & <b>."}
	say := func(stop llm.StopReason, parts ...llm.Part) llm.Message {
		return llm.Message{Role: llm.RoleAssistant, Content: parts, Stop: stop, Usage: usage}
	}
	return map[string]llm.Message{
		"text":     say(llm.StopEnd, llm.Text{Text: "Grüße, \"世界\" 😀.\n\n\tEnd & <end>."}),
		"thinking": say(llm.StopEnd, thinking, llm.Text{Text: "Both."}),
		"call":     say(llm.StopCalls, read),
		"calls":    say(llm.StopCalls, thinking, llm.Text{Text: "I look at both."}, read, list),
		"length":   say(llm.StopLength, llm.Text{Text: "It goes on and"}),
		"refused":  say(llm.StopRefused, llm.Text{Text: "I will not."}),
	}
}

// expressible returns the part of an answer that a protocol can express. Signatures are the server's own and are compared with our reading.
func expressible(p protocol, m llm.Message) reading {
	r := readMessage(m)
	u := &r.Usage
	switch p.name {
	case "anthropic", "bedrock": // the output has the thinking in it
		u.Output, u.Reasoning = u.Output+u.Reasoning, 0
	case "gemini": // the protocol does not report cache writes separately
		u.Input, u.CacheWrite = u.Input+u.CacheWrite, 0
	}
	return r
}

// The SDK and our client, each in its own words, have the same conversation with the test server: it finds nothing wrong with
// their requests, understands the same, and both read what the script says.
func TestConversations(t *testing.T) {
	each(t, func(t *testing.T, p protocol, stream bool) {
		for name, message := range scripts() {
			t.Run(name, func(t *testing.T) {
				srv := modelserver.New(t, modelserver.With(modelserver.Config{Keys: []string{key}, Secret: secret, CallIDs: true}),
					modelserver.Steps(modelserver.Answer(message), modelserver.Answer(message)))
				theirs, err := p.sdk(t.Context(), srv.URL, fresh(), stream)
				if err != nil {
					t.Error(err)
				}
				client := p.ours(srv.URL, fresh(), stream)
				m, err := llm.Collect(t.Context(), client, conversation(client.Model()))
				if err != nil {
					t.Error(err)
				}
				if ours := readMessage(m); !ours.equal(theirs) {
					t.Errorf("we read\n%v\nthe SDK reads\n%v", ours, theirs)
				}
				if theirs.Signatures = nil; !theirs.equal(expressible(p, message)) {
					t.Errorf("the script says\n%v\nthe SDK reads\n%v", expressible(p, message), theirs)
				}
				for _, err := range srv.Violations() {
					t.Error(err)
				}
				compareUnderstood(t, p, stream, srv.Requests())
			})
		}
	})
}

// compareUnderstood holds what the server understood of the SDK's request against what it did of ours.
func compareUnderstood(t *testing.T, p protocol, stream bool, requests []*modelserver.Request) {
	t.Helper()
	if len(requests) != 2 {
		t.Fatalf("%d requests came", len(requests))
	}
	type understood struct {
		Protocol  modelserver.Protocol
		Key       string
		Model     string
		Stream    bool
		MaxTokens int
		System    string
		Messages  []llm.Message
		Tools     []llm.Tool
		Images    int
	}
	of := func(r *modelserver.Request) understood {
		for _, m := range r.Messages {
			for i, p := range m.Content {
				if c, ok := p.(llm.ToolCall); ok && c.Arguments == "" {
					c.Arguments = "{}" // genai leaves out what is empty
					m.Content[i] = c
				}
			}
		}
		return understood{r.Protocol, r.Key, r.Model, r.Stream, r.MaxTokens, r.System, r.Messages, r.Tools, r.Images()}
	}
	theirs, ours := of(requests[0]), of(requests[1])
	if !reflect.DeepEqual(theirs, ours) {
		t.Errorf("of the SDK it understood\n%+v\nof us\n%+v", theirs, ours)
	}
	if ours.Protocol != p.speak || ours.Model != p.model || ours.Stream != stream || ours.System != system || ours.Images != 1 {
		t.Errorf("it understood %+v", ours)
	}
}

// An error that the server answers with is one for the SDK too, with the same status.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, p protocol, stream bool) {
		for _, status := range []int{400, 401, 429, 500} {
			srv := modelserver.New(t, modelserver.Steps(modelserver.Fail(status).Message("It went wrong."), modelserver.Fail(status).Message("It went wrong.")))
			_, err := p.sdk(t.Context(), srv.URL, fresh(), stream)
			if got, text := statusOf(err); got != status || text != "It went wrong." {
				t.Errorf("status %d: the SDK reads %d and %q of %v", status, got, text, err)
			}
			client := p.ours(srv.URL, fresh(), stream)
			_, err = llm.Collect(t.Context(), client, conversation(client.Model()))
			if e := llm.AsError(err); e == nil || e.Status != status || e.Message != "It went wrong." {
				t.Errorf("status %d: we read %v", status, err)
			}
		}
	})
}

// fresh returns a client that keeps no connection: a later server may get the port of one that has ended.
func fresh() *http.Client { return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} }
