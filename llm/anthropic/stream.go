package anthropic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// decoder passes the events of a response to an answer.
type decoder struct {
	resp   *wire.Response
	answer *wire.Answer
	asked  string // ID of the model that was asked
	used   usage
	calls  map[int]*call // the content blocks that are calls and not over, by their index
	begun  int           // calls
}

// call is a content block while it comes.
type call struct {
	key   string
	input jsontext.Value // initial arguments
	came  bool           // more came
}

// event is an event of the stream. Type decides which of the fields are there.
type event struct {
	Type    string         `json:"type"`
	Index   int            `json:"index"`
	Delta   delta          `json:"delta"`
	Block   content        `json:"content_block"`
	Message answer         `json:"message"`
	Usage   usage          `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type delta struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	JSON      string `json:"partial_json"`
	Stop      string `json:"stop_reason"`
}

// content is a content block: whole, or as it begins.
type content struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
}

// stream reads a streamed answer and returns its error. It also returns nil if the consumer has left.
func (d *decoder) stream() error {
	var e event // one for all: most events are tiny
	for raw, err := range d.resp.Events() {
		if err != nil {
			return err
		}
		e = event{}
		if err := d.decode(raw, &e); err != nil {
			return err
		}
		if e.Type == "message_stop" {
			d.resp.Complete()
			d.finish()
			return nil
		}
		if !d.take(&e) {
			return nil
		}
	}
	return d.resp.Cut()
}

// decode reads an event. It returns the error that the event carries, or a parse error. It skips events of other types,
// whatever their form.
func (d *decoder) decode(raw wire.Event, e *event) error {
	bad := wire.Unmarshal(raw.Data, e)
	if bad != nil {
		*e = event{}
		_ = wire.Unmarshal(raw.Data, &struct { // on failure the event has no type
			Type *string `json:"type"`
		}{&e.Type})
	}
	if e.Type == "" {
		e.Type = string(raw.Name) // the data takes precedence: some servers name no events
	}
	switch {
	case e.Type == "error", e.Type == "" && len(e.Error) > 0:
		return d.resp.FailedWith(raw.Data)
	case bad != nil && (e.Type == "" || slices.Contains(known(), e.Type)):
		return d.resp.Decode(raw.Data, &event{})
	}
	return nil
}

// known returns the types of events that the client reads.
func known() []string {
	return []string{
		"message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
	}
}

// take handles an event, and reports whether the consumer wants more.
func (d *decoder) take(e *event) bool {
	switch e.Type {
	case "content_block_delta":
		return d.delta(e.Index, &e.Delta)
	case "content_block_start":
		return d.begin(e.Index, &e.Block)
	case "content_block_stop":
		return d.end(e.Index)
	case "message_start":
		d.head(&e.Message)
	case "message_delta":
		d.used.update(&e.Usage)
		d.answer.Usage = d.used.disjoint()
		if e.Delta.Stop != "" {
			d.answer.Stop = stopReason(e.Delta.Stop)
		}
	}
	return true
}

func (d *decoder) delta(index int, e *delta) bool {
	switch e.Type {
	case "text_delta":
		return d.answer.Text(e.Text)
	case "thinking_delta":
		return d.answer.Thinking(e.Thinking)
	case "signature_delta":
		d.answer.Sign(e.Signature)
	case "input_json_delta":
		if c := d.calls[index]; c != nil && e.JSON != "" {
			c.came = true
			return d.answer.Arguments(c.key, e.JSON)
		}
	}
	return true
}

// begin begins a content block. It ignores blocks that this client does not ask for, such as calls of tools that the server
// runs itself.
func (d *decoder) begin(index int, b *content) bool {
	d.answer.Break()
	switch b.Type {
	case "text":
		return d.answer.Text(b.Text)
	case "thinking":
		d.answer.Sign(b.Signature)
		return d.answer.Thinking(b.Thinking)
	case "redacted_thinking":
		d.redacted(b.Data)
	case "tool_use":
		c := &call{key: strconv.Itoa(d.begun), input: b.Input.Clone()}
		d.begun++
		if d.calls == nil {
			d.calls = make(map[int]*call)
		}
		d.calls[index] = c
		return d.answer.Call(c.key, b.ID, b.Name)
	}
	return true
}

func (d *decoder) end(index int) bool {
	d.answer.Break()
	c := d.calls[index]
	if c == nil {
		return true
	}
	delete(d.calls, index)
	if !c.came && !d.answer.Arguments(c.key, arguments(c.input)) {
		return false
	}
	return d.answer.EndCall(c.key)
}

// redacted keeps encrypted thinking in the form that the provider wants back.
func (d *decoder) redacted(data string) {
	if opaque, err := wire.Marshal(redactedThinking{"redacted_thinking", data}); err == nil && data != "" {
		d.answer.OpaqueThinking(opaque)
	}
	d.answer.Break()
}

// head reads the fields that come before or next to the content.
func (d *decoder) head(a *answer) {
	d.answer.ID(a.ID)
	if a.Model != "" && !sameModel(d.asked, a.Model) {
		d.answer.Model = a.Model
	}
	d.used.update(&a.Usage)
	d.answer.Usage = d.used.disjoint()
}

// sameModel reports whether the answering model is the requested one: the server answers an alias with the full name.
func sameModel(asked, answered string) bool {
	asked, answered = strings.ReplaceAll(asked, "@", "-"), strings.ReplaceAll(answered, "@", "-")
	asked = strings.TrimSuffix(strings.TrimSuffix(asked, "-latest"), "-0")
	return strings.HasPrefix(answered, asked) || strings.HasPrefix(asked, answered)
}

func (d *decoder) finish() { d.answer.Finish() }

func stopReason(s string) llm.StopReason {
	switch s {
	case "tool_use":
		return llm.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefused
	default: // end_turn, stop_sequence, pause_turn
		return llm.StopEnd
	}
}
