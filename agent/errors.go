package agent

import (
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// The errors of an [Agent].
var (
	// ErrBusy reports that another run of the agent is on. Use Steer or FollowUp to add to it.
	ErrBusy error = &coded{"agent.busy", "agent: a run is on; use Steer or FollowUp to add to it"}
	// ErrClosed reports that the agent is closed.
	ErrClosed error = &coded{"agent.closed", "agent: it is closed"}
	// ErrUnanswered reports that no answer to a question came in time.
	ErrUnanswered error = &coded{"agent.unanswered", "agent: no answer to the question in time"}
	// ErrDone is an error for [Hook.BeforeTurn]: the run ends as done.
	ErrDone = errors.New("agent: the run is done")
)

// coded is an error with a stable code.
type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// Code returns the code, such as "agent.busy".
func (e *coded) Code() string { return e.code }

// codeOf returns the code of an error or of one that it wraps; empty: it has none.
func codeOf(err error) string {
	var c interface {
		error
		Code() string
	}
	if errors.As(err, &c) {
		return c.Code()
	}
	return ""
}

// Mistakes of callers.
var (
	errUnchangeable = &coded{"agent.unchangeable", "agent: cannot change by request: Options.Change is missing"}
	errNoStore      = errors.New("agent: the store is missing; use one such as that of session/memory")
	errNoClient     = errors.New("agent: Options.Client is missing; an agent needs a model")
	errEmpty        = errors.New("agent: the message is empty")
)

// The causes with which the context of a run ends.
var (
	errAborted   = errors.New("aborted")
	errLeft      = errors.New("the run was torn down")
	errDiscarded = errors.New("the answer was discarded")
	errTime      = errors.New("the time limit was reached")
)

// JournalError reports that the agent cannot write the journal. The run stops before the next effect, and the earlier entries stay. The next
// run tries again, because a full disk may have space by then. It wraps the error of the store.
type JournalError struct {
	Session session.SessionID
	Err     error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("cannot write the journal of session %s: %v", e.Session, e.Err)
}

// Unwrap returns the store's error.
func (e *JournalError) Unwrap() error { return e.Err }

// PanicError reports a panic of a hook, the gate or the window. It ends the run.
type PanicError struct {
	Value any // the value of the panic; nil: it ended its goroutine with runtime.Goexit
	Stack []byte
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "agent: a hook, the gate or the window ended the goroutine of the run"
	}
	return fmt.Sprintf("agent: a hook, the gate or the window panicked: %v", e.Value)
}
