package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
)

func freeTool(name string) llm.Tool {
	return llm.Tool{
		Name: name, Description: "Does " + name + ".", Grammar: "start: /.+/",
		Schema: json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`),
	}
}

// A free-form call comes as an object with the text, and goes back as it came.
func TestFreeFormCalls(t *testing.T) {
	const text = "*** Begin Patch\n*** Add File: ü\n+\t\"x\" <\\>\u2028😀\n*** End Patch"
	respBoth(t, func(t *testing.T, noStream bool) {
		client, srv := respServed(t, noStream, modelserver.Config{ChunkBytes: 7, DeltaBytes: 3},
			modelserver.Think("So.").Call("apply_patch", text).Call("read", `{"path":"a"}`), modelserver.Say("Done."))
		req := &llm.Request{Tools: []llm.Tool{freeTool("apply_patch"), respTool("read")}, Messages: []llm.Message{llm.UserText("Go.")}}
		answer, err := llm.Collect(t.Context(), client, req)
		if err != nil {
			t.Fatal(err)
		}
		calls := answer.Calls()
		var args struct{ Input string }
		if len(calls) != 2 || calls[0].Name != "apply_patch" || json.Unmarshal([]byte(calls[0].Arguments), &args) != nil || args.Input != text {
			t.Fatalf("got %+v", calls)
		}
		req.Messages = append(req.Messages, answer, llm.ToolText(calls[0], "ok", false), llm.ToolText(calls[1], "ok", false))
		if _, err := llm.Collect(t.Context(), client, req); err != nil {
			t.Fatal(err)
		}
		if v := srv.Violations(); len(v) > 0 {
			t.Error(errors.Join(v...))
		}
		body := string(srv.Requests()[1].Body)
		for _, want := range []string{`"type":"custom","name":"apply_patch"`, `"syntax":"lark"`, `"type":"custom_tool_call"`, `"type":"custom_tool_call_output"`, `"type":"function_call_output"`} {
			if !strings.Contains(body, want) {
				t.Errorf("no %s in %s", want, body)
			}
		}
	})
}

// A text without deltas is complete, a text that the output limit cut is not.
func TestFreeFormCallsWithoutDeltas(t *testing.T) {
	const item = `{"type":"custom_tool_call","id":"ctc_1","call_id":"c","name":"p","input":"a\"b","status":"completed"}`
	for name, test := range map[string]struct {
		body string
		want string
		cut  bool
	}{
		"one item":   {`{"type":"response.output_item.done","output_index":0,"item":` + item + `}` + "\n\ndata: " + `{"type":"response.completed","response":{"output":[]}}`, `{"input":"a\"b"}`, false},
		"at the end": {`{"type":"response.completed","response":{"output":[` + item + `]}}`, `{"input":"a\"b"}`, false},
		"cut": {`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","id":"ctc_1","call_id":"c","name":"p","input":""}}` + "\n\ndata: " +
			`{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":0,"delta":"a\"b"}` + "\n\ndata: " +
			`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[` + strings.Replace(item, "completed", "incomplete", 1) + `]}}`, `{"input":"a\"b`, true},
	} {
		client := respAnswering("text/event-stream", strings.NewReader("data: "+test.body+"\n\n"))
		m, err := llm.Collect(t.Context(), client, &llm.Request{Messages: []llm.Message{llm.UserText("Go.")}})
		if err != nil || len(m.Calls()) != 1 {
			t.Errorf("%s: %+v, %v", name, m, err)
			continue
		}
		if c := m.Calls()[0]; c.Arguments != test.want || c.Truncated != test.cut {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// Older models, and servers that refuse free-form tools, get a function with the text as its argument.
func TestFreeFormToolsAsFunctions(t *testing.T) {
	req := &llm.Request{Tools: []llm.Tool{freeTool("apply_patch")}, Messages: []llm.Message{llm.UserText("Go.")}}
	refused := modelserver.Raw(400, "application/json", `{"error":{"type":"invalid_request_error","message":"Invalid value: 'custom'. Supported values are: 'function'."}}`)
	client, srv := respServed(t, false, modelserver.Config{}, modelserver.Call("apply_patch", "x"), refused, modelserver.Say("Yes."))
	first, err := llm.Collect(t.Context(), client, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, first, llm.ToolText(first.Calls()[0], "ok", false))
	if _, err := llm.Collect(t.Context(), client, req); err != nil {
		t.Fatal(err)
	}
	body := string(srv.Requests()[2].Body)
	if strings.Contains(body, "custom") || !strings.Contains(body, `"arguments":"{\"input\":\"x\"}"`) || len(srv.Violations()) > 0 {
		t.Errorf("sent %s, %v", body, srv.Violations())
	}
	for id, want := range map[string]bool{"gpt-5": true, "gpt-5.4-codex": true, "openai/gpt-6": true, "gpt-4.1": false, "o3": false, "gpt-5-chat-latest": false, "our-name": false} {
		var sent string
		s := recorded.Server(func(_ *http.Request, body []byte) *http.Response {
			sent = string(body)
			return recorded.Reply(200, "text/event-stream", strings.NewReader("data: {\"type\":\"response.completed\",\"response\":{}}\n\n"))
		})
		client := openai.NewResponses(llm.Model{Provider: "openai", ID: id}, openai.ResponsesOptions{Endpoint: respAt(s)})
		if _, err := llm.Collect(t.Context(), client, &llm.Request{Tools: []llm.Tool{freeTool("apply_patch")}, Messages: []llm.Message{llm.UserText("Go.")}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(sent, `"custom"`); got != want {
			t.Errorf("%s: free-form %v", id, got)
		}
	}
}
