package modelserver

import (
	"fmt"

	"github.com/tenon-agent/tenon/llm"
)

// geminiEvent ends its lines as Google does.
func geminiEvent(v any) []byte { return fmt.Appendf(nil, "data: %s\r\n\r\n", encode(v)) }

func (a *answer) geminiStop() string {
	switch a.stop {
	case llm.StopLength:
		return "MAX_TOKENS"
	case llm.StopRefused:
		return "SAFETY"
	default:
		return "STOP"
	}
}

func (a *answer) geminiUsage() object {
	u := object{
		"promptTokenCount": a.usage.Prompt(), "candidatesTokenCount": a.usage.Output, "totalTokenCount": a.usage.Total(),
		"promptTokensDetails": []any{object{"modality": "TEXT", "tokenCount": a.usage.Prompt()}},
	}
	if a.usage.CacheRead > 0 {
		u["cachedContentTokenCount"] = a.usage.CacheRead
	}
	if a.usage.Reasoning > 0 {
		u["thoughtsTokenCount"] = a.usage.Reasoning
	}
	if a.req.Protocol == GeminiVertex {
		u["trafficType"] = "ON_DEMAND"
	}
	return u
}

// geminiChunk is one GenerateContentResponse.
func (a *answer) geminiChunk(parts []any, last bool) object {
	candidate := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	if len(parts) == 0 {
		candidate["content"] = object{"role": "model"}
	}
	c := object{
		"candidates": []any{candidate}, "modelVersion": a.req.Model, "responseId": a.id("", 0), "usageMetadata": a.geminiUsage(),
	}
	if last {
		candidate["finishReason"] = a.geminiStop()
	}
	return c
}

// geminiParts returns the parts of the answer, texts and reasoning in pieces of n bytes. The signature of reasoning is in the
// first part that follows it.
func (a *answer) geminiParts(n int) (parts []object, kinds []kind) {
	signature := ""
	add := func(k kind, part object) {
		if k != thinking && signature != "" {
			part["thoughtSignature"], signature = signature, ""
		}
		parts, kinds = append(parts, part), append(kinds, k)
	}
	for _, p := range a.content {
		switch p := p.(type) {
		case llm.Thinking:
			for _, s := range pieces(p.Text, n) {
				add(thinking, object{"text": s, "thought": true})
			}
			signature = p.Signature
		case llm.Text:
			for _, s := range pieces(p.Text, n) {
				add(text, object{"text": s})
			}
		case llm.ToolCall:
			f := object{"name": p.Name, "args": arguments(p)}
			if a.config.CallIDs {
				f["id"] = p.ID
			}
			add(call, object{"functionCall": f})
		}
	}
	if signature != "" {
		add(text, object{"text": ""})
	}
	return parts, kinds
}

func (a *answer) geminiStream() []frame {
	if a.blocked() {
		return []frame{{kind: closing, data: geminiEvent(a.geminiBlocked())}}
	}
	var frames []frame
	parts, kinds := a.geminiParts(a.config.DeltaBytes)
	for i, part := range parts {
		frames = append(frames, frame{kind: kinds[i], data: geminiEvent(a.geminiChunk([]any{part}, false))})
	}
	return append(frames, frame{kind: closing, data: geminiEvent(a.geminiChunk(nil, true))})
}

func (a *answer) geminiWhole() any {
	if a.blocked() {
		return a.geminiBlocked()
	}
	all := []any{}
	parts, _ := a.geminiParts(0)
	for _, part := range parts {
		all = append(all, part)
	}
	return a.geminiChunk(all, true)
}

// blocked reports whether the prompt was refused, so that nothing was answered.
func (a *answer) blocked() bool { return a.stop == llm.StopRefused && len(a.content) == 0 }

func (a *answer) geminiBlocked() object {
	return object{"promptFeedback": object{"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": a.geminiUsage(), "modelVersion": a.req.Model}
}

func (a *answer) geminiDelta(s string) []byte {
	return geminiEvent(a.geminiChunk([]any{object{"text": s}}, false))
}
