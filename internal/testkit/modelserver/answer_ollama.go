package modelserver

import (
	"fmt"
	"net/http"

	"github.com/tenon-agent/tenon/llm"
)

// ollamaLine is one line of a stream.
func ollamaLine(v any) []byte { return append(encode(v), '\n') }

// ollamaError is the body of a failure, and an error in a stream.
func ollamaError(message string) object { return object{"error": message} }

func ollamaHalf() []byte {
	return []byte(`{"model":"test-model","message":{"role":"assistant","con` + "\n")
}

// ollamaReason returns the words of a failure that has none of its own.
func ollamaReason(r *Request, status int) string {
	if status == http.StatusNotFound {
		return fmt.Sprintf("model '%s' not found", r.Model)
	}
	return reason(status)
}

// ollamaHead begins a line, or a whole answer.
func (a *answer) ollamaHead(message object, done bool) object {
	message["role"] = "assistant"
	if message["content"] == nil {
		message["content"] = ""
	}
	return object{"model": a.req.Model, "created_at": "2026-06-24T17:25:05.123456789Z", "message": message, "done": done}
}

// ollamaLast returns the last line, or a whole answer. A model of Ollama refuses in its text, and the server does not say so.
func (a *answer) ollamaLast(message object) object {
	last := a.ollamaHead(message, true)
	last["done_reason"] = "stop"
	if a.stop == llm.StopLength {
		last["done_reason"] = "length"
	}
	last["total_duration"], last["load_duration"] = 4883583458, 1334875
	last["prompt_eval_count"], last["prompt_eval_duration"] = a.usage.Prompt(), 342546000
	last["eval_count"], last["eval_duration"] = a.written(), 4535599000
	return last
}

func ollamaCall(index int, p llm.ToolCall) object {
	return object{"id": p.ID, "function": object{"index": index, "name": p.Name, "arguments": arguments(p)}}
}

func (a *answer) ollamaStream() []frame {
	var frames []frame
	add := func(k kind, message object) {
		frames = append(frames, frame{kind: k, data: ollamaLine(a.ollamaHead(message, false))})
	}
	calls := 0
	for _, p := range a.content {
		switch p := p.(type) {
		case llm.Text:
			for _, s := range pieces(p.Text, a.config.DeltaBytes) {
				add(text, object{"content": s})
			}
		case llm.Thinking:
			for _, s := range pieces(p.Text, a.config.DeltaBytes) {
				add(thinking, object{"thinking": s})
			}
		case llm.ToolCall:
			add(call, object{"tool_calls": []any{ollamaCall(calls, p)}})
			calls++
		}
	}
	return append(frames, frame{kind: closing, data: ollamaLine(a.ollamaLast(object{}))})
}

func (a *answer) ollamaWhole() any {
	said, thought, calls := "", "", []any{}
	for _, p := range a.content {
		switch p := p.(type) {
		case llm.Text:
			said += p.Text
		case llm.Thinking:
			thought += p.Text
		case llm.ToolCall:
			calls = append(calls, ollamaCall(len(calls), p))
		}
	}
	message := object{"content": said}
	if thought != "" {
		message["thinking"] = thought
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return a.ollamaLast(message)
}

func (a *answer) ollamaDelta(s string) []byte {
	return ollamaLine(a.ollamaHead(object{"content": s}, false))
}
