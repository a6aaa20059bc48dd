package transfer

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// object is a JSON object of a source. A member that is absent, or that has another type than the reader expects, is empty.
// Paths such as "usage.input" lead into inner objects.
type object map[string]json.RawMessage

// objectOf reads a line, a row or a file.
func objectOf(data []byte) (o object, err error) {
	if err = checkValues(data); err == nil {
		err = json.Unmarshal(data, &o)
	}
	return o, err
}

func (o object) raw(path string) json.RawMessage {
	name, rest, deeper := strings.Cut(path, ".")
	if deeper {
		return o.object(name).raw(rest)
	}
	return o[name]
}

func member[T any](o object, path string) (v T) {
	_ = json.Unmarshal(o.raw(path), &v) // an error leaves v empty
	return v
}

func (o object) number(path string) float64 { return member[float64](o, path) }
func (o object) flag(path string) bool      { return member[bool](o, path) }
func (o object) object(path string) object  { return member[object](o, path) }
func (o object) list(path string) []object  { return member[[]object](o, path) }

// text returns the first text at the paths that is not empty.
func (o object) text(paths ...string) string {
	for _, p := range paths {
		if s := member[string](o, p); s != "" {
			return s
		}
	}
	return ""
}

// parts returns the parts of a message: a list, or one text.
func (o object) parts(path string) (all []object, err error) {
	raw := o.raw(path)
	if len(raw) > 0 && raw[0] == '"' {
		return []object{{"type": json.RawMessage(`"text"`), "text": raw}}, nil
	}
	if len(raw) > 0 {
		if err = json.Unmarshal(raw, &all); err != nil {
			err = &badLine{err}
		}
	}
	return all, err
}

// content converts the parts of a message.
func (b *builder) content(place string, o object, path string) (c llm.Content, err error) {
	parts, err := o.parts(path)
	for _, p := range parts {
		if part := b.part(place, p); part != nil {
			c = append(c, part)
		}
	}
	return c, err
}

// part converts a part of a message. The programs use different names for the same parts, and no name for two. part returns
// nil for an empty part, and for one that Tenon cannot represent, which it counts as lost.
func (b *builder) part(place string, p object) llm.Part {
	switch kind := p.text("type"); kind {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		if text := p.text("text"); text != "" {
			return llm.Text{Text: text}
		}
		return nil
	case "thinking", "reasoning":
		return thinkingOf(p.text("thinking", "text"), p.text("signature", "thinkingSignature", "metadata.anthropic.signature"), p.flag("redacted"))
	case "redacted_thinking":
		return thinkingOf("", p.text("data"), true)
	case "tool_use", "toolCall", "tool_call", "function_call", "tool":
		c := llm.ToolCall{ID: p.text("call_id", "callID", "id"), Name: p.text("name", "tool"), Arguments: arguments(p, "input", "arguments", "state.input")}
		if proof := p.text("thoughtSignature"); proof != "" {
			c.Opaque, _ = json.Marshal(map[string]string{"thoughtSignature": proof}) // cannot fail
		}
		return c
	case "shell_command":
		return llm.Text{Text: ranCommand(p.text("command"), p.text("output"), p.number("exit_code"))}
	default:
		if part := media(p); part != nil {
			return part
		}
		b.losses.add(fmt.Sprintf("part %q of a message", brief(kind, 30)), place, p.text("text", "filename", "source.url", "image_url", "url"))
		return nil
	}
}

// thinkingOf returns thinking with its signature. The signature of OpenAI is an item as JSON; redacted thinking has nothing else.
func thinkingOf(text, signature string, redacted bool) llm.Part {
	t := llm.Thinking{Text: text}
	switch {
	case text == "" && signature == "":
		return nil
	case strings.HasPrefix(signature, "{") && json.Valid([]byte(signature)):
		t.Opaque = json.RawMessage(signature)
	case redacted:
		t = llm.Thinking{}
		t.Opaque, _ = json.Marshal(map[string]string{"type": "redacted_thinking", "data": signature}) // cannot fail
	default:
		t.Signature = signature
	}
	return t
}

// media returns an image, a document or an attached text file, if the source contains its content.
func media(p object) llm.Part {
	mime, coded := p.text("source.media_type", "mimeType", "mime_type", "MIMEType", "mime"), p.text("source.data", "data", "Data")
	if head, data, ok := strings.Cut(p.text("image_url", "url"), ","); ok && strings.HasPrefix(head, "data:") {
		if mime, ok = strings.CutSuffix(strings.TrimPrefix(head, "data:"), ";base64"); !ok {
			return nil
		}
		coded = data
	}
	mime, _, _ = strings.Cut(mime, ";")
	name := p.text("title", "filename", "Path")
	data, err := base64.StdEncoding.DecodeString(coded)
	if p.text("source.type") == "text" {
		data, err = []byte(coded), nil
	}
	switch {
	case err != nil || len(data) == 0 || mime == "":
		return nil
	case strings.HasPrefix(mime, "image/"):
		return llm.Image{MIME: mime, Data: data}
	case strings.HasPrefix(mime, "text/"):
		return llm.Text{Text: fmt.Sprintf("<file path=%q>\n%s\n</file>", name, data)}
	}
	if name != "" {
		name = path.Base(name)
	}
	return llm.Document{MIME: mime, Name: name, Data: data}
}

// ranCommand is a command that the person ran, with its output.
func ranCommand(command, output string, exit float64) string {
	text := "<command-output>\n$ " + command + "\n" + output
	if exit != 0 {
		text += fmt.Sprintf("\n(exit code %v)", exit)
	}
	return text + "\n</command-output>"
}

// arguments returns the arguments of a call. Some programs write them as JSON in a text.
func arguments(p object, paths ...string) string {
	for _, path := range paths {
		raw := p.raw(path)
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if text := p.text(path); raw[0] == '"' && text != "" {
			return text
		} else if raw[0] != '"' {
			return string(raw)
		}
	}
	return "{}"
}

// usage reads counts of tokens. The members are the names of input, output, reasoning, tokens read from the cache and written to it.
func (o object) usage(input, output, reasoning, cacheRead, cacheWrite, cost string) llm.Usage {
	tokens := func(path string) int64 {
		if path == "" {
			return 0
		}
		return tokens(o.number(path))
	}
	u := llm.Usage{Input: tokens(input), Output: tokens(output), Reasoning: tokens(reasoning), CacheRead: tokens(cacheRead), CacheWrite: tokens(cacheWrite)}
	if n := o.number(cost); n > 0 && n < 1e6 {
		u.Cost = n
	}
	return u
}

// tokens bounds a count of tokens.
func tokens(n float64) int64 {
	if n > 0 && n < 1e12 {
		return int64(n)
	}
	return 0
}

// stopReason converts the reason for the end of an answer.
func stopReason(s string) llm.StopReason {
	switch s {
	case "end_turn", "stop_sequence", "stop":
		return llm.StopEnd
	case "tool_use", "tool-calls", "toolUse":
		return llm.StopCalls
	case "max_tokens", "length", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal", "content-filter", "content_filter":
		return llm.StopRefused
	case "error", "aborted", "canceled":
		return llm.StopAborted
	}
	return ""
}

// todoOf converts a todo list.
func todoOf(items []object) (todo session.Todo) {
	for _, t := range items {
		item := session.TodoItem{Text: t.text("content", "step"), Status: "pending"}
		switch s := t.text("status"); s {
		case "in_progress", "in-progress", "inProgress":
			item.Status = "in_progress"
		case "completed", "done", "cancelled", "canceled":
			item.Status = "completed"
		}
		todo.Items = append(todo.Items, item)
	}
	return todo
}

// modelOf returns a model reference.
func modelOf(provider, id string) string {
	switch {
	case id == "":
		return ""
	case provider == "":
		return "unknown/" + id
	}
	return provider + "/" + id
}

// stamp parses a time.
func stamp(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// unix converts seconds or milliseconds since 1970, whichever is plausible.
func unix(n float64) time.Time {
	switch {
	case !(n > 0 && n < 1e14):
		return time.Time{}
	case n > 1e11:
		return time.UnixMilli(int64(n))
	}
	return time.Unix(int64(n), 0)
}
