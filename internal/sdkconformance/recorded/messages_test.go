package recorded

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// The second reading of Anthropic's protocol.

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	CallID    string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
	Source    struct {
		MIME string `json:"media_type"`
		Data []byte `json:"data"`
	} `json:"source"`

	written string // the input, as its pieces came
}

type messagesUsage struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
}

type messagesBody struct {
	Content []messagesBlock `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   messagesUsage   `json:"usage"`
}

func (b *messagesBody) answer(t *testing.T) answer {
	t.Helper()
	a := answer{Usage: llm.Usage{
		Input: *b.Usage.Input, CacheRead: *b.Usage.CacheRead, CacheWrite: *b.Usage.CacheWrite, Output: *b.Usage.Output,
	}}
	switch b.Stop {
	case "end_turn":
		a.Stop = llm.StopEnd
	case "tool_use":
		a.Stop = llm.StopCalls
	default:
		t.Fatalf("stop reason %q is not mapped", b.Stop)
	}
	for _, c := range b.Content {
		switch c.Type {
		case "text":
			a.add("text", c.Text, "")
		case "thinking":
			a.add("thinking", c.Thinking, c.Signature)
		case "tool_use":
			if c.written == "" {
				c.written = string(c.Input)
			}
			a.call(c.ID, c.Name, c.written, "")
		default:
			t.Fatalf("content of type %q is not mapped", c.Type)
		}
	}
	return a
}

func messagesAnswer(t *testing.T, i *interaction) answer {
	t.Helper()
	var b messagesBody
	if !streamed(i) {
		decode(t, i.Response.Body, &b)
		return b.answer(t)
	}
	all := events(i.Response.Body)
	if recordedFrames(i) {
		all = framedEvents(t, i)
	}
	b = messagesStream(t, all)
	return b.answer(t)
}

// messagesStream puts an answer together from its events.
func messagesStream(t *testing.T, all []string) messagesBody {
	t.Helper()
	var b messagesBody
	for _, data := range all {
		var e struct {
			Type    string
			Index   int
			Message messagesBody
			Block   messagesBlock `json:"content_block"`
			Delta   struct {
				messagesBlock
				JSON string `json:"partial_json"`
				Stop string `json:"stop_reason"`
			}
			Usage messagesUsage
		}
		e.Usage = b.Usage // figures that are not sent again stay
		decode(t, data, &e)
		switch e.Type {
		case "message_start":
			b.Usage = e.Message.Usage
		case "content_block_start":
			if e.Index != len(b.Content) {
				t.Fatalf("block %d is begun as number %d", e.Index, len(b.Content))
			}
			b.Content = append(b.Content, e.Block)
		case "content_block_delta":
			at := &b.Content[e.Index]
			at.Text += e.Delta.Text
			at.Thinking += e.Delta.Thinking
			at.Signature += e.Delta.Signature
			at.written += e.Delta.JSON
		case "message_delta":
			b.Stop, b.Usage = e.Delta.Stop, e.Usage
		case "content_block_stop", "message_stop", "ping":
		default:
			t.Fatalf("event %q is not mapped", e.Type)
		}
	}
	return b
}

func messagesRequest(t *testing.T, m llm.Model, body []byte) *llm.Request {
	t.Helper()
	var b struct {
		MaxTokens   int `json:"max_tokens"`
		Temperature *float64
		System      []messagesBlock
		Messages    []struct {
			Role    string
			Content []messagesBlock
		}
		Tools []struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		}
		Thinking struct {
			Type   string
			Budget int `json:"budget_tokens"`
		}
		Choice struct{ Type, Name string } `json:"tool_choice"`
	}
	decode(t, string(body), &b)
	req := &llm.Request{Settings: llm.Settings{MaxTokens: b.MaxTokens, Temperature: b.Temperature}}
	for _, s := range b.System {
		req.System += s.Text
	}
	if b.Thinking.Type == "enabled" {
		req.Thinking = llm.ThinkHigh
	}
	for _, tool := range b.Tools {
		if b.Choice.Type == "tool" && b.Choice.Name == tool.Name {
			req.Schema = tool.Schema // how a structured answer is had
			continue
		}
		req.Tools = append(req.Tools, llm.Tool{Name: tool.Name, Description: tool.Description, Schema: tool.Schema})
	}
	for _, said := range b.Messages {
		req.Messages = append(req.Messages, messagesTurn(t, m, said.Role, said.Content, req.Messages)...)
	}
	return req
}

// messagesTurn returns the messages that one of the protocol is.
func messagesTurn(t *testing.T, m llm.Model, role string, blocks []messagesBlock, before []llm.Message) []llm.Message {
	t.Helper()
	said := llm.Message{Role: llm.Role(role)}
	if role == "assistant" {
		said.Model, said.Stop = m.Ref(), llm.StopEnd
	}
	var results []llm.Message
	for _, b := range blocks {
		switch b.Type {
		case "text":
			said.Content = append(said.Content, llm.Text{Text: b.Text})
		case "image":
			said.Content = append(said.Content, llm.Image{MIME: b.Source.MIME, Data: b.Source.Data})
		case "thinking":
			said.Content = append(said.Content, llm.Thinking{Text: b.Thinking, Signature: b.Signature})
		case "tool_use":
			said.Stop = llm.StopCalls
			said.Content = append(said.Content, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case "tool_result":
			var content []messagesBlock
			decode(t, string(b.Content), &content)
			result := llm.Message{Role: llm.RoleTool, CallID: b.CallID, Tool: toolOf(before, b.CallID), IsError: b.IsError}
			for _, c := range content {
				result.Content = append(result.Content, llm.Text{Text: c.Text})
			}
			results = append(results, result)
		default:
			t.Fatalf("a block of type %q is not mapped", b.Type)
		}
	}
	if len(said.Content) > 0 {
		results = append(results, said)
	}
	return results
}

// toolOf returns the name of the tool of a call.
func toolOf(before []llm.Message, id string) string {
	for _, m := range slices.Backward(before) {
		for _, c := range m.Calls() {
			if c.ID == id {
				return c.Name
			}
		}
	}
	return ""
}
