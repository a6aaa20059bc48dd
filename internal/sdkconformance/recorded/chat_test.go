package recorded

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// The second reading of OpenAI's Chat Completions.

type chatSaid struct {
	Content   string
	Reasoning string           `json:"reasoning"`
	AsContent string           `json:"reasoning_content"`
	Details   []map[string]any `json:"reasoning_details"`
	Calls     []chatCall       `json:"tool_calls"`
}

type chatCall struct {
	Index    int
	ID       string
	Function struct{ Name, Arguments string }
}

type chatUsage struct {
	Prompt        int64 `json:"prompt_tokens"`
	Completion    int64 `json:"completion_tokens"`
	Total         int64 `json:"total_tokens"`
	PromptDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Cost  float64
	Ticks float64 `json:"cost_in_usd_ticks"`
}

// counts takes the total as the truth about where reasoning is counted.
func (u *chatUsage) counts(t *testing.T) llm.Usage {
	t.Helper()
	cached, reasoning := u.PromptDetails.Cached, u.CompletionDetails.Reasoning
	out := llm.Usage{Input: u.Prompt - cached, CacheRead: cached, Output: u.Completion, Reasoning: reasoning, Cost: u.Cost + u.Ticks/1e10}
	if u.Total == u.Prompt+u.Completion {
		out.Output -= reasoning
	}
	if out.Total() != u.Total || u.Total == 0 {
		t.Fatalf("the usage does not add up: %+v", *u)
	}
	return out
}

func chatAnswer(t *testing.T, i *interaction) answer {
	t.Helper()
	bodies := []string{i.Response.Body}
	if streamed(i) {
		bodies = events(i.Response.Body)
	}
	var a answer
	var calls []chatCall
	var details []map[string]any
	for _, body := range bodies {
		var b struct {
			Choices []struct {
				Delta, Message chatSaid
				Finish         string `json:"finish_reason"`
			}
			Usage *chatUsage
		}
		decode(t, body, &b)
		if b.Usage != nil {
			a.Usage = b.Usage.counts(t)
		}
		for _, c := range b.Choices {
			said := c.Delta
			if !streamed(i) {
				said = c.Message
			}
			a.add("thinking", said.AsContent+said.Reasoning, "")
			a.add("text", said.Content, "")
			details = joinDetails(details, said.Details)
			calls = joinCalls(calls, said.Calls)
			a.chatStop(t, c.Finish)
		}
	}
	if len(details) > 0 {
		if len(a.Parts) == 0 || a.Parts[0].Kind != "thinking" {
			t.Fatal("the details belong to no reasoning")
		}
		a.Parts[0].Proof = string(written(details))
	}
	for _, c := range calls {
		a.call(c.ID, c.Function.Name, c.Function.Arguments, "")
	}
	return a
}

func (a *answer) chatStop(t *testing.T, finish string) {
	t.Helper()
	switch finish {
	case "":
	case "stop":
		a.Stop = llm.StopEnd
	case "tool_calls":
		a.Stop = llm.StopCalls
	default:
		t.Fatalf("finish_reason %q is not mapped", finish)
	}
}

// joinDetails joins pieces of reasoning_details, all of which are of one text in the recordings.
func joinDetails(all, more []map[string]any) []map[string]any {
	for _, d := range more {
		if len(all) == 0 {
			all = append(all, d)
			continue
		}
		last := all[len(all)-1]
		text, _ := last["text"].(string)
		added, _ := d["text"].(string)
		last["text"] = text + added
	}
	return all
}

func joinCalls(all, more []chatCall) []chatCall {
	for n, c := range more {
		if c.Index == 0 && c.ID != "" {
			c.Index = max(c.Index, n) // a whole answer numbers none
		}
		if c.Index == len(all) {
			all = append(all, c)
			continue
		}
		all[c.Index].Function.Arguments += c.Function.Arguments
	}
	return all
}

type chatTurn struct {
	Role      string
	Said      json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	Details   json.RawMessage `json:"reasoning_details"`
	Calls     []chatCall      `json:"tool_calls"`
	CallID    string          `json:"tool_call_id"`
}

func chatRequest(t *testing.T, m llm.Model, body []byte) *llm.Request {
	t.Helper()
	var b struct {
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
		Temperature         *float64
		Effort              string `json:"reasoning_effort"`
		Messages            []chatTurn
		Tools               []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	decode(t, string(body), &b)
	req := &llm.Request{
		Settings: llm.Settings{MaxTokens: max(b.MaxTokens, b.MaxCompletionTokens), Temperature: b.Temperature, Thinking: llm.Thinks(b.Effort)},
	}
	for _, tool := range b.Tools {
		f := tool.Function
		req.Tools = append(req.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: f.Parameters})
	}
	for _, said := range b.Messages {
		switch said.Role {
		case "system", "developer":
			req.System += said.content(t).Text()
		case "user":
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: said.content(t)})
		case "assistant":
			req.Messages = append(req.Messages, said.answer(t, m))
		case "tool":
			req.Messages = append(req.Messages, llm.Message{
				Role: llm.RoleTool, Content: said.content(t), CallID: said.CallID, Tool: toolOf(req.Messages, said.CallID),
			})
		default:
			t.Fatalf("the role %q is not mapped", said.Role)
		}
	}
	return req
}

// content returns the content, which is a string or a list.
func (c *chatTurn) content(t *testing.T) llm.Content {
	t.Helper()
	var text string
	if len(c.Said) == 0 || json.Unmarshal(c.Said, &text) == nil {
		if text == "" {
			return nil
		}
		return llm.Content{llm.Text{Text: text}}
	}
	var parts []struct {
		Type, Text string
		Image      struct{ URL string } `json:"image_url"`
	}
	decode(t, string(c.Said), &parts)
	var out llm.Content
	for _, p := range parts {
		switch p.Type {
		case "text":
			out = append(out, llm.Text{Text: p.Text})
		case "image_url":
			out = append(out, imageOf(t, p.Image.URL))
		default:
			t.Fatalf("a part of type %q is not mapped", p.Type)
		}
	}
	return out
}

func imageOf(t *testing.T, address string) llm.Image {
	t.Helper()
	head, data, ok := strings.Cut(address, ";base64,")
	if _, err := url.Parse(head); err != nil || !ok {
		t.Fatalf("%.60s is no image", address)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		t.Fatal(err)
	}
	return llm.Image{MIME: strings.TrimPrefix(head, "data:"), Data: raw}
}

func (c *chatTurn) answer(t *testing.T, m llm.Model) llm.Message {
	t.Helper()
	out := llm.Message{Role: llm.RoleAssistant, Model: m.Ref(), Stop: llm.StopEnd}
	thinking := llm.Thinking{Text: c.Reasoning, Opaque: c.Details}
	if len(c.Details) > 0 {
		var details []struct{ Text string }
		decode(t, string(c.Details), &details)
		for _, d := range details {
			thinking.Text += d.Text
		}
	}
	if thinking.Text != "" {
		out.Content = append(out.Content, thinking)
	}
	out.Content = slices.Concat(out.Content, c.content(t))
	for _, call := range c.Calls {
		out.Stop = llm.StopCalls
		out.Content = append(out.Content, llm.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	return out
}
