package recorded

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// The second reading of Gemini's protocol.

type geminiPart struct {
	Text      string
	Thought   bool
	Signature string `json:"thoughtSignature"`
	Data      *struct {
		MIME string `json:"mimeType"`
		Data []byte
	} `json:"inlineData"`
	Call *struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"functionCall"`
	Result *struct {
		ID, Name string
		Response struct{ Result string }
	} `json:"functionResponse"`
}

type geminiContent struct {
	Role  string
	Parts []geminiPart
}

func geminiAnswer(t *testing.T, i *interaction) answer {
	t.Helper()
	bodies := []string{i.Response.Body}
	if streamed(i) {
		bodies = events(i.Response.Body)
	}
	var a answer
	for _, body := range bodies {
		var b struct {
			Candidates []struct {
				Content geminiContent
				Finish  string `json:"finishReason"`
			}
			Usage struct {
				Prompt     int64 `json:"promptTokenCount"`
				Candidates int64 `json:"candidatesTokenCount"`
				Thoughts   int64 `json:"thoughtsTokenCount"`
				Total      int64 `json:"totalTokenCount"`
			} `json:"usageMetadata"`
		}
		decode(t, body, &b)
		if u := b.Usage; u.Total > 0 {
			a.Usage = llm.Usage{Input: u.Prompt, Output: u.Candidates, Reasoning: u.Thoughts}
			if a.Usage.Total() != u.Total {
				t.Fatalf("the usage does not add up: %+v", u)
			}
		}
		if len(b.Candidates) != 1 {
			t.Fatalf("there are %d candidates", len(b.Candidates))
		}
		a.gemini(t, b.Candidates[0].Content.Parts, b.Candidates[0].Finish)
	}
	return a
}

func (a *answer) gemini(t *testing.T, parts []geminiPart, finish string) {
	t.Helper()
	for _, p := range parts {
		switch {
		case p.Call != nil:
			a.call(p.Call.ID, p.Call.Name, compact(p.Call.Args), p.Signature)
		case p.Thought:
			a.add("thinking", p.Text, p.Signature)
		default:
			a.add("text", p.Text, p.Signature)
		}
	}
	switch finish {
	case "":
		return
	case "STOP":
		a.Stop = llm.StopEnd
	default:
		t.Fatalf("finishReason %q is not mapped", finish)
	}
	for _, p := range a.Parts {
		if p.Kind == "call" {
			a.Stop = llm.StopCalls
		}
	}
}

func geminiRequest(t *testing.T, m llm.Model, body []byte) *llm.Request {
	t.Helper()
	var b struct {
		System   geminiContent `json:"systemInstruction"`
		Contents []geminiContent
		Config   struct {
			MaxTokens   int `json:"maxOutputTokens"`
			Temperature *float64
			Schema      json.RawMessage `json:"responseJsonSchema"`
			Thinking    *struct {
				Budget int `json:"thinkingBudget"`
			} `json:"thinkingConfig"`
		} `json:"generationConfig"`
		Tools []struct {
			Functions []struct {
				Name, Description string
				Parameters        json.RawMessage
			} `json:"functionDeclarations"`
		}
	}
	decode(t, string(body), &b)
	req := &llm.Request{Settings: llm.Settings{MaxTokens: b.Config.MaxTokens, Temperature: b.Config.Temperature, Schema: b.Config.Schema}}
	for _, p := range b.System.Parts {
		req.System += p.Text
	}
	if b.Config.Thinking != nil {
		req.Thinking = llm.ThinkMinimal
	}
	for _, tools := range b.Tools {
		for _, f := range tools.Functions {
			req.Tools = append(req.Tools, llm.Tool{Name: f.Name, Description: f.Description, Schema: jsonSchema(t, f.Parameters)})
		}
	}
	for _, c := range b.Contents {
		req.Messages = geminiTurn(t, m, req.Messages, c)
	}
	return req
}

// jsonSchema returns a schema of OpenAPI in the words of JSON Schema: the types are in lower case.
func jsonSchema(t *testing.T, schema json.RawMessage) json.RawMessage {
	t.Helper()
	var v any
	decode(t, string(schema), &v)
	walk(v, func(o object) {
		if kind, ok := o["type"].(string); ok {
			o["type"] = strings.ToLower(kind)
		}
	})
	return written(v)
}

func geminiTurn(t *testing.T, m llm.Model, all []llm.Message, c geminiContent) []llm.Message {
	t.Helper()
	said := llm.Message{Role: llm.RoleUser}
	for n, p := range c.Parts {
		switch {
		case c.Role == "model" && p.Call != nil:
			call := llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: string(p.Call.Args)}
			if call.ID == "" {
				call.ID = fmt.Sprint("call_", len(all), "_", n)
			}
			if p.Signature != "" {
				call.Opaque = written(object{"thoughtSignature": p.Signature})
			}
			all = addAnswer(all, m, call)
		case c.Role == "model":
			all = addAnswer(all, m, llm.Text{Text: p.Text})
		case p.Result != nil:
			all = append(all, llm.ToolText(geminiCall(all, p.Result.ID, p.Result.Name), p.Result.Response.Result, false))
		case p.Data != nil:
			said.Content = append(said.Content, llm.Image{MIME: p.Data.MIME, Data: p.Data.Data})
		default:
			said.Content = append(said.Content, llm.Text{Text: p.Text})
		}
	}
	if len(said.Content) > 0 {
		all = append(all, said)
	}
	return all
}

// geminiCall returns the call to which a result belongs: by its ID, or by the name where there are none.
func geminiCall(all []llm.Message, id, name string) llm.ToolCall {
	for _, m := range all {
		for _, c := range m.Calls() {
			if c.ID == id || id == "" && c.Name == name {
				return c
			}
		}
	}
	return llm.ToolCall{}
}
