package ollama

import (
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// chunk is a line of a stream, or a whole answer.
type chunk struct {
	Message struct {
		Content  string     `json:"content"`
		Thinking string     `json:"thinking"`
		Calls    []received `json:"tool_calls"`
	} `json:"message"`
	Done   bool           `json:"done"`
	Reason string         `json:"done_reason"`
	Prompt int64          `json:"prompt_eval_count"`
	Answer int64          `json:"eval_count"`
	Error  jsontext.Value `json:"error"`
}

type received struct {
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// reader puts an answer together.
type reader struct {
	resp   *wire.Response
	answer *wire.Answer
	calls  int
	done   bool
}

// read reads the answer to its end and yields it.
func (r *reader) read() error {
	if !r.resp.Streamed {
		return r.end(r.whole())
	}
	for line, err := range r.resp.Lines() {
		if err == nil {
			err = r.take(line)
		}
		if err != nil || r.done || r.answer.Left() {
			return r.end(err)
		}
	}
	return r.end(nil)
}

// whole reads an answer without the media type of a stream: one object, or the lines of a stream under another type.
func (r *reader) whole() error {
	data, err := r.resp.All()
	for values := jsontext.NewDecoder(bytes.NewReader(data)); err == nil && !r.done; {
		var v jsontext.Value
		if v, err = values.ReadValue(); err == nil {
			err = r.take(v)
		} else if err == io.EOF {
			return nil
		} else {
			err = r.resp.Protocol("the answer is not JSON")
		}
	}
	return err
}

// take reads a line.
func (r *reader) take(data []byte) error {
	if data = bytes.TrimSpace(data); len(data) == 0 {
		return nil
	}
	var c chunk
	if err := r.resp.Decode(data, &c); err != nil {
		return err
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return r.resp.FailedWith(data)
	}
	a := r.answer
	if c.Message.Thinking != "" && !a.Thinking(c.Message.Thinking) || c.Message.Content != "" && !a.Text(c.Message.Content) {
		return nil
	}
	for _, call := range c.Message.Calls {
		if !r.call(call) {
			return nil
		}
	}
	if c.Done {
		r.done = true
		a.Usage = llm.Usage{Input: max(0, c.Prompt), Output: max(0, c.Answer)}
		if a.Stop = llm.StopEnd; c.Reason == "length" {
			a.Stop = llm.StopLength
		}
	}
	return nil
}

// call takes in a call, which always comes whole. It reports whether the consumer wants more.
func (r *reader) call(c received) bool {
	key := strconv.Itoa(r.calls)
	r.calls++
	_ = c.Function.Arguments.Compact() // a whole answer may have line breaks
	arguments := string(c.Function.Arguments)
	if arguments == "null" {
		arguments = ""
	}
	return r.answer.Call(key, c.ID, c.Function.Name) && r.answer.Arguments(key, arguments) && r.answer.EndCall(key)
}

// end ends the answer. Without its last line it was cut off.
func (r *reader) end(err error) error {
	switch {
	case err != nil:
		return err
	case r.answer.Left():
		return nil
	case !r.done:
		return r.resp.Cut()
	}
	r.resp.Complete()
	r.answer.Finish()
	return nil
}
