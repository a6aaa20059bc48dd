package agent

import (
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// The errors of an [Agent].
var (
	// ErrBusy is returned by Run and Continue while another run of the same agent is on: use Steer or FollowUp then.
	ErrBusy = errors.New("agent: a run is on; use Steer or FollowUp to add to it")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("agent: it was closed")
	// ErrTaken is returned for a draft that has entered the conversation, or was removed.
	ErrTaken = errors.New("agent: the draft is no longer in the queue")
)

// What callers do wrong.
var (
	errNoClient = errors.New("agent: Options.Client is missing: an agent needs a model")
	errEmpty    = errors.New("agent: the message is empty: there is nothing to answer")
)

// The reasons for which a run's context ends.
var (
	errAborted = errors.New("aborted")
	errLeft    = errors.New("the consumer left")
	errTime    = errors.New("the time limit was reached")
)

// JournalError says that the journal could not be written. The run stops before the next effect; what was appended before
// is kept. The next run tries again: a full disk may have room by then. It wraps the store's error.
type JournalError struct {
	Session session.SessionID
	Err     error
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("the journal of session %s cannot be written: %v", e.Session, e.Err)
}

// Unwrap returns the store's error.
func (e *JournalError) Unwrap() error { return e.Err }
