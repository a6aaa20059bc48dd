package modelserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// answer is what the minimal readers of this test find in a body.
type answer struct {
	thought, signature, text, calls string // calls: name(arguments) of each
	input, output                   float64
	stop                            string
	err                             string // an error in the stream
}

// doc is a JSON value that is looked into by path.
type doc struct{ v any }

func (d doc) at(path ...any) doc {
	for _, key := range path {
		switch key := key.(type) {
		case string:
			m, _ := d.v.(map[string]any)
			d = doc{m[key]}
		case int:
			l, _ := d.v.([]any)
			if key >= len(l) {
				return doc{}
			}
			d = doc{l[key]}
		}
	}
	return d
}

func (d doc) str() string  { s, _ := d.v.(string); return s }
func (d doc) num() float64 { n, _ := d.v.(float64); return n }
func (d doc) list() (out []doc) {
	l, _ := d.v.([]any)
	for _, v := range l {
		out = append(out, doc{v})
	}
	return out
}

func (d doc) json() string {
	b, _ := json.Marshal(d.v)
	return string(b)
}

// events returns the JSON of each event of a stream. [DONE] is the string.
func events(p modelserver.Protocol, body []byte) (out []doc, err error) {
	if p == modelserver.Bedrock {
		return messages(body)
	}
	if p == modelserver.Ollama {
		return lines(body)
	}
	for block := range strings.SplitSeq(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n\n") {
		for line := range strings.Lines(block) {
			data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
			if !ok {
				continue
			}
			var v any = data
			if data != "[DONE]" {
				if err := json.Unmarshal([]byte(data), &v); err != nil {
					return out, err
				}
			}
			out = append(out, doc{v})
		}
	}
	return out, nil
}

// lines returns the JSON of each line.
func lines(body []byte) (out []doc, err error) {
	for line := range strings.Lines(string(body)) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return out, err
		}
		out = append(out, doc{v})
	}
	return out, nil
}

// messages returns {name: payload} for each message of an event stream.
func messages(body []byte) (out []doc, err error) {
	r, dec := bytes.NewReader(body), eventstream.NewDecoder()
	for {
		m, err := dec.Decode(r, nil)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		name := m.Headers.Get(":event-type")
		if name == nil {
			name = m.Headers.Get(":exception-type")
		}
		var v any
		if err := json.Unmarshal(m.Payload, &v); err != nil {
			return out, err
		}
		out = append(out, doc{map[string]any{name.String(): v}})
	}
}

// read reads an answer of any protocol.
func read(t *testing.T, p modelserver.Protocol, stream bool, body []byte) answer {
	t.Helper()
	var a answer
	if !stream {
		var v any
		if err := json.Unmarshal(body, &v); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		a.whole(p, doc{v})
		return a
	}
	all, err := events(p, body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, e := range all {
		a.event(p, e)
	}
	return a
}

func (a *answer) event(p modelserver.Protocol, e doc) {
	switch p {
	case modelserver.Anthropic, modelserver.AnthropicVertex:
		a.anthropic(e)
	case modelserver.OpenAIChat:
		a.chat(e)
	case modelserver.OpenAIResponses:
		a.responses(e)
	case modelserver.Bedrock:
		a.bedrock(e)
	case modelserver.Ollama:
		a.ollama(e)
	default:
		a.gemini(e)
	}
}

func (a *answer) anthropic(e doc) {
	a.err += e.at("error", "type").str()
	a.input += e.at("message", "usage", "input_tokens").num()
	if e.at("type").str() == "message_delta" {
		a.stop, a.output = e.at("delta", "stop_reason").str(), e.at("usage", "output_tokens").num()
	}
	if b := e.at("content_block"); b.at("type").str() == "tool_use" {
		a.calls += b.at("name").str() + "|"
	}
	d := e.at("delta")
	a.text += d.at("text").str()
	a.thought += d.at("thinking").str()
	a.signature += d.at("signature").str()
	a.calls += d.at("partial_json").str()
}

func (a *answer) chat(e doc) {
	a.err += e.at("error", "type").str()
	c := e.at("choices", 0)
	a.chatMessage(c.at("delta"))
	if stop := c.at("finish_reason").str(); stop != "" {
		a.stop = stop
	}
	if u := e.at("usage"); u.v != nil {
		a.input, a.output = u.at("prompt_tokens").num(), u.at("completion_tokens").num()
	}
}

func (a *answer) chatMessage(m doc) {
	a.text += m.at("content").str()
	a.thought += m.at("reasoning_content").str() + m.at("reasoning").str()
	for _, d := range m.at("reasoning_details").list() {
		a.signature += d.at("signature").str()
	}
	for _, c := range m.at("tool_calls").list() {
		if name := c.at("function", "name").str(); name != "" {
			a.calls += name + "|"
		}
		a.calls += c.at("function", "arguments").str()
	}
}

func (a *answer) responses(e doc) {
	switch e.at("type").str() {
	case "response.output_text.delta", "response.refusal.delta":
		a.text += e.at("delta").str()
	case "response.reasoning_summary_text.delta":
		a.thought += e.at("delta").str()
	case "response.function_call_arguments.delta":
		a.calls += e.at("delta").str()
	case "response.output_item.added":
		if name := e.at("item", "name").str(); name != "" {
			a.calls += name + "|"
		}
	case "response.output_item.done":
		a.signature += e.at("item", "encrypted_content").str()
	case "response.completed", "response.incomplete", "response.failed":
		r := e.at("response")
		a.stop, a.err = r.at("status").str(), r.at("error", "code").str()
		a.input, a.output = r.at("usage", "input_tokens").num(), r.at("usage", "output_tokens").num()
	case "error":
		a.err = e.at("code").str()
	}
}

func (a *answer) gemini(e doc) {
	a.err += e.at("error", "status").str()
	c := e.at("candidates", 0)
	for _, p := range c.at("content", "parts").list() {
		if p.at("thought").v == true {
			a.thought += p.at("text").str()
		} else {
			a.text += p.at("text").str()
		}
		a.signature += p.at("thoughtSignature").str()
		if f := p.at("functionCall"); f.v != nil {
			a.calls += f.at("name").str() + "|" + f.at("args").json()
		}
	}
	if stop := c.at("finishReason").str(); stop != "" {
		a.stop = stop
	}
	a.input, a.output = e.at("usageMetadata", "promptTokenCount").num(), e.at("usageMetadata", "candidatesTokenCount").num()
	a.output += e.at("usageMetadata", "thoughtsTokenCount").num()
}

func (a *answer) bedrock(e doc) {
	for name := range e.v.(map[string]any) {
		if strings.HasSuffix(name, "Exception") {
			a.err = name
		}
	}
	if name := e.at("contentBlockStart", "start", "toolUse", "name").str(); name != "" {
		a.calls += name + "|"
	}
	d := e.at("contentBlockDelta", "delta")
	a.text += d.at("text").str()
	a.thought += d.at("reasoningContent", "text").str()
	a.signature += d.at("reasoningContent", "signature").str()
	a.calls += d.at("toolUse", "input").str()
	if stop := e.at("messageStop", "stopReason").str(); stop != "" {
		a.stop = stop
	}
	a.input += e.at("metadata", "usage", "inputTokens").num()
	a.output += e.at("metadata", "usage", "outputTokens").num()
}

// ollama reads a line of a stream, or a whole answer.
func (a *answer) ollama(e doc) {
	a.err += e.at("error").str()
	m := e.at("message")
	a.text += m.at("content").str()
	a.thought += m.at("thinking").str()
	for _, c := range m.at("tool_calls").list() {
		a.call(c.at("function", "name").str(), c.at("function", "arguments"))
	}
	if e.at("done").v == true {
		a.stop, a.input, a.output = e.at("done_reason").str(), e.at("prompt_eval_count").num(), e.at("eval_count").num()
	}
}

// whole reads an answer that is not streamed.
func (a *answer) whole(p modelserver.Protocol, v doc) {
	switch p {
	case modelserver.Anthropic, modelserver.AnthropicVertex:
		for _, b := range v.at("content").list() {
			a.anthropic(doc{map[string]any{"delta": b.v}})
			a.call(b.at("name").str(), b.at("input"))
		}
		a.stop, a.input, a.output = v.at("stop_reason").str(), v.at("usage", "input_tokens").num(), v.at("usage", "output_tokens").num()
	case modelserver.OpenAIChat:
		a.chat(v)
		a.chatMessage(v.at("choices", 0, "message"))
	case modelserver.OpenAIResponses:
		for _, item := range v.at("output").list() {
			a.thought += item.at("summary", 0, "text").str()
			a.signature += item.at("encrypted_content").str()
			a.text += item.at("content", 0, "text").str() + item.at("content", 0, "refusal").str()
			if name := item.at("name").str(); name != "" {
				a.calls += name + "|" + item.at("arguments").str()
			}
		}
		a.stop, a.input, a.output = v.at("status").str(), v.at("usage", "input_tokens").num(), v.at("usage", "output_tokens").num()
	case modelserver.Bedrock:
		for _, b := range v.at("output", "message", "content").list() {
			a.text += b.at("text").str()
			a.thought += b.at("reasoningContent", "reasoningText", "text").str()
			a.signature += b.at("reasoningContent", "reasoningText", "signature").str()
			a.call(b.at("toolUse", "name").str(), b.at("toolUse", "input"))
		}
		a.stop, a.input, a.output = v.at("stopReason").str(), v.at("usage", "inputTokens").num(), v.at("usage", "outputTokens").num()
	case modelserver.Ollama:
		a.ollama(v)
	default:
		a.gemini(v)
	}
}

func (a *answer) call(name string, input doc) {
	if name != "" {
		a.calls += fmt.Sprintf("%s|%s", name, input.json())
	}
}
