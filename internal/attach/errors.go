package attach

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/undo"
)

// The errors of this package.
var (
	// ErrGone reports that no process serves the session, or that the process ended.
	ErrGone error = &coded{"attach.gone", "no process serves this session"}
	// ErrUnsupported reports that this system cannot serve sessions.
	ErrUnsupported error = &coded{"attach.unsupported", "cannot serve a session on this system"}
	// ErrRefused reports a peer or a directory of another account, or a peer in a sandbox.
	ErrRefused error = &coded{"attach.refused", "refused"}
)

type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// Code returns the code.
func (e *coded) Code() string { return e.code }

// fault is an error on its way to a client: its text and its code, and the known errors in it.
type fault struct {
	Text   string  `json:"text"`
	Code   string  `json:"code,omitzero"`
	Causes []cause `json:"causes,omitzero"`
}

// cause is a known error.
type cause struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data,omitzero"`
}

// known is an error that is the same on both sides.
type known struct {
	name string
	find func(error) (json.RawMessage, bool)
	make func(json.RawMessage) (error, bool)
}

// same is an error that is a value.
func same(name string, value error) known {
	return known{
		name,
		func(err error) (json.RawMessage, bool) { return nil, errors.Is(err, value) },
		func(json.RawMessage) (error, bool) { return value, true },
	}
}

// typed is an error that is a pointer to a struct.
func typed[T any, E interface {
	*T
	error
}](name string) known {
	return known{
		name,
		func(err error) (json.RawMessage, bool) {
			e, ok := errors.AsType[E](err)
			if !ok {
				return nil, false
			}
			data, failed := json.Marshal(e)
			return data, failed == nil
		},
		func(data json.RawMessage) (error, bool) {
			var e T
			if json.Unmarshal(data, &e) != nil {
				return nil, false
			}
			return E(&e), true
		},
	}
}

// all is the known errors.
func all() []known {
	return []known{
		same("context.canceled", context.Canceled), same("context.deadline", context.DeadlineExceeded),
		same("agent.busy", agent.ErrBusy), same("agent.closed", agent.ErrClosed), same("agent.unanswered", agent.ErrUnanswered),
		same("conversation.unsupported", conversation.ErrUnsupported), same("conversation.no_message", conversation.ErrNoMessage),
		same("conversation.no_title", conversation.ErrNoTitle), same("conversation.no_grant", conversation.ErrNoGrant),
		same("conversation.secret", conversation.ErrSecret), same("conversation.no_job", conversation.ErrNoJob),
		same("view.answered", view.ErrAnswered), same("view.no_message", view.ErrNoMessage),
		same("session.not_found", session.ErrNotFound), same("session.full", session.ErrFull), same("session.io", session.ErrIO),
		same("session.corrupt", session.ErrCorrupt), same("session.replaced", session.ErrReplaced), same("session.unwritable", session.ErrUnwritable),
		typed[request.LateError]("request.late"), typed[agent.NotRunError]("agent.not_run"),
		typed[session.FencedError]("session.fenced"), typed[session.BusyError]("session.busy"),
		typed[undo.NothingError]("undo.nothing"), typed[undo.ProblemsError]("undo.problems"), typed[undo.RefusedError]("undo.refused"),
		typed[models.UnknownError]("models.unknown"), typed[models.UnavailableError]("models.unavailable"), typed[llm.Error]("llm.error"),
	}
}

// faultOf returns the fault of an error; nil of none.
func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{Text: err.Error(), Code: codeOf(err)}
	for _, k := range all() {
		if data, ok := k.find(err); ok {
			f.Causes = append(f.Causes, cause{k.name, data})
		}
	}
	return f
}

// err returns the error of a fault; nil of none.
func (f *fault) err() error {
	if f == nil {
		return nil
	}
	e := &remote{text: f.Text, code: f.Code}
	for _, c := range f.Causes {
		for _, k := range all() {
			if k.name != c.Name {
				continue
			}
			if err, ok := k.make(c.Data); ok {
				e.causes = append(e.causes, err)
			}
		}
	}
	if len(e.causes) == 1 && e.causes[0].Error() == e.text {
		return e.causes[0]
	}
	return e
}

// remote is an error of the other process, with the known errors in it.
type remote struct {
	text, code string
	causes     []error
}

func (e *remote) Error() string { return e.text }

// Code returns the code of the original error.
func (e *remote) Code() string { return e.code }

// Unwrap returns the known errors.
func (e *remote) Unwrap() []error { return e.causes }

func codeOf(err error) string {
	if c, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return c.Code()
	}
	return ""
}
