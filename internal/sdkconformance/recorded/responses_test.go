package recorded

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// The second reading of OpenAI's Responses.

type responsesItem struct {
	Type      string
	ID        string
	Role      string
	CallID    string `json:"call_id"`
	Name      string
	Arguments string
	Encrypted string `json:"encrypted_content"`
	Output    string
	Content   json.RawMessage
	Summary   []struct{ Text string }
}

func responsesAnswer(t *testing.T, i *interaction) answer {
	t.Helper()
	body, said := i.Response.Body, answer{}
	if streamed(i) {
		body, said = responsesStream(t, i)
	}
	var b struct {
		Status string
		Output []responsesItem
		Usage  struct {
			Input  int64 `json:"input_tokens"`
			Inputs struct {
				Cached int64 `json:"cached_tokens"`
			} `json:"input_tokens_details"`
			Output  int64 `json:"output_tokens"`
			Outputs struct {
				Reasoning int64 `json:"reasoning_tokens"`
			} `json:"output_tokens_details"`
			Total int64 `json:"total_tokens"`
		}
	}
	decode(t, body, &b)
	if b.Status != "completed" {
		t.Fatalf("the status %q is not mapped", b.Status)
	}
	u := b.Usage
	a := answer{Stop: llm.StopEnd, Usage: llm.Usage{
		Input: u.Input - u.Inputs.Cached, CacheRead: u.Inputs.Cached, Output: u.Output - u.Outputs.Reasoning, Reasoning: u.Outputs.Reasoning,
	}}
	if a.Usage.Total() != u.Total {
		t.Fatalf("the usage does not add up: %+v", u)
	}
	for _, item := range b.Output {
		switch item.Type {
		case "reasoning":
			var texts []string
			for _, s := range item.Summary {
				texts = append(texts, s.Text)
			}
			if item.Encrypted != "" || len(texts) > 0 {
				a.add("thinking", strings.Join(texts, "\n\n"), item.Encrypted)
			}
		case "message":
			a.add("text", responsesText(t, item.Content), "")
		case "function_call":
			a.Stop = llm.StopCalls
			a.call(item.CallID, item.Name, item.Arguments, "")
		default:
			t.Fatalf("an item of type %q is not mapped", item.Type)
		}
	}
	if streamed(i) && a.texts() != said.texts() {
		t.Fatalf("the deltas tell %q, the final event %q", said.texts(), a.texts())
	}
	return a
}

// texts returns all that was written, so that a recording can be held against itself.
func (a *answer) texts() string {
	var b strings.Builder
	for _, p := range a.Parts {
		b.WriteString(p.Text)
	}
	return strings.ReplaceAll(b.String(), "\n\n", "")
}

// responsesStream returns the whole answer that ends the stream, and what the deltas before it tell.
func responsesStream(t *testing.T, i *interaction) (body string, said answer) {
	t.Helper()
	for _, data := range events(i.Response.Body) {
		var e struct {
			Type, Delta string
			Response    json.RawMessage
		}
		decode(t, data, &e)
		switch {
		case e.Type == "response.completed":
			body = string(e.Response)
		case strings.HasSuffix(e.Type, ".delta"):
			said.add("text", e.Delta, "")
		}
	}
	if body == "" {
		t.Fatal("the stream has no response.completed")
	}
	return body, said
}

// responsesText returns content, which is a string or a list of texts.
func responsesText(t *testing.T, content json.RawMessage) string {
	t.Helper()
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	decode(t, string(content), &parts)
	for _, p := range parts {
		if !strings.HasSuffix(p.Type, "_text") {
			t.Fatalf("a part of type %q is not mapped", p.Type)
		}
		text += p.Text
	}
	return text
}

func responsesRequest(t *testing.T, m llm.Model, body []byte) *llm.Request {
	t.Helper()
	var b struct {
		MaxTokens   int `json:"max_output_tokens"`
		Temperature *float64
		Reasoning   struct{ Effort string }
		Text        struct {
			Format struct{ Schema json.RawMessage }
		}
		Input []responsesItem
		Tools []struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	decode(t, string(body), &b)
	req := &llm.Request{
		Settings: llm.Settings{MaxTokens: b.MaxTokens, Temperature: b.Temperature, Thinking: llm.Thinks(b.Reasoning.Effort), Schema: b.Text.Format.Schema},
	}
	for _, tool := range b.Tools {
		req.Tools = append(req.Tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Parameters})
	}
	for _, item := range b.Input {
		switch {
		case item.Role == "system", item.Role == "developer":
			req.System += responsesText(t, item.Content)
		case item.Role == "user":
			req.Messages = append(req.Messages, llm.UserText(responsesText(t, item.Content)))
		case item.Role == "assistant":
			req.Messages = addAnswer(req.Messages, m, llm.Text{Text: responsesText(t, item.Content)})
		case item.Type == "function_call":
			req.Messages = addAnswer(req.Messages, m, llm.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
		case item.Type == "function_call_output":
			call := llm.ToolCall{ID: item.CallID, Name: toolOf(req.Messages, item.CallID)}
			req.Messages = append(req.Messages, llm.ToolText(call, item.Output, false))
		default:
			t.Fatalf("an item of type %q is not mapped", item.Type)
		}
	}
	return req
}

// addAnswer adds a part to the answer that a conversation ends with, or begins one.
func addAnswer(all []llm.Message, m llm.Model, p llm.Part) []llm.Message {
	if n := len(all); n == 0 || !isAnswer(all[n-1]) {
		all = append(all, llm.Message{Role: llm.RoleAssistant, Model: m.Ref(), Stop: llm.StopEnd})
	}
	last := &all[len(all)-1]
	last.Content = append(last.Content, p)
	if _, ok := p.(llm.ToolCall); ok {
		last.Stop = llm.StopCalls
	}
	return all
}
