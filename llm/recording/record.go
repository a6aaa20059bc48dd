package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// recordVersion is the version of the format of recordings.
const recordVersion = 1

// recordLine is one line of a recording; see [Record].
type recordLine struct {
	Version int             `json:"version,omitzero"`
	N       int             `json:"n"`
	Time    time.Time       `json:"time,omitzero"`
	Model   *llm.Model      `json:"model,omitzero"`
	Request *llm.Request    `json:"request,omitzero"`
	MS      int64           `json:"ms,omitzero"`
	Event   json.RawMessage `json:"event,omitempty"`
	Error   *llm.Error      `json:"error,omitzero"`
	End     recordEnd       `json:"end,omitzero"`
}

// recordEnd says how an exchange ended that has neither a Done nor an error.
type recordEnd string

const (
	endLeft recordEnd = "left" // the consumer left the iteration
	endCut  recordEnd = "cut"  // the stream ended without its final event
)

// Recorder is a [llm.Client] that writes down what goes through it; see [Record].
type Recorder struct {
	client llm.Client

	mu  sync.Mutex
	w   io.Writer
	n   int
	err error
}

// Record returns a client that writes to w each request to c and its events, for [Replay] and for people who look for a
// fault. It writes one line at a time with one Write each, also when requests run concurrently. It records the
// whole conversation, but no key. A failure of w never disturbs an answer: the recording stops, and [Recorder.Err] returns it.
//
// A recording is JSON lines. An exchange, a request with its answer, begins with
//
//	{"version":1,"n":1,"time":"2026-01-02T15:04:05Z","model":{...},"request":{...}}
//
// where n distinguishes interleaved exchanges. Each event is
//
//	{"n":1,"ms":350,"event":{"type":"text","text":"Hello"}}
//
// with the milliseconds since the beginning, in the form of [llm.MarshalEvent]. An exchange ends with a "done" event, with
// "error" in place of "event", or with "end": "left" when the consumer left, "cut" when the stream ended without its final
// event. An exchange without an end was running when the recording stopped.
func Record(c llm.Client, w io.Writer) *Recorder { return &Recorder{client: c, w: w} }

// Err returns the failure that stopped the recording, or nil.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Model implements [llm.Client].
func (r *Recorder) Model() llm.Model { return r.client.Model() }

// Stream implements [llm.Client].
func (r *Recorder) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		start := time.Now()
		n := r.begin(start, req)
		end := endCut
		defer func() {
			if end != "" {
				r.write(recordLine{N: n, MS: time.Since(start).Milliseconds(), End: end})
			}
		}()
		for e, err := range r.client.Stream(ctx, req) {
			line := recordLine{N: n, MS: time.Since(start).Milliseconds()}
			if err != nil {
				line.Error = llm.AsError(err)
			} else {
				line.Event = r.event(e)
			}
			r.write(line)
			_, done := e.(llm.Done)
			if done || err != nil {
				end = ""
				yield(e, err)
				return
			}
			end = endLeft // holds when yield panics, too
			if !yield(e, nil) {
				return
			}
			end = endCut
		}
	}
}

// begin writes the first line of an exchange and returns its number.
func (r *Recorder) begin(start time.Time, req *llm.Request) int {
	r.mu.Lock()
	r.n++
	n := r.n
	r.mu.Unlock()
	model := r.Model()
	r.write(recordLine{Version: recordVersion, N: n, Time: start.UTC(), Model: &model, Request: req})
	return n
}

func (r *Recorder) event(e llm.Event) json.RawMessage {
	data, err := llm.MarshalEvent(e)
	if err != nil {
		r.stop(err)
	}
	return data
}

func (r *Recorder) write(line recordLine) {
	data, err := json.Marshal(line)
	if err != nil {
		r.stop(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	if _, err := r.w.Write(append(data, '\n')); err != nil {
		r.err = fmt.Errorf("the recording stopped: %w", err)
	}
}

// stop ends the recording because of err, unless it has ended before.
func (r *Recorder) stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf("the recording stopped: %w", err)
	}
}
