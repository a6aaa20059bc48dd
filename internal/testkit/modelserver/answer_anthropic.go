package modelserver

import (
	"encoding/json"

	"github.com/tenon-agent/tenon/llm"
)

func anthropicEvent(c Config, event object) []byte {
	name, _ := event["type"].(string)
	if c.NoEventLines {
		name = ""
	}
	return sse(name, event)
}

func (a *answer) anthropicUsage(output int64) object {
	return object{
		"input_tokens": a.usage.Input, "cache_creation_input_tokens": a.usage.CacheWrite,
		"cache_read_input_tokens": a.usage.CacheRead, "output_tokens": output,
	}
}

func (a *answer) anthropicMessage() object {
	first := a.anthropicUsage(1)
	first["service_tier"] = "standard"
	first["cache_creation"] = object{"ephemeral_5m_input_tokens": a.usage.CacheWrite, "ephemeral_1h_input_tokens": 0}
	return object{
		"id": a.id("msg_", 0), "type": "message", "role": "assistant", "model": a.req.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": first,
	}
}

// stopReason is why the answer ended in the words of Anthropic, which Bedrock shares but for the one about refusals.
func (a *answer) stopReason(refused string) string {
	switch a.stop {
	case llm.StopCalls:
		return "tool_use"
	case llm.StopLength:
		return "max_tokens"
	case llm.StopRefused:
		return refused
	default:
		return "end_turn"
	}
}

func (a *answer) anthropicWhole() any {
	m := a.anthropicMessage()
	content := []any{}
	for _, p := range a.content {
		content = append(content, anthropicBlock(p))
	}
	m["content"], m["stop_reason"], m["usage"] = content, a.stopReason("refusal"), a.anthropicUsage(a.written())
	return m
}

// anthropicBlock returns a whole block.
func anthropicBlock(p llm.Part) object {
	switch p := p.(type) {
	case llm.Thinking:
		if data, ok := redacted(p); ok {
			return object{"type": "redacted_thinking", "data": data}
		}
		return object{"type": "thinking", "thinking": p.Text, "signature": p.Signature}
	case llm.ToolCall:
		return object{"type": "tool_use", "id": p.ID, "name": p.Name, "input": arguments(p)}
	case llm.Text:
		return object{"type": "text", "text": p.Text}
	default:
		return object{"type": "text", "text": ""}
	}
}

// redacted returns the data of reasoning that is only that: an opaque JSON string and no text.
func redacted(p llm.Thinking) (data string, ok bool) {
	if p.Text != "" || p.Signature != "" {
		return "", false
	}
	return data, json.Unmarshal(p.Opaque, &data) == nil
}

func (a *answer) anthropicStream() []frame {
	var frames []frame
	add := func(k kind, event object) {
		frames = append(frames, frame{kind: k, data: anthropicEvent(a.config, event)})
	}
	add(opening, object{"type": "message_start", "message": a.anthropicMessage()})
	for i, p := range a.content {
		k, deltas := a.anthropicDeltas(p)
		block := anthropicBlock(p)
		for _, name := range []string{"text", "thinking", "signature"} {
			if _, ok := block[name]; ok {
				block[name] = ""
			}
		}
		if _, ok := block["input"]; ok {
			block["input"] = object{}
		}
		add(opening, object{"type": "content_block_start", "index": i, "content_block": block})
		if i == 0 {
			add(opening, object{"type": "ping"})
		}
		for _, d := range deltas {
			add(k, object{"type": "content_block_delta", "index": i, "delta": d})
		}
		add(opening, object{"type": "content_block_stop", "index": i})
	}
	add(closing, object{
		"type": "message_delta", "delta": object{"stop_reason": a.stopReason("refusal"), "stop_sequence": nil},
		"usage": a.anthropicUsage(a.written()),
	})
	add(closing, object{"type": "message_stop"})
	return frames
}

func (a *answer) anthropicDeltas(p llm.Part) (k kind, deltas []object) {
	switch p := p.(type) {
	case llm.Thinking:
		if _, ok := redacted(p); ok {
			return thinking, nil
		}
		for _, s := range pieces(p.Text, a.config.DeltaBytes) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": s})
		}
		return thinking, append(deltas, object{"type": "signature_delta", "signature": p.Signature})
	case llm.ToolCall:
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": ""})
		for _, s := range pieces(p.Arguments, a.config.DeltaBytes) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": s})
		}
		return call, deltas
	case llm.Text:
		for _, s := range pieces(p.Text, a.config.DeltaBytes) {
			deltas = append(deltas, object{"type": "text_delta", "text": s})
		}
	}
	return text, deltas
}

func (a *answer) anthropicDelta(s string) []byte {
	return anthropicEvent(a.config, object{
		"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": s},
	})
}
