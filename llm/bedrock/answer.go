package bedrock

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// usageTimeout is how long the client waits for the usage of a complete answer.
const usageTimeout = 5 * time.Second

// decoder reads a streamed answer.
type decoder struct {
	resp   *wire.Response
	answer *wire.Answer
	family family
	cancel func() // ends the reading

	late     *time.Timer // cancels the wait for the usage
	index    int         // of the current block
	redacted []byte      // encrypted thinking of that block
	stopped  bool        // the answer is complete, only its usage may be missing
}

// event is the payload of every event of a stream.
type event struct {
	Index int `json:"contentBlockIndex"`
	Start struct {
		Use *struct {
			ID   string `json:"toolUseId"`
			Name string `json:"name"`
		} `json:"toolUse"`
	} `json:"start"`
	Delta struct {
		Text string `json:"text"`
		Use  *struct {
			Input string `json:"input"`
		} `json:"toolUse"`
		Reasoning *struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
			Redacted  []byte `json:"redactedContent"`
		} `json:"reasoningContent"`
	} `json:"delta"`
	Stop  string `json:"stopReason"`
	Usage *usage `json:"usage"`
}

// read reads the answer up to its usage. After the error of a stream that ended early, stopped says whether it was complete.
func (d *decoder) read() error {
	defer func() {
		if d.late != nil {
			d.late.Stop()
		}
	}()
	frames := frameReader{r: d.resp}
	for {
		f, err := frames.next()
		switch {
		case err == io.EOF && d.stopped:
			return nil
		case err == io.EOF, err == errCut:
			return d.resp.Cut()
		case err != nil:
			return d.broken(err)
		}
		done, err := d.frame(f)
		if err != nil || done {
			return err
		}
	}
}

// broken returns the error of a stream with an unreadable rest.
func (d *decoder) broken(err error) error {
	if known, ok := errors.AsType[*llm.Error](err); ok {
		return known
	}
	return d.resp.Protocol(err.Error())
}

// frame handles one message of the stream. It reports whether it was the last.
func (d *decoder) frame(f frame) (done bool, err error) {
	switch string(f.message) {
	case "exception":
		return false, d.exception(string(f.exception), f.payload)
	case "error":
		return false, d.resp.Failed(string(f.code), string(f.text))
	}
	var e event
	switch string(f.event) {
	case "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
		if err := d.resp.Decode(f.payload, &e); err != nil {
			return false, err
		}
	}
	return d.event(string(f.event), &e)
}

// event handles one event and ignores unknown ones.
func (d *decoder) event(name string, e *event) (done bool, err error) {
	more := true
	switch name {
	case "contentBlockStart":
		more = d.start(e)
	case "contentBlockDelta":
		more = d.delta(e)
	case "contentBlockStop":
		more = d.end(e.Index)
	case "messageStop":
		d.end(d.index)
		if err := stop(d.resp, d.answer, e.Stop); err != nil {
			return false, err
		}
		d.stopped = true
		d.late = time.AfterFunc(usageTimeout, d.cancel)
	case "metadata":
		if e.Usage != nil {
			d.answer.Usage = e.Usage.disjoint(d.family)
		}
		if d.stopped {
			d.resp.Complete()
			return true, nil
		}
	}
	if !more {
		return false, errLeft
	}
	return false, nil
}

// exception converts an error that the server sends within the stream.
func (d *decoder) exception(name string, payload []byte) error {
	var e struct {
		Message  string `json:"message"`
		Original string `json:"originalMessage"`
	}
	if err := wire.Unmarshal(payload, &e); err != nil {
		e.Message = string(payload)
	}
	if e.Original != "" && e.Original != e.Message {
		e.Message = strings.TrimRight(e.Message, ". ") + ": " + e.Original
	}
	return d.resp.Failed(name, e.Message)
}

// key distinguishes calls.
func key(index int) string { return strconv.Itoa(index) }

func (d *decoder) start(e *event) bool {
	d.turn(e.Index)
	if use := e.Start.Use; use != nil {
		return d.answer.Call(key(e.Index), use.ID, use.Name)
	}
	return true
}

func (d *decoder) delta(e *event) bool {
	d.turn(e.Index)
	switch {
	case e.Delta.Use != nil:
		return d.answer.Arguments(key(e.Index), e.Delta.Use.Input)
	case e.Delta.Reasoning != nil:
		r := e.Delta.Reasoning
		d.answer.Sign(r.Signature)
		d.redacted = append(d.redacted, r.Redacted...)
		return d.answer.Thinking(r.Text)
	default:
		return d.answer.Text(e.Delta.Text)
	}
}

// turn switches to another block if the number differs: the server does not announce the beginning of a text.
func (d *decoder) turn(index int) {
	if index != d.index {
		d.close()
		d.index = index
	}
}

func (d *decoder) end(index int) bool {
	d.close()
	return d.answer.EndCall(key(index))
}

// close ends a text or thinking.
func (d *decoder) close() {
	if len(d.redacted) > 0 {
		keepRedacted(d.answer, d.redacted)
		d.redacted = nil
	}
	d.answer.Break()
}

func keepRedacted(a *wire.Answer, redacted []byte) {
	if data, err := wire.Marshal(opaqueThinking{redacted}); err == nil {
		a.OpaqueThinking([]byte(data))
	}
}

// stop handles the reason for the end of the answer.
func stop(resp *wire.Response, a *wire.Answer, reason string) error {
	switch reason {
	case "end_turn", "stop_sequence":
		a.Stop = llm.StopEnd
	case "tool_use":
		a.Stop = llm.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		a.Stop = llm.StopLength
	case "guardrail_intervened", "content_filtered":
		a.Stop = llm.StopRefused
	case "malformed_model_output", "malformed_tool_use":
		return resp.Protocol("the model wrote what is no answer (" + reason + ")")
	}
	return nil // for an unknown reason the content is enough
}

// usage is the counts of the protocol.
type usage struct {
	Input      int64 `json:"inputTokens"`
	Output     int64 `json:"outputTokens"`
	CacheRead  int64 `json:"cacheReadInputTokens"`
	CacheWrite int64 `json:"cacheWriteInputTokens"`
}

// disjoint returns counts that do not overlap. Input excludes cached tokens, but OpenAI models include them when they
// stream.
func (u *usage) disjoint(f family) llm.Usage {
	if cached := u.CacheRead + u.CacheWrite; f.cacheInInput && u.Input >= cached {
		u.Input -= cached
	}
	return llm.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
}

// whole is an answer that is not streamed.
type whole struct {
	Output *struct {
		Message struct {
			Content []struct {
				Text string `json:"text"`
				Use  *struct {
					ID    string         `json:"toolUseId"`
					Name  string         `json:"name"`
					Input jsontext.Value `json:"input"`
				} `json:"toolUse"`
				Reasoning *struct {
					Text     reasoningText `json:"reasoningText"`
					Redacted []byte        `json:"redactedContent"`
				} `json:"reasoningContent"`
			} `json:"content"`
		} `json:"message"`
	} `json:"output"`
	Stop  string `json:"stopReason"`
	Usage usage  `json:"usage"`
}

// readWhole reads an answer that is not streamed.
func readWhole(resp *wire.Response, a *wire.Answer, f family) error {
	data, err := resp.All()
	if err != nil {
		return err
	}
	var w whole
	if err := resp.Decode(data, &w); err != nil {
		return err
	}
	if w.Output == nil {
		return resp.FailedWith(data) // some gateways answer so with status 200
	}
	for i, b := range w.Output.Message.Content {
		switch {
		case b.Use != nil:
			a.Call(key(i), b.Use.ID, b.Use.Name)
			a.Arguments(key(i), string(b.Use.Input))
			a.EndCall(key(i))
		case b.Reasoning != nil:
			a.Break()
			a.Sign(b.Reasoning.Text.Signature)
			a.Thinking(b.Reasoning.Text.Text)
			if len(b.Reasoning.Redacted) > 0 {
				keepRedacted(a, b.Reasoning.Redacted)
			}
		default:
			a.Break()
			a.Text(b.Text)
		}
	}
	if err := stop(resp, a, w.Stop); err != nil {
		return err
	}
	a.Usage = w.Usage.disjoint(f)
	resp.Complete()
	a.Finish()
	return nil
}
