package modelserver

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

func responsesEvent(c Config, event object) []byte {
	name, _ := event["type"].(string)
	if c.NoEventLines {
		name = ""
	}
	if _, ok := event["sequence_number"]; !ok {
		event["sequence_number"] = 0
	}
	return sse(name, event)
}

// responsesError is an error in the stream: the event error, or the end of a response that failed.
func responsesError(status int, message string, failed bool) object {
	e, _ := openAIError(status, message, false)["error"].(object)
	code := e["code"]
	if code == nil {
		code = e["type"]
	}
	if !failed {
		return object{"type": "error", "code": code, "message": message, "param": nil}
	}
	return object{"type": "response.failed", "response": object{
		"id": "resp_failed", "object": "response", "status": "failed", "output": []any{}, "usage": nil,
		"error": object{"code": code, "message": message},
	}}
}

func (a *answer) responsesUsage() object {
	return object{
		"input_tokens":         a.usage.Prompt(),
		"input_tokens_details": object{"cached_tokens": a.usage.CacheRead, "cache_write_tokens": a.usage.CacheWrite},
		"output_tokens":        a.written(), "output_tokens_details": object{"reasoning_tokens": a.usage.Reasoning},
		"total_tokens": a.usage.Total(),
	}
}

// response is the object that begins and ends an answer.
func (a *answer) response(status string, output []any) object {
	r := object{
		"id": a.id("resp_", 0), "object": "response", "created_at": 1782321745, "status": status, "background": false,
		"error": nil, "incomplete_details": nil, "instructions": nil, "max_output_tokens": nil, "model": a.req.Model,
		"output": output, "parallel_tool_calls": true, "previous_response_id": nil, "reasoning": object{"effort": nil, "summary": nil},
		"store": false, "temperature": 1.0, "text": object{"format": object{"type": "text"}}, "tool_choice": "auto", "tools": []any{},
		"top_p": 1.0, "truncation": "disabled", "usage": nil, "user": nil, "metadata": object{},
	}
	if status != "in_progress" {
		r["usage"] = a.responsesUsage()
	}
	if status == "incomplete" {
		reason := "max_output_tokens"
		if a.stop == llm.StopRefused {
			reason = "content_filter"
		}
		r["incomplete_details"] = object{"reason": reason}
	}
	return r
}

func (a *answer) responsesStatus() string {
	if a.stop == llm.StopLength || a.blocked() {
		return "incomplete"
	}
	return "completed"
}

func (a *answer) responsesWhole() any {
	output := []any{}
	for i, p := range a.content {
		output = append(output, a.outputItem(i, p))
	}
	return a.response(a.responsesStatus(), output)
}

// outputItem returns the whole item that part number i becomes.
func (a *answer) outputItem(i int, p llm.Part) object {
	switch p := p.(type) {
	case llm.Thinking:
		item := object{"id": a.id("rs_", i), "type": "reasoning", "summary": []any{}}
		if p.Text != "" {
			item["summary"] = []any{object{"type": "summary_text", "text": p.Text}}
		}
		if bytes.Contains(a.req.Body, []byte("reasoning.encrypted_content")) {
			item["encrypted_content"] = p.Signature
		}
		return item
	case llm.ToolCall:
		if a.free(p) {
			return object{
				"id": a.id("ctc_", i), "type": "custom_tool_call", "status": "completed", "call_id": p.ID, "name": p.Name, "input": p.Arguments,
			}
		}
		return object{
			"id": a.id("fc_", i), "type": "function_call", "status": "completed", "call_id": p.ID, "name": p.Name, "arguments": p.Arguments,
		}
	case llm.Text:
		return object{
			"id": a.id("msg_", i), "type": "message", "status": "completed", "role": "assistant", "content": []any{a.outputText(p.Text)},
		}
	default:
		return object{"id": a.id("msg_", i), "type": "message", "status": "completed", "role": "assistant", "content": []any{}}
	}
}

// free reports whether a call is one of a free-form tool; then its arguments are the bare text.
func (a *answer) free(c llm.ToolCall) bool {
	return slices.ContainsFunc(a.req.Tools, func(t llm.Tool) bool { return t.Name == c.Name && t.Grammar != "" })
}

// outputText returns the content part of a message; that of a refusal has a type of its own.
func (a *answer) outputText(s string) object {
	if a.stop == llm.StopRefused {
		return object{"type": "refusal", "refusal": s}
	}
	return object{"type": "output_text", "text": s, "annotations": []any{}, "logprobs": []any{}}
}

// responsesWriter numbers the events.
type responsesWriter struct {
	a      *answer
	frames []frame
}

func (w *responsesWriter) add(k kind, event object) {
	event["sequence_number"] = len(w.frames)
	w.frames = append(w.frames, frame{kind: k, data: responsesEvent(w.a.config, event)})
}

func (a *answer) responsesStream() []frame {
	w := &responsesWriter{a: a}
	w.add(opening, object{"type": "response.created", "response": a.response("in_progress", []any{})})
	w.add(opening, object{"type": "response.in_progress", "response": a.response("in_progress", []any{})})
	output := []any{}
	for i, p := range a.content {
		item := a.outputItem(i, p)
		output = append(output, item)
		w.item(i, p, item)
	}
	status := a.responsesStatus()
	w.add(closing, object{"type": "response." + status, "response": a.response(status, output)})
	return w.frames
}

// item writes the events of one item: it is added, grows and is done.
func (w *responsesWriter) item(i int, p llm.Part, item object) {
	w.add(opening, object{"type": "response.output_item.added", "output_index": i, "item": begun(item)})
	id := item["id"]
	switch p := p.(type) {
	case llm.Thinking:
		w.summary(i, id, p.Text)
	case llm.ToolCall:
		at := object{"item_id": id, "output_index": i}
		if w.a.free(p) {
			w.deltas(call, "response.custom_tool_call_input", at, p.Arguments, "input")
			break
		}
		w.deltas(call, "response.function_call_arguments", at, p.Arguments, "arguments")
	case llm.Text:
		at := object{"item_id": id, "output_index": i, "content_index": 0}
		w.add(opening, merge(at, object{"type": "response.content_part.added", "part": w.a.outputText("")}))
		if w.a.stop == llm.StopRefused {
			w.deltas(text, "response.refusal", at, p.Text, "refusal")
		} else {
			w.deltas(text, "response.output_text", at, p.Text, "text")
		}
		w.add(opening, merge(at, object{"type": "response.content_part.done", "part": w.a.outputText(p.Text)}))
	}
	w.add(opening, object{"type": "response.output_item.done", "output_index": i, "item": item})
}

func (w *responsesWriter) summary(i int, id any, s string) {
	if s == "" {
		return
	}
	at := object{"item_id": id, "output_index": i, "summary_index": 0}
	w.add(opening, merge(at, object{
		"type": "response.reasoning_summary_part.added", "part": object{"type": "summary_text", "text": ""},
	}))
	w.deltas(thinking, "response.reasoning_summary_text", at, s, "text")
	w.add(opening, merge(at, object{
		"type": "response.reasoning_summary_part.done", "part": object{"type": "summary_text", "text": s},
	}))
}

// deltas writes s in pieces, and whole when it is done.
func (w *responsesWriter) deltas(k kind, event string, at object, s, field string) {
	for _, piece := range pieces(s, w.a.config.DeltaBytes) {
		w.add(k, merge(at, object{
			"type": event + ".delta", "delta": piece, "obfuscation": strings.Repeat("x", 1+len(piece)%7),
		}))
	}
	w.add(opening, merge(at, object{"type": event + ".done", field: s}))
}

// begun returns an item as it is when nothing of it came yet.
func begun(item object) object {
	out := merge(item, object{})
	if out["status"] != nil {
		out["status"] = "in_progress"
	}
	for name, empty := range map[string]any{"arguments": "", "input": "", "content": []any{}, "summary": []any{}} {
		if _, ok := out[name]; ok {
			out[name] = empty
		}
	}
	return out
}

// merge returns a new object with the members of both.
func merge(a, b object) object {
	out := make(object, len(a)+len(b))
	for _, o := range []object{a, b} {
		for name, v := range o {
			out[name] = v
		}
	}
	return out
}

func (a *answer) responsesDelta(s string) []byte {
	return responsesEvent(a.config, object{
		"type": "response.output_text.delta", "item_id": a.id("msg_", 0), "output_index": 0, "content_index": 0, "delta": s,
	})
}
