package conversation

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Warning is a fact that a person should know about an operation that succeeded.
type Warning struct {
	Code    string            `json:"code"` // stable, such as "conversation.rotated"
	Text    string            `json:"text"`
	Session session.SessionID `json:"session,omitzero"` // that it is about
}

// Error returns the text of the warning.
func (w *Warning) Error() string { return w.Text }

// NotFoundError says that no session has the ID, or that a directory has no session. It is a [session.ErrNotFound].
type NotFoundError struct {
	ID      string            // the ID or prefix
	Dir     string            // without an ID: the directory
	Deleted bool              // it was looked for in the trash
	Trashed session.SessionID // the session with the ID that is in the trash
}

func (e *NotFoundError) Error() string {
	switch {
	case e.ID == "":
		return fmt.Sprintf("%s has no session; name one, or see 'tenon sessions list --all'", e.Dir)
	case e.Trashed != "":
		return fmt.Sprintf("session %q: %v: it is in the trash; restore it with 'tenon sessions restore %s'", e.ID, session.ErrNotFound, e.Trashed)
	case e.Deleted:
		return fmt.Sprintf("session %q: %v; see 'tenon sessions list --all --deleted'", e.ID, session.ErrNotFound)
	default:
		return fmt.Sprintf("session %q: %v; see 'tenon sessions list --all'", e.ID, session.ErrNotFound)
	}
}

// Unwrap returns [session.ErrNotFound].
func (e *NotFoundError) Unwrap() error { return session.ErrNotFound }

// Code returns "conversation.not_found", or "conversation.in_trash" if the session is in the trash.
func (e *NotFoundError) Code() string {
	if e.Trashed != "" {
		return "conversation.in_trash"
	}
	return "conversation.not_found"
}

// AmbiguousError says that several sessions have the ID prefix.
type AmbiguousError struct {
	Prefix   string
	Sessions []index.Summary // the first of them
}

func (e *AmbiguousError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "several sessions have the ID prefix %q; write more of one:", e.Prefix)
	for i, s := range e.Sessions {
		if i == maxCandidates {
			b.WriteString("\n  …")
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", s.ID, strings.Join(strings.Fields(s.Title), " "))
	}
	return b.String()
}

// Code returns "conversation.ambiguous".
func (e *AmbiguousError) Code() string { return "conversation.ambiguous" }

// ErrUnsupported is returned for an operation that the conversation was opened without, such as an undo without checkpoints. Its code is
// "conversation.unsupported".
var ErrUnsupported error = &coded{"conversation.unsupported", "this conversation does not support the operation"}

// The errors of single operations. Their codes are "conversation." and the last words of the names.
var (
	// ErrNoMessage: the entry is not a message of the session.
	ErrNoMessage error = &coded{"conversation.no_message", "the entry is not a message of this session"}
	// ErrNoTitle: the title is empty.
	ErrNoTitle error = &coded{"conversation.no_title", "the title is empty"}
	// ErrNoGrant: the session has no such grant.
	ErrNoGrant error = &coded{"conversation.no_grant", "this session has no such grant; see its rules"}
	// ErrNoJob: no background job has the ID.
	ErrNoJob error = &coded{"conversation.no_job", "there is no such background job"}
	// ErrSecret: the command has a key in it.
	ErrSecret error = &coded{"conversation.secret", "the command contains a secret, which the journal would keep; put it into an environment variable"}
)

type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }

// Code returns the code.
func (e *coded) Code() string { return e.code }

// since is a duration in words, in its largest unit.
func since(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		unit string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / u.of); n == 1 {
			return "1 " + u.unit
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, u.unit)
		}
	}
	return "less than a second"
}
