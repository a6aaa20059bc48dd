package openai

import (
	"bytes"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// chatDecoder reads one answer.
type chatDecoder struct {
	chat   *Chat
	resp   *wire.Response
	answer *wire.Answer

	split   splitter
	native  bool // thinking came as such, so tags in the text are text
	said    bool // anything of the answer came
	refused bool
	finish  string // finish_reason
	done    bool   // [DONE]
	left    bool   // the consumer has left
	calls   callKeys
	details []*keptDetail
	pieces  int   // elements of details in all
	failed  error // why the answer cannot be taken

	text, thinking func(string) bool // of answer; bound once, because each binding allocates
}

func (c *Chat) decoder(resp *wire.Response, yield func(llm.Event, error) bool) *chatDecoder {
	d := &chatDecoder{chat: c, resp: resp, answer: wire.NewAnswer(c.model, resp, yield)}
	d.text, d.thinking = d.answer.Text, d.answer.Thinking
	d.split.open = c.o.Profile.ThinkOpened
	return d
}

// stream reads an answer as it comes. It returns nil when the answer is complete, or when the consumer has left.
func (d *chatDecoder) stream() error {
	for e, err := range d.resp.Events() {
		if err == nil {
			err = d.event(e)
		} else if d.finish != "" && llm.AsError(err).Retryable() {
			break // at most the usage is missing
		}
		if err != nil {
			return err
		}
		if d.left {
			return nil
		}
		if d.done {
			d.resp.Complete()
			break
		}
	}
	if d.finish == "" && (!d.done || d.calls.n > 0) {
		return d.resp.Cut()
	}
	return d.end()
}

// whole reads an answer that is one JSON value.
func (d *chatDecoder) whole() error {
	data, err := d.resp.All()
	if err != nil {
		return err
	}
	var chunk chatChunk
	if err := d.resp.Decode(data, &chunk); err != nil {
		return err
	}
	d.resp.Complete()
	if err := d.chunk(&chunk, data); err != nil || d.left {
		return err
	}
	if len(chunk.Choices) == 0 {
		return d.resp.Protocol("the answer has no choices: " + excerpt(data))
	}
	return d.end()
}

// excerpt returns the beginning of a server's text, for an error.
func excerpt(data []byte) string {
	const most = 200
	data = bytes.TrimSpace(data)
	if len(data) > most {
		data = append(data[:most:most], "…"...)
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// event reads one event of the stream.
func (d *chatDecoder) event(e wire.Event) error {
	data := bytes.TrimSpace(e.Data)
	switch {
	case bytes.Equal(data, []byte("[DONE]")):
		d.done = true
		return nil
	case len(data) == 0:
		return nil
	case string(e.Name) == "error":
		return d.resp.FailedWith(data)
	}
	var chunk chatChunk
	if err := d.resp.Decode(data, &chunk); err != nil {
		return err
	}
	return d.chunk(&chunk, data)
}

// chunk handles an event or a whole answer.
func (d *chatDecoder) chunk(chunk *chatChunk, data []byte) error {
	if there(chunk.Error) || bool(chunk.Object) {
		return d.resp.FailedWith(data)
	}
	if d.answer.ID(string(chunk.ID)); chunk.Model != "" && d.answer.Model == "" {
		d.answer.Model = d.chat.answered(string(chunk.Model))
	}
	if u := chunk.Usage; u != nil && !u.empty() {
		d.answer.Usage = u.counts(&d.chat.o.Profile)
	}
	for i := range chunk.Choices {
		if c := &chunk.Choices[i]; c.Index == 0 {
			if err := d.choice(c); err != nil {
				return err
			}
		}
	}
	return d.failed
}

func (d *chatDecoder) choice(c *chatChoice) error {
	if there(c.Error) {
		return d.resp.FailedWith([]byte(`{"error":` + string(c.Error) + `}`))
	}
	if c.Delta != nil {
		d.delta(c.Delta)
	}
	if c.Message != nil && !d.said {
		c.Message.whole()
		d.delta(c.Message)
	}
	if c.Finish != "" && d.finish == "" {
		d.finish = string(c.Finish)
		d.resp.Ending()
		return d.stop()
	}
	return nil
}

// stop handles the finish reason.
func (d *chatDecoder) stop() error {
	switch strings.ToLower(d.finish) {
	case "length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded":
		d.answer.Stop = llm.StopLength
	case "content_filter", "refusal", "sensitive", "safety":
		d.answer.Stop = llm.StopRefused
	case "tool_calls", "function_call", "tool_use":
		d.answer.Stop = llm.StopCalls
	case "error", "network_error", "insufficient_system_resource", "abort", "aborted":
		return d.resp.Failed("", "the server ended the answer with the reason "+d.finish)
	default:
		d.answer.Stop = llm.StopEnd
	}
	return nil
}

// end completes the answer.
func (d *chatDecoder) end() error {
	if !d.flush() {
		return nil
	}
	d.keepDetails()
	if d.refused {
		d.answer.Stop = llm.StopRefused
	}
	d.answer.Finish()
	return nil
}

// answered returns the ID of the answering model if it is not the requested one. Only a router chooses another model: other servers
// name a version or a file.
func (c *Chat) answered(id string) string {
	if !c.o.Profile.Router || id == c.model.ID || strings.HasPrefix(id, c.model.ID+"-") {
		return ""
	}
	if base, _, variant := strings.Cut(c.model.ID, ":"); variant && (id == base || strings.HasPrefix(id, base+"-")) {
		return ""
	}
	return id
}

// delta handles a piece of the answer.
func (d *chatDecoder) delta(m *chatDelta) {
	d.thoughts(m)
	if m.Content.text != "" {
		d.write(m.Content.text)
	}
	for i := range m.Content.parts {
		d.part(&m.Content.parts[i])
	}
	if m.Refusal != "" {
		d.refused = true
		d.put(d.flush() && d.text(string(m.Refusal)))
	}
	for i := range m.Calls {
		d.call(&m.Calls[i])
	}
	if m.Function != nil {
		d.call(&chatCallDelta{Index: new(looseNumber), Function: *m.Function})
	}
}

// put notes whether the consumer wants more after something was yielded.
func (d *chatDecoder) put(more bool) {
	d.said = true
	d.left = d.left || !more
}

// thoughts handles reasoning. A server that spells it in several ways repeats the same text in all of them.
func (d *chatDecoder) thoughts(m *chatDelta) {
	said := firstOf(m.ReasoningContent, m.Reasoning, m.Thinking)
	for i := range m.Details {
		if text := d.detail(&m.Details[i]); said == "" {
			d.think(text)
		}
	}
	d.think(string(said))
}

func firstOf(all ...looseString) looseString {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

func (d *chatDecoder) think(s string) {
	if s != "" {
		d.native = true
		d.put(d.flush() && d.thinking(s))
	}
}

// write handles text that may contain tags.
func (d *chatDecoder) write(s string) {
	d.keepDetails()
	if d.native {
		d.put(d.flush() && d.text(s))
		return
	}
	d.put(d.split.write(s, d.text, d.thinking))
}

// flush passes on the text that the splitter holds back.
func (d *chatDecoder) flush() bool { return d.split.flush(d.text, d.thinking) && !d.left }

// part handles a part of a content that is a list.
func (d *chatDecoder) part(p *chatContentPart) {
	switch {
	case p.Thinking != "":
		d.think(string(p.Thinking))
	case p.Refusal != "":
		d.refused = true
		d.put(d.flush() && d.text(string(p.Refusal)))
	case p.Text != "":
		d.write(string(p.Text))
	}
}
