package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// The exit codes of every command.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2   // the command line is wrong
	exitLimit       = 3   // the run came to one of its limits
	exitDenied      = 4   // denials ended the run, or all calls of the last turn that had any were denied
	exitInterrupted = 130 // by a signal
)

// report is what came of a run: the object of --output json, and the last line of stream-json.
type report struct {
	Type       string            `json:"type"`    // "tenon.result"
	Version    int               `json:"version"` // 1
	Answer     string            `json:"answer"`
	Data       json.RawMessage   `json:"data,omitempty"` // the answer as JSON, when --schema demanded it
	StopReason session.Reason    `json:"stop_reason"`
	Limit      string            `json:"limit,omitzero"`
	Message    string            `json:"message,omitzero"`
	ExitCode   int               `json:"exit_code"`
	Session    session.SessionID `json:"session"`
	Model      string            `json:"model"`
	Turns      int               `json:"turns"`
	Usage      usageReport       `json:"usage"`
	Cost       float64           `json:"cost"` // US dollars
	Seconds    float64           `json:"seconds"`
	Errors     []errorReport     `json:"errors"`
	Denied     []deniedReport    `json:"denied"`

	calls  map[string]llm.ToolCall // of the last turn that had any
	denied bool                    // calls of that turn were denied, and none was run
	ran    bool                    // one was
	cut    bool                    // Answer was cut at the output limit: the next message may go on with it
	ended  bool
	before *report // the run before this one, when an answer was asked for once more
}

// again begins a further run of the same job: what it takes is added to what was taken.
func (r *report) again() {
	before := *r
	r.before = &before
	r.ended, r.cut = false, false
}

// usageReport is llm.Usage with all of its members.
type usageReport struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`
}

func usageOf(u llm.Usage) usageReport {
	return usageReport{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning}
}

func (u usageReport) plus(v usageReport) usageReport {
	return usageReport{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
}

type errorReport struct {
	Kind    string `json:"kind"` // of llm.Error, else "store", "usage" or "other"
	Message string `json:"message"`
}

type deniedReport struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	Reason    string `json:"reason"`
}

func newReport() *report {
	return &report{Type: "tenon.result", Version: streamVersion, Errors: []errorReport{}, Denied: []deniedReport{}}
}

// event takes in what happened.
func (r *report) event(e session.Event) {
	switch b := e.Body.(type) {
	case session.Message:
		r.message(b)
	case session.RunEnded:
		r.ended = true
		r.Answer = strings.TrimSpace(r.Answer)
		r.StopReason, r.Limit, r.Message = b.Reason, b.Limit, b.Message
		r.Turns, r.Cost, r.Seconds = b.Turns, round(b.Usage.Cost), time.Duration(b.Elapsed).Seconds()
		r.Usage = usageOf(b.Usage)
		if b.Error != nil {
			r.fail(b.Error)
		}
		if p := r.before; p != nil {
			r.Turns, r.Cost, r.Seconds = r.Turns+p.Turns, round(r.Cost+p.Cost), r.Seconds+p.Seconds
			r.Usage = r.Usage.plus(p.Usage)
		}
	}
}

func (r *report) message(m session.Message) {
	switch {
	case ofRunBefore(m):
	case m.Role == llm.RoleAssistant:
		r.Model = cmp.Or(m.Model, r.Model) // of a pool, which of them answers may change
		calls := m.Calls()
		if !r.cut {
			r.Answer = ""
		}
		r.cut = m.Stop == llm.StopLength && len(calls) == 0
		if len(calls) == 0 {
			r.Answer += withoutIntent(m.Text())
			break
		}
		r.Answer = ""
		r.denied, r.ran = false, false
		r.calls = make(map[string]llm.ToolCall, len(calls))
		for _, c := range calls {
			r.calls[c.ID] = c
		}
	case m.Role == llm.RoleTool:
		if m.Outcome != session.OutcomeDenied {
			r.denied, r.ran = false, true
			break
		}
		r.denied = !r.ran
		r.Denied = append(r.Denied, deniedReport{m.Tool, r.calls[m.CallID].Arguments, m.Text()})
	}
}

// ofRunBefore reports whether a message is what came of an answer that was cut off. It becomes a message only when the next run begins,
// so it is no part of what that one answers.
func ofRunBefore(m session.Message) bool {
	return m.Role == llm.RoleAssistant && m.Stop == llm.StopAborted
}

// round takes away what adding up floating-point numbers left, far below the price of one token.
func round(dollars float64) float64 {
	const fine = 1e9
	return math.Round(dollars*fine) / fine
}

// fail takes in an error. One that is known already is not told twice.
func (r *report) fail(err error) {
	one := errorReport{"other", err.Error()}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		one = errorReport{string(e.Kind), e.Error()}
	} else if ofStore(err) {
		one.Kind = "store"
	} else if _, ok := errors.AsType[*usageError](err); ok {
		one.Kind = "usage"
	}
	if !slices.Contains(r.Errors, one) {
		r.Errors = append(r.Errors, one)
	}
}

// ofStore reports whether an error is about the place where sessions are kept.
func ofStore(err error) bool {
	for _, target := range []error{session.ErrNotFound, session.ErrFull, session.ErrCorrupt, session.ErrUnwritable, session.ErrNewer} {
		if errors.Is(err, target) {
			return true
		}
	}
	_, locked := errors.AsType[*session.LockedError](err)
	_, fenced := errors.AsType[*session.FencedError](err)
	return locked || fenced
}

// tooLarge reports whether the conversation has outgrown the model's window: to go on as before would fail again.
func (r *report) tooLarge() bool {
	return slices.ContainsFunc(r.Errors, func(e errorReport) bool { return e.Kind == string(llm.KindContextOverflow) })
}

// exit is the exit code for what came of the run.
func (r *report) exit() int {
	switch r.StopReason {
	case session.ReasonDone:
		if r.denied {
			return exitDenied
		}
		if len(r.Errors) > 0 {
			return exitError
		}
		return exitDone
	case session.ReasonLimit, session.ReasonLength:
		return exitLimit
	case session.ReasonDenied:
		return exitDenied
	default:
		return exitError
	}
}
