package recording

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Bounds of a recording.
const (
	maxRecordLine = 64 << 20 // bytes
	maxRecording  = 1 << 30  // bytes of lines, in all
)

// ReplayOption changes how [Replay] plays.
type ReplayOption func(*replay)

// KeepTimes lets events come as long after their request as they were recorded. By default they come at once.
func KeepTimes() ReplayOption { return func(r *replay) { r.keepTimes = true } }

// MatchRequests makes a request that equals none of the recording an error. By default it gets the next answer.
func MatchRequests() ReplayOption { return func(r *replay) { r.match = true } }

// Replay returns a client that plays what [Record] wrote. Each exchange is played once: the first one left whose request
// equals the one at hand (the same JSON), else the first one left. A request for which nothing is left gets an error of
// [llm.KindOther]. The model is that of the first exchange.
//
// The recording is read to its end at once and kept in memory. A line that is malformed, or longer than 64 MiB, is an error that
// names its number. So is a recording of more than 1 GiB.
func Replay(r io.Reader, opts ...ReplayOption) (llm.Client, error) {
	c := &replay{}
	for _, o := range opts {
		o(c)
	}
	if err := c.read(r); err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	return c, nil
}

type replay struct {
	keepTimes, match bool
	model            llm.Model

	mu   sync.Mutex
	left []*exchange
}

// exchange is one recorded request with its answer.
type exchange struct {
	n       int
	request [sha256.Size]byte // of the request's JSON
	events  []recorded
	end     recordEnd // left or cut; empty when it is over or was never seen
	over    bool      // the last event is a Done or an error
}

// recorded is an event, or the error at the end.
type recorded struct {
	after time.Duration
	event llm.Event
	err   *llm.Error
}

func (r *replay) read(src io.Reader) error {
	lines := bufio.NewScanner(src)
	lines.Buffer(nil, maxRecordLine)
	running := map[int]*exchange{}
	number, size := 0, 0
	for lines.Scan() {
		number++
		if size += len(lines.Bytes()); size > maxRecording {
			return fmt.Errorf("line %d: the recording is longer than %d bytes", number, maxRecording)
		}
		if len(lines.Bytes()) == 0 {
			continue
		}
		if err := r.readLine(lines.Bytes(), running); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: it is longer than %d bytes", number+1, maxRecordLine)
	} else if err != nil {
		return fmt.Errorf("after line %d: %w", number, err)
	}
	if len(r.left) == 0 {
		return errors.New("it has no exchange")
	}
	return nil
}

func (r *replay) readLine(data []byte, running map[int]*exchange) error {
	var line recordLine
	if err := json.Unmarshal(data, &line); err != nil {
		return err
	}
	if line.Request != nil {
		return r.readBegin(line, running)
	}
	x := running[line.N]
	if x == nil {
		return fmt.Errorf("no exchange %d is running", line.N)
	}
	after := time.Duration(line.MS) * time.Millisecond
	switch {
	case line.Error != nil:
		x.events = append(x.events, recorded{after: after, err: line.Error})
		x.over = true
	case line.Event != nil:
		e, err := llm.UnmarshalEvent(line.Event)
		if err != nil {
			return err
		}
		x.events = append(x.events, recorded{after: after, event: e})
		_, x.over = e.(llm.Done)
	case line.End == endLeft || line.End == endCut:
		x.end = line.End
	default:
		return errors.New("it has neither request nor event nor error nor end")
	}
	if x.over || x.end != "" {
		delete(running, line.N)
	}
	return nil
}

func (r *replay) readBegin(line recordLine, running map[int]*exchange) error {
	if line.Version != recordVersion {
		return fmt.Errorf("its format has version %d; this program reads version %d", line.Version, recordVersion)
	}
	if running[line.N] != nil {
		return fmt.Errorf("exchange %d is running already", line.N)
	}
	key, err := requestKey(line.Request)
	if err != nil {
		return err
	}
	if len(r.left) == 0 && line.Model != nil {
		r.model = *line.Model
	}
	x := &exchange{n: line.N, request: key}
	running[line.N] = x
	r.left = append(r.left, x)
	return nil
}

func requestKey(req *llm.Request) ([sha256.Size]byte, error) {
	data, err := json.Marshal(req)
	return sha256.Sum256(data), err
}

// Model implements [llm.Client].
func (r *replay) Model() llm.Model { return r.model }

// Stream implements [llm.Client].
func (r *replay) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		x, err := r.take(req)
		if err != nil {
			yield(nil, err)
			return
		}
		start := time.Now()
		for _, e := range x.events {
			if ctx.Err() != nil || r.keepTimes && !wait(ctx, e.after-time.Since(start)) {
				yield(nil, &llm.Error{Kind: llm.KindCancelled, Model: r.model.Ref(), Err: context.Cause(ctx)})
				return
			}
			if e.err != nil {
				yield(nil, e.err)
				return
			}
			if !yield(e.event, nil) {
				return
			}
		}
		if !x.over && x.end != endCut {
			yield(nil, r.other("the recording of exchange %d ends here, before its answer did", x.n))
		}
	}
}

// take returns the exchange that answers req, and strikes it off.
func (r *replay) take(req *llm.Request) (*exchange, *llm.Error) {
	key, err := requestKey(req)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalidRequest, Model: r.model.Ref(), Err: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.left) == 0 {
		return nil, r.other("the recording ran out: all its exchanges were played")
	}
	i := slices.IndexFunc(r.left, func(x *exchange) bool { return x.request == key })
	if i < 0 && r.match {
		return nil, r.other("the request is not in the recording: the next one left, exchange %d, differs, and so do all after it", r.left[0].n)
	}
	i = max(i, 0)
	x := r.left[i]
	r.left = slices.Delete(r.left, i, i+1)
	return x, nil
}

func (r *replay) other(format string, args ...any) *llm.Error {
	return &llm.Error{Kind: llm.KindOther, Model: r.model.Ref(), Message: fmt.Sprintf(format, args...)}
}

// wait waits for d and reports whether ctx is still alive.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
