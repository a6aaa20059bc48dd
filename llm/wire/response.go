package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
)

// Bounds of an answer.
const (
	maxErrorBody = 64 << 10  // bytes of an error's body
	maxAnswer    = 256 << 20 // bytes of one answer, with all that surrounds it
	maxEvent     = 32 << 20  // bytes of one event
)

// excuseTimeout is how long the text of an error is waited for.
const excuseTimeout = 5 * time.Second

// Response is the beginning of an answer: the server has accepted the request.
type Response struct {
	Header    http.Header
	RequestID string // the provider's name for the request
	Streamed  bool   // the body is a stream; else it is one JSON value

	model, keyName string
	watch          *watch
	rc             io.ReadCloser
	left           int64 // bytes that may still come
	r              *bufio.Reader
	complete       bool
}

func newResponse(resp *http.Response, model, keyName string, w *watch) *Response {
	r := &Response{
		Header: resp.Header, RequestID: requestID(resp.Header), model: model, keyName: keyName,
		watch: w, rc: resp.Body, left: maxAnswer,
	}
	r.r = bufio.NewReaderSize(watched{r}, 16<<10)
	return r
}

// watched reads the body of a response. Its errors are io.EOF and [*llm.Error].
type watched struct{ *Response }

func (r watched) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, r.Protocol(fmt.Sprintf("the answer is longer than %d bytes", maxAnswer))
	}
	r.watch.waiting()
	n, err := r.rc.Read(p)
	r.watch.came(n)
	r.left -= int64(n)
	if err != nil && err != io.EOF {
		failed := r.watch.failure(err)
		if failed.RequestID == "" {
			failed.RequestID = r.RequestID
		}
		return n, failed
	}
	return n, err
}

// Read reads the raw body. The error is io.EOF or an [*llm.Error].
func (r *Response) Read(p []byte) (int, error) { return r.r.Read(p) }

// All reads the whole body, for answers that are not streamed.
func (r *Response) All() ([]byte, error) { return r.read(maxEvent) }

func (r *Response) read(most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.r, most+1))
	if err != nil {
		return data, err
	}
	if int64(len(data)) > most {
		return data[:most], r.Protocol(fmt.Sprintf("the answer is longer than %d bytes", most))
	}
	return data, nil
}

// peek returns the first bytes that have come, and waits for the first of them.
func (r *Response) peek() ([]byte, error) {
	if _, err := r.r.Peek(1); err != nil {
		return nil, err
	}
	return r.r.Peek(min(r.r.Buffered(), 512))
}

// Events yields the server-sent events of the body. The sequence ends with the body; whether the answer was complete
// then, the protocol knows. An error is an [*llm.Error] and the last pair.
func (r *Response) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		events := EventReader{r: r.r}
		for {
			e, err := events.Next()
			if err == io.EOF {
				return
			}
			if err == errTooLong {
				err = r.Protocol(fmt.Sprintf("an event is longer than %d bytes", maxEvent))
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Lines yields the lines of the body, without their ends. Each is valid until the next one. Errors are as in Events.
func (r *Response) Lines() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := EventReader{r: r.r}
		for {
			line, err := lines.readLine()
			if err == io.EOF {
				return
			}
			if err == errTooLong {
				err = r.Protocol(fmt.Sprintf("a line is longer than %d bytes", maxEvent))
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// lateTime is how long a client waits for the rest of a complete answer: some servers send the usage after it.
const lateTime = 2 * time.Second

// Ending reports that the answer lacks only optional parts, such as the usage. From then on the server may be silent for at most
// two seconds.
func (r *Response) Ending() { r.watch.ending(lateTime) }

// Complete says that the protocol's final event was read, so that the connection can be used again.
func (r *Response) Complete() { r.complete = true }

// drainTimeout is how long the end of a complete answer is waited for.
const drainTimeout = 50 * time.Millisecond

// Close ends the request. It first reads the rest of a complete answer if that is available at once.
func (r *Response) Close() {
	if r.complete && r.watch.ctx.Err() == nil {
		late := time.AfterFunc(drainTimeout, r.watch.stop)
		_, _ = io.CopyN(io.Discard, r.rc, maxErrorBody)
		late.Stop()
	}
	r.watch.stop()
	_ = r.rc.Close()
}

// Decode reads the JSON in data into v, which must be zero. The error is an [*llm.Error].
func (r *Response) Decode(data []byte, v any) error {
	if err := Unmarshal(data, v); err != nil {
		return r.Protocol(fmt.Sprintf("an event is malformed: %s: %s", inJSONWords(err), clip(string(bytes.TrimSpace(data)), 120)))
	}
	return nil
}

// inJSONWords describes an error in JSON. The package's own error for a value of the wrong kind names types of this program, and words it
// differently from one start to the next.
func inJSONWords(err error) string {
	wrong, ok := errors.AsType[*json.SemanticError](err)
	if !ok || wrong.JSONKind == 0 {
		return err.Error()
	}
	return fmt.Sprintf("the value at /%s is of the wrong kind", strings.TrimPrefix(string(wrong.JSONPointer), "/"))
}

// Protocol returns the error of an answer that is not as it must be. The same request may succeed another time.
func (r *Response) Protocol(message string) *llm.Error {
	return r.fail(&llm.Error{Kind: llm.KindProtocol, Message: message})
}

// Cut is the error of an answer that ended without the protocol's final event.
func (r *Response) Cut() *llm.Error {
	return r.Protocol("the answer was cut off: the stream ended without its final event")
}

// lenient is how foreign JSON is read.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Unmarshal reads JSON as model servers write it: names are case-sensitive and may repeat, and invalid UTF-8 is replaced.
func Unmarshal(data []byte, v any) error {
	return json.Unmarshal(data, v, lenient)
}

// Marshal writes JSON without the escapes for web pages. It accepts text of models, so it is as lenient as [Unmarshal].
func Marshal(v any) ([]byte, error) {
	return json.Marshal(v, lenient, json.Deterministic(true))
}
