package recorded

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/wire"
)

// Bedrock was recorded as InvokeModel gives it: bodies of Anthropic's protocol, streamed ones within frames.

func recordedFrames(i *interaction) bool { return strings.Contains(i.contentType(), "eventstream") }

// framedEvents returns the events within the frames of a recorded answer.
func framedEvents(t *testing.T, i *interaction) []string {
	t.Helper()
	var all []string
	for rest := []byte(i.Response.Body); len(rest) > 0; {
		if len(rest) < 16 {
			t.Fatal("the last frame is cut")
		}
		size, headers := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if int(size) > len(rest) || crc32.ChecksumIEEE(rest[:size-4]) != binary.BigEndian.Uint32(rest[size-4:]) {
			t.Fatal("a frame is damaged")
		}
		if !strings.Contains(string(rest[12:12+headers]), ":event-type\x07\x00\x05chunk") {
			t.Fatalf("a frame is no chunk: %q", rest[12:12+headers])
		}
		var payload struct{ Bytes []byte }
		decode(t, string(rest[12+headers:size-4]), &payload)
		all = append(all, string(payload.Bytes))
		rest = rest[size:]
	}
	return all
}

// frame returns an event of Converse in a frame.
func frame(event string, payload any) []byte {
	var headers []byte
	for _, h := range [][2]string{{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers = append(headers, byte(len(h[0])))
		headers = append(headers, h[0]...)
		headers = append(headers, 7)
		headers = binary.BigEndian.AppendUint16(headers, uint16(len(h[1])))
		headers = append(headers, h[1]...)
	}
	body := written(payload)
	out := binary.BigEndian.AppendUint32(nil, uint32(12+len(headers)+len(body)+4))
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, headers...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// converse returns a recorded answer as Converse would give it.
func converse(t *testing.T, i *interaction) (contentType string, body []byte) {
	t.Helper()
	if !recordedFrames(i) {
		return i.contentType(), converseWhole(t, i)
	}
	var out []byte
	for _, data := range framedEvents(t, i) {
		var e object
		decode(t, data, &e)
		index := e["index"]
		switch e["type"] {
		case "content_block_start":
			if block := at(e, "content_block"); at(block, "type") == "tool_use" {
				use := object{"toolUseId": at(block, "id"), "name": at(block, "name")}
				out = append(out, frame("contentBlockStart", object{"contentBlockIndex": index, "start": object{"toolUse": use}})...)
			}
		case "content_block_delta":
			delta := object{"text": at(e, "delta", "text")}
			if at(e, "delta", "type") == "input_json_delta" {
				delta = object{"toolUse": object{"input": at(e, "delta", "partial_json")}}
			}
			out = append(out, frame("contentBlockDelta", object{"contentBlockIndex": index, "delta": delta})...)
		case "content_block_stop":
			out = append(out, frame("contentBlockStop", object{"contentBlockIndex": index})...)
		case "message_delta":
			out = append(out, frame("messageStop", object{"stopReason": at(e, "delta", "stop_reason")})...)
		}
	}
	b := messagesStream(t, framedEvents(t, i))
	return i.contentType(), append(out, frame("metadata", object{"usage": b.Usage.converse()})...)
}

func (u *messagesUsage) converse() object {
	return object{
		"inputTokens": *u.Input, "outputTokens": *u.Output, "cacheReadInputTokens": *u.CacheRead, "cacheWriteInputTokens": *u.CacheWrite,
	}
}

func converseWhole(t *testing.T, i *interaction) []byte {
	t.Helper()
	var b messagesBody
	decode(t, i.Response.Body, &b)
	var content []any
	for _, c := range b.Content {
		if c.Type == "tool_use" {
			content = append(content, object{"toolUse": object{"toolUseId": c.ID, "name": c.Name, "input": c.Input}})
		} else {
			content = append(content, object{"text": c.Text})
		}
	}
	return written(object{
		"output": object{"message": object{"role": "assistant", "content": content}}, "stopReason": b.Stop, "usage": b.Usage.converse(),
	})
}

// fromConverse returns a body of Converse in the words of Anthropic's protocol. What it does not know stays, and so is found.
func fromConverse(t *testing.T, body object) object {
	t.Helper()
	move := func(to string, from object, name string) {
		if has(from, name) {
			body[to] = from[name]
			delete(from, name)
		}
	}
	if inference, ok := body["inferenceConfig"].(object); ok {
		move("max_tokens", inference, "maxTokens")
		move("temperature", inference, "temperature")
		drop(body, "inferenceConfig", object{})
	}
	if config, ok := body["toolConfig"].(object); ok {
		var tools []any
		for _, tool := range objects(config["tools"]) {
			if markBefore(tool, tools) {
				continue
			}
			spec, _ := at(tool, "toolSpec").(object)
			spec["input_schema"] = at(spec, "inputSchema", "json")
			delete(spec, "inputSchema")
			tools = append(tools, spec)
		}
		delete(config, "tools")
		body["tools"] = tools
		drop(body, "toolConfig", object{})
	}
	body["system"] = blocksOf(t, body["system"])
	for _, m := range objects(body["messages"]) {
		m["content"] = blocksOf(t, m["content"])
	}
	return body
}

// markBefore makes a cache point the mark of the part before it.
func markBefore(point object, before []any) bool {
	if n := len(before); n > 0 && drop(point, "cachePoint", object{"type": "default"}) {
		before[n-1].(object)["cache_control"] = object{"type": "ephemeral"}
		return true
	}
	return false
}

// blocksOf returns blocks of Converse in the words of Anthropic's protocol.
func blocksOf(t *testing.T, list any) []any {
	t.Helper()
	var out []any
	for _, b := range objects(list) {
		switch {
		case markBefore(b, out):
			continue
		case has(b, "text"):
			b["type"] = "text"
		case has(b, "toolUse"):
			use := b["toolUse"].(object)
			b = renamed(use, "toolUseId", "id")
			b["type"] = "tool_use"
		case has(b, "toolResult"):
			result := b["toolResult"].(object)
			drop(result, "status", "success") // the default
			b = renamed(result, "toolUseId", "tool_use_id")
			b["type"], b["content"] = "tool_result", blocksOf(t, b["content"])
		default:
			t.Fatalf("a block with %v is not mapped", slices.Sorted(maps.Keys(b)))
		}
		out = append(out, b)
	}
	return out
}

func renamed(o object, from, to string) object {
	o[to] = o[from]
	delete(o, from)
	return o
}

// readAsMessages reads an answer as Anthropic's own server would give it.
func readAsMessages(t *testing.T, m llm.Model, i *interaction, req *llm.Request, want answer) {
	t.Helper()
	contentType, body := i.contentType(), i.Response.Body
	if recordedFrames(i) {
		contentType, body = "text/event-stream", ""
		for _, e := range framedEvents(t, i) {
			body += "data: " + e + "\n\n"
		}
	}
	m.ID = strings.TrimSuffix(strings.TrimPrefix(m.ID, "us.anthropic."), "-v1:0") // its name there
	var sent []byte
	s := serve(t, contentType, []byte(body), &sent)
	e := wire.Endpoint{BaseURL: s.URL, Key: "key", HTTP: &http.Client{Transport: s.Client().Transport}}
	client := anthropic.New(m, anthropic.Options{Endpoint: e, NoStream: !streamed(i)})
	compareAnswers(t, want, reading{message: collect(t, client, req)})
}

// readFrames gives our client of Bedrock the frames as they were recorded. It must take each of them, and miss only the end of a
// Converse answer; of frames with one bit changed it must say so.
func readFrames(t *testing.T, m llm.Model, i *interaction, req *llm.Request, _ answer) {
	t.Helper()
	if !recordedFrames(i) {
		return
	}
	read := func(body []byte) string {
		var sent []byte
		s := serve(t, i.contentType(), body, &sent)
		e := wire.Endpoint{BaseURL: s.URL, Key: "key", HTTP: &http.Client{Transport: s.Client().Transport}}
		_, err := llm.Collect(t.Context(), bedrock.New(m, bedrock.Options{Endpoint: e, Region: "us-east-1"}), req)
		known, ok := errors.AsType[*llm.Error](err)
		if !ok {
			t.Fatalf("the frames of another operation are taken for an answer: %v", err)
		}
		return known.Error()
	}
	whole := []byte(i.Response.Body)
	damaged := slices.Clone(whole)
	damaged[len(damaged)/2] ^= 1
	cut, damage := read(whole), read(damaged)
	if strings.Contains(cut, "checksum") || strings.Contains(cut, "malformed") {
		t.Errorf("the recorded frames are not read: %s", cut)
	}
	if !strings.Contains(damage, "checksum") && !strings.Contains(damage, "length") {
		t.Errorf("damage is not noticed: %s", damage)
	}
}
