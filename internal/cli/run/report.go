package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/transcript"
)

// report is the result of a run: the object of --output json, and the last line of stream-json.
type report struct {
	Type       string            `json:"type"`    // "tenon.result"
	Version    int               `json:"version"` // 1
	Answer     string            `json:"answer"`
	Data       json.RawMessage   `json:"data,omitempty"` // the answer as JSON, with --schema
	StopReason session.Reason    `json:"stop_reason"`
	Limit      string            `json:"limit,omitzero"`
	Message    string            `json:"message,omitzero"`
	ExitCode   int               `json:"exit_code"`
	Session    session.SessionID `json:"session"`
	Model      string            `json:"model"`
	Turns      int               `json:"turns"`
	Usage      command.UsageJSON `json:"usage"`
	Cost       float64           `json:"cost"` // US dollars
	Seconds    float64           `json:"seconds"`
	Errors     []errorReport     `json:"errors"`
	Denied     []deniedReport    `json:"denied"`
	RunsLater  []string          `json:"runs_later,omitempty"` // changed files that other programs run by themselves
	Parallel   *parallelReport   `json:"parallel,omitempty"`   // of tenon run --parallel
	Goal       *session.Goal     `json:"goal,omitzero"`        // that the run pursued, as it is after the run
	Plan       string            `json:"plan,omitzero"`        // the file of the plan that is the answer

	dir    string                  // of the workspace
	calls  map[string]llm.ToolCall // of the last turn that had any
	denied bool                    // Tenon denied calls of that turn and ran none
	ran    bool                    // Tenon ran one
	cut    bool                    // the output limit cut Answer: the next message may continue it
	ended  bool
	before *report         // the previous run of the same job
	plan   json.RawMessage // arguments of the newest handoff

	remedies map[string]session.Remedy // of the denied calls, by their IDs
}

// again begins another run of the same job. The report adds its turns, usage, cost and time to those of the previous run.
func (r *report) again() {
	before := *r
	r.before = &before
	r.ended, r.cut = false, false
}

type errorReport struct {
	Kind    string `json:"kind"` // of llm.Error, else "store", "usage" or "other"
	Message string `json:"message"`
	Code    string `json:"code,omitzero"` // see docs/errors.md
}

type deniedReport struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	Reason    string `json:"reason"`
	Mode      string `json:"mode,omitzero"`  // that would allow it
	Flags     string `json:"flags,omitzero"` // that would allow it
}

func newReport() *report {
	return &report{Type: "tenon.result", Version: streamVersion, Errors: []errorReport{}, Denied: []deniedReport{}, remedies: map[string]session.Remedy{}}
}

func (r *report) event(e session.Event) {
	switch b := e.Body.(type) {
	case session.Decision:
		if b.Remedy != (session.Remedy{}) {
			r.remedies[b.Call] = b.Remedy
		}
	case session.CallStarted:
		if b.Tool == handoffTool {
			r.plan = b.Arguments
		}
	case session.Message:
		r.message(b)
	case session.FilesChanged:
		for _, f := range b.Files {
			if rel, err := filepath.Rel(r.dir, f.Path); err == nil && f.After != nil && permission.RunsLater(rel) && !slices.Contains(r.RunsLater, rel) {
				r.RunsLater = append(r.RunsLater, rel)
			}
		}
	case session.RunEnded:
		r.ended = true
		r.Answer = strings.TrimSpace(r.Answer)
		r.StopReason, r.Limit, r.Message = b.Reason, b.Limit, b.Message
		r.Turns, r.Cost, r.Seconds = b.Turns, command.Round(b.Usage.Cost), time.Duration(b.Elapsed).Seconds()
		usage := b.Usage
		if b.Error != nil {
			r.fail(b.Error)
		}
		if p := r.before; p != nil {
			r.Turns, r.Cost, r.Seconds = r.Turns+p.Turns, command.Round(r.Cost+p.Cost), r.Seconds+p.Seconds
			usage = usage.Plus(llm.Usage(p.Usage))
		}
		r.Usage = command.UsageJSON(usage)
	}
}

func (r *report) message(m session.Message) {
	switch {
	case ofRunBefore(m):
	case m.Role == llm.RoleAssistant:
		r.Model = cmp.Or(m.Model, r.Model) // the answering model of a pool may change
		calls := m.Calls()
		if !r.cut {
			r.Answer = ""
		}
		r.cut = m.Stop == llm.StopLength && len(calls) == 0
		if len(calls) == 0 {
			r.Answer += transcript.WithoutIntent(m.Text())
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
			r.planned(m)
			break
		}
		r.denied = !r.ran
		remedy := r.remedies[m.CallID]
		r.Denied = append(r.Denied, deniedReport{m.Tool, r.calls[m.CallID].Arguments, m.Text(), remedy.Mode, remedy.Flags})
	}
}

// handoffTool is the tool whose plan is the answer of a run, because no person can choose who executes it.
const handoffTool = "handoff"

// planned takes the plan of a handoff as the answer.
func (r *report) planned(m session.Message) {
	var p plan.Plan
	var d plan.HandedOver
	if m.Tool == handoffTool && m.Outcome == session.OutcomeOK && json.Unmarshal(r.plan, &p) == nil && json.Unmarshal(m.Details, &d) == nil {
		r.Answer, r.Plan = strings.TrimSpace(p.Text), d.File
	}
}

// ofRunBefore reports whether a message is the rest of an aborted answer. The agent records it when the next run begins, but it is not part of
// the answer of that run.
func ofRunBefore(m session.Message) bool {
	return m.Role == llm.RoleAssistant && m.Stop == llm.StopAborted
}

// fail adds an error to the report, unless the report already has it.
func (r *report) fail(err error) {
	one := errorReport{"other", err.Error(), command.CodeOf(err)}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		one = errorReport{string(e.Kind), e.Error(), e.Code()}
	} else if ofStore(err) {
		one.Kind = "store"
	} else if _, ok := errors.AsType[*command.UsageError](err); ok {
		one.Kind = "usage"
	}
	if !slices.Contains(r.Errors, one) {
		r.Errors = append(r.Errors, one)
	}
}

func ofStore(err error) bool {
	for _, target := range []error{session.ErrNotFound, session.ErrFull, session.ErrIO, session.ErrCorrupt, session.ErrUnwritable, session.ErrNewer} {
		if errors.Is(err, target) {
			return true
		}
	}
	_, locked := errors.AsType[*session.LockedError](err)
	_, fenced := errors.AsType[*session.FencedError](err)
	return locked || fenced
}

// tooLarge reports whether the conversation is too long for the model's context window, so that the same request would fail again.
func (r *report) tooLarge() bool {
	return slices.ContainsFunc(r.Errors, func(e errorReport) bool { return e.Kind == string(llm.KindContextOverflow) })
}

// remedy returns the flags that would allow the denied calls, as words for a shell: a mode if one allows them all without giving up the sandbox. It is
// empty if a call is left that no flag allows.
func (r *report) remedy() string {
	mode := permission.Mode("")
	var flags []string
	for _, d := range r.Denied {
		allows := permission.Mode(d.Mode)
		switch {
		case allows != "" && allows != permission.Yolo:
			if slices.Index(permission.Modes(), allows) > slices.Index(permission.Modes(), mode) {
				mode = allows
			}
		case d.Flags == "":
			return ""
		case !slices.Contains(flags, d.Flags):
			flags = append(flags, d.Flags)
		}
	}
	if mode != "" {
		flags = append([]string{"--mode " + string(mode)}, flags...)
	}
	return strings.Join(flags, " ")
}

// unreached reports whether the run pursued a goal that is not completed.
func (r *report) unreached() bool { return r.Goal != nil && r.Goal.State != session.GoalCompleted }

// exit returns the exit code for the result of the run.
func (r *report) exit() int {
	switch r.StopReason {
	case session.ReasonDone:
		if r.Goal != nil {
			return exitOf(r.Goal.State)
		}
		if r.denied {
			return command.ExitDenied
		}
		if len(r.Errors) > 0 {
			return command.ExitError
		}
		return command.ExitDone
	case session.ReasonLimit, session.ReasonLength:
		return command.ExitLimit
	case session.ReasonDenied:
		return command.ExitDenied
	default:
		return command.ExitError
	}
}

// exitOf returns the exit code for a goal.
func exitOf(s session.GoalState) int {
	switch s {
	case session.GoalCompleted:
		return command.ExitDone
	case session.GoalBlocked:
		return command.ExitBlocked
	case session.GoalExhausted:
		return command.ExitLimit
	default:
		return command.ExitError
	}
}
