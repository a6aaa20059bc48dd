package modelserver

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/tenon-agent/tenon/llm"
)

// bedrockMessage encodes one message of an event stream.
func bedrockMessage(kind, nameHeader, name string, payload []byte) []byte {
	m := eventstream.Message{Payload: payload}
	m.Headers.Set(nameHeader, eventstream.StringValue(name))
	m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	m.Headers.Set(":message-type", eventstream.StringValue(kind))
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil { // a payload of more than 16 MB
		panic(err)
	}
	return b.Bytes()
}

// bedrockEvent pads its payload to hide the length of what it says.
func bedrockEvent(name string, payload object) []byte {
	payload["p"] = "abcdefghijklmnopqrstuvwxyz"[:1+len(name)%20]
	return bedrockMessage("event", ":event-type", name, encode(payload))
}

func bedrockHalf() []byte {
	return bedrockMessage("event", ":event-type", "contentBlockDelta", []byte(`{"contentBlockIndex":0,"del`))
}

// bedrockException is an error in the stream.
func bedrockException(status int, message string) []byte {
	name := "internalServerException"
	switch status {
	case 400:
		name = "validationException"
	case 424:
		name = "modelStreamErrorException"
	case 429:
		name = "throttlingException"
	case 503, 529:
		name = "serviceUnavailableException"
	}
	return bedrockMessage("exception", ":exception-type", name, encode(object{"message": message}))
}

// bedrockLong is the head of a message of n bytes; what follows is noise.
func bedrockLong(n int64) []byte {
	head := make([]byte, 12)
	binary.BigEndian.PutUint32(head, uint32(min(n, 1<<32-1)))
	binary.BigEndian.PutUint32(head[4:], 0)
	binary.BigEndian.PutUint32(head[8:], crc32.ChecksumIEEE(head[:8]))
	return head
}

func (a *answer) bedrockUsage() object {
	u := object{"inputTokens": a.usage.Input, "outputTokens": a.written(), "totalTokens": a.usage.Total(), "serverToolUsage": object{}}
	if a.usage.CacheRead > 0 || a.usage.CacheWrite > 0 {
		u["cacheReadInputTokens"], u["cacheWriteInputTokens"] = a.usage.CacheRead, a.usage.CacheWrite
	}
	return u
}

func (a *answer) bedrockStream() []frame {
	var frames []frame
	add := func(k kind, name string, payload object) {
		frames = append(frames, frame{kind: k, data: bedrockEvent(name, payload)})
	}
	add(opening, "messageStart", object{"role": "assistant"})
	for i, p := range a.content {
		if c, ok := p.(llm.ToolCall); ok {
			start := object{"toolUse": object{"toolUseId": c.ID, "name": c.Name}}
			add(opening, "contentBlockStart", object{"contentBlockIndex": i, "start": start})
		}
		k, deltas := a.bedrockDeltas(p)
		for _, d := range deltas {
			add(k, "contentBlockDelta", object{"contentBlockIndex": i, "delta": d})
		}
		add(opening, "contentBlockStop", object{"contentBlockIndex": i})
	}
	add(closing, "messageStop", object{"stopReason": a.stopReason("content_filtered")})
	add(closing, "metadata", object{"usage": a.bedrockUsage(), "metrics": object{"latencyMs": 1298}})
	return frames
}

func (a *answer) bedrockDeltas(p llm.Part) (k kind, deltas []object) {
	switch p := p.(type) {
	case llm.Thinking:
		if data, ok := redacted(p); ok {
			return thinking, []object{{"reasoningContent": object{"redactedContent": base64.StdEncoding.EncodeToString([]byte(data))}}}
		}
		for _, s := range pieces(p.Text, a.config.DeltaBytes) {
			deltas = append(deltas, object{"reasoningContent": object{"text": s}})
		}
		return thinking, append(deltas, object{"reasoningContent": object{"signature": p.Signature}})
	case llm.ToolCall:
		for _, s := range pieces(p.Arguments, a.config.DeltaBytes) {
			deltas = append(deltas, object{"toolUse": object{"input": s}})
		}
		return call, deltas
	case llm.Text:
		for _, s := range pieces(p.Text, a.config.DeltaBytes) {
			deltas = append(deltas, object{"text": s})
		}
	}
	return text, deltas
}

func (a *answer) bedrockWhole() any {
	content := []any{}
	for _, p := range a.content {
		switch p := p.(type) {
		case llm.Thinking:
			block := object{"reasoningText": object{"text": p.Text, "signature": p.Signature}}
			if data, ok := redacted(p); ok {
				block = object{"redactedContent": base64.StdEncoding.EncodeToString([]byte(data))}
			}
			content = append(content, object{"reasoningContent": block})
		case llm.ToolCall:
			content = append(content, object{"toolUse": object{"toolUseId": p.ID, "name": p.Name, "input": arguments(p)}})
		case llm.Text:
			content = append(content, object{"text": p.Text})
		}
	}
	return object{
		"output":  object{"message": object{"role": "assistant", "content": content}},
		"metrics": object{"latencyMs": 1298}, "stopReason": a.stopReason("content_filtered"), "usage": a.bedrockUsage(),
	}
}

func (a *answer) bedrockDelta(s string) []byte {
	return bedrockEvent("contentBlockDelta", object{"contentBlockIndex": 0, "delta": object{"text": s}})
}
