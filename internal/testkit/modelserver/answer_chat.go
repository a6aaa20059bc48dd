package modelserver

import (
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

func (a *answer) chatStop() string {
	switch a.stop {
	case llm.StopCalls:
		return "tool_calls"
	case llm.StopLength:
		return "length"
	case llm.StopRefused:
		return "content_filter"
	default:
		return "stop"
	}
}

func (a *answer) chatUsage() object {
	u := object{
		"prompt_tokens": a.usage.Prompt(), "completion_tokens": a.written(), "total_tokens": a.usage.Total(),
		"prompt_tokens_details":     object{"cached_tokens": a.usage.CacheRead, "audio_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": a.usage.Reasoning, "audio_tokens": 0},
	}
	if a.usage.CacheWrite > 0 {
		u["prompt_tokens_details"] = object{"cached_tokens": a.usage.CacheRead, "cache_write_tokens": a.usage.CacheWrite}
	}
	if a.usage.Cost > 0 {
		u["cost"] = a.usage.Cost
	}
	return u
}

func (a *answer) chatHead(kind string) object {
	return object{
		"id": a.id("chatcmpl-", 0), "object": kind, "created": 1782321905, "model": a.req.Model,
		"service_tier": "default", "system_fingerprint": "fp_51b9c32e14",
	}
}

// chatChunk is an event with a delta. Its obfuscation hides the length of the delta, as OpenAI's does.
func (a *answer) chatChunk(delta object, finish any) object {
	c := a.chatHead("chat.completion.chunk")
	c["choices"] = []any{object{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}
	c["usage"], c["obfuscation"] = nil, "Txa2flqei5725"[:1+len(delta)%12]
	return c
}

// chatThought returns the fields that hold reasoning.
func (a *answer) chatThought(s string, index int) object {
	switch a.config.Reasoning {
	case ReasoningField:
		return object{"reasoning": s}
	case ReasoningDetails:
		return object{"reasoning": s, "reasoning_details": []any{object{
			"type": "reasoning.text", "text": s, "format": "unknown", "index": index,
		}}}
	case ReasoningTags:
		return object{"content": s}
	default:
		return object{"reasoning_content": s}
	}
}

func (a *answer) chatStream() []frame {
	var frames []frame
	add := func(k kind, delta object) {
		frames = append(frames, frame{kind: k, data: sse("", a.chatChunk(delta, nil))})
	}
	add(opening, object{"role": "assistant", "content": "", "refusal": nil})
	calls := 0
	for i, p := range a.content {
		switch p := p.(type) {
		case llm.Text:
			for _, s := range pieces(p.Text, a.config.DeltaBytes) {
				add(text, object{"content": s})
			}
		case llm.Thinking:
			for _, s := range a.thoughtPieces(p) {
				add(thinking, a.chatThought(s, i))
			}
			if a.config.Reasoning == ReasoningDetails {
				add(thinking, object{"reasoning_details": []any{object{
					"type": "reasoning.text", "signature": p.Signature, "format": "unknown", "index": i,
				}}})
			}
		case llm.ToolCall:
			add(call, chatCall(calls, object{"id": p.ID, "type": "function", "function": object{"name": p.Name, "arguments": ""}}))
			for _, s := range pieces(p.Arguments, a.config.DeltaBytes) {
				add(call, chatCall(calls, object{"function": object{"arguments": s}}))
			}
			calls++
		}
	}
	return append(frames, a.chatEnd()...)
}

// thoughtPieces cuts reasoning for deltas, and puts it between tags when they are asked for; the tags are cut as well.
func (a *answer) thoughtPieces(p llm.Thinking) []string {
	s := p.Text
	if a.config.Reasoning == ReasoningTags {
		s = "<think>\n" + s + "\n</think>\n\n"
	}
	return pieces(s, a.config.DeltaBytes)
}

func chatCall(index int, fields object) object {
	fields["index"] = index
	return object{"tool_calls": []any{fields}}
}

// chatEnd is the finish reason, the usage when it is wanted, and the mark of the end.
func (a *answer) chatEnd() []frame {
	end := []frame{{kind: closing, data: sse("", a.chatChunk(object{}, a.chatStop()))}}
	if !a.config.NoUsage && strings.Contains(string(a.req.Body), `"include_usage":true`) {
		last := a.chatHead("chat.completion.chunk")
		last["choices"], last["usage"] = []any{}, a.chatUsage()
		end = append(end, frame{kind: closing, data: sse("", last)})
	}
	if !a.config.NoDone {
		end = append(end, frame{kind: closing, data: []byte("data: [DONE]\n\n")})
	}
	return end
}

func (a *answer) chatWhole() any {
	message := object{"role": "assistant", "content": nil, "refusal": nil, "annotations": []any{}}
	said, calls := "", []any{}
	for i, p := range a.content {
		switch p := p.(type) {
		case llm.Text:
			said += p.Text
		case llm.Thinking:
			for name, v := range a.chatThought(strings.Join(a.thoughtPieces(p), ""), i) {
				if name == "content" {
					said += fmt.Sprint(v)
				} else {
					message[name] = v
				}
			}
		case llm.ToolCall:
			calls = append(calls, object{
				"id": p.ID, "type": "function", "function": object{"name": p.Name, "arguments": p.Arguments},
			})
		}
	}
	if said != "" || len(calls) == 0 {
		message["content"] = said
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	whole := a.chatHead("chat.completion")
	whole["choices"] = []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": a.chatStop()}}
	if !a.config.NoUsage {
		whole["usage"] = a.chatUsage()
	}
	return whole
}

func (a *answer) chatDelta(s string) []byte { return sse("", a.chatChunk(object{"content": s}, nil)) }
