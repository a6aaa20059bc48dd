package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// foreign and disguised become bodies by embedding one.
type foreign struct{ session.Note }

func (foreign) Kind() string { return "foreign" }

type disguised struct{ session.Note }

func TestCheck(t *testing.T) {
	message := session.Message{Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
	for _, c := range []struct {
		what       string
		annotation bool
		body       session.Body
		says       string // of the error; empty: none
	}{
		{"a message", false, message, ""},
		{"a title with a lease", false, session.Title{}, ""},
		{"a title without", true, session.Title{}, ""},
		{"a draft without", true, session.Queued{}, ""},
		{"a message without", true, message, "append it with a Writer"},
		{"nil", false, nil, "nil body"},
		{"a transient event", false, live.Delta{}, "delta: it is a transient event"},
		{"a pointer to a body", false, &session.Note{}, "not in the table"},
		{"a type of another package", false, foreign{}, "not in the table"},
		{"a type of another package that takes a kind", false, disguised{}, "not in the table"},
		{"a kind of the future", false, session.Opaque{Name: "later", JSON: []byte(`{}`)}, ""},
		{"a kind of the future without", true, session.Opaque{Name: "later", JSON: []byte(`{}`)}, "append it with a Writer"},
		{"a known kind as opaque", false, session.Opaque{Name: "delta", JSON: []byte(`{}`)}, `kind "delta"`},
		{"opaque and no JSON", false, session.Opaque{Name: "later", JSON: []byte(`{`)}, "the body JSON"},
		{"opaque and empty", false, session.Opaque{Name: "later"}, "the body JSON"},
	} {
		err := session.Check(c.annotation, session.Note{}, c.body)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.says)
		}
	}
}

// Codes are what programs tell errors apart by.
func TestErrorsHaveCodes(t *testing.T) {
	for code, err := range map[string]error{
		"session.locked":     &session.LockedError{Session: "s", Owner: "tenon, pid 1"},
		"session.fenced":     &session.FencedError{Session: "s"},
		"session.stale":      &session.StaleError{Session: "s"},
		"session.busy":       &session.BusyError{},
		"session.not_found":  session.ErrNotFound,
		"session.no_root":    session.ErrNoRoot,
		"session.exists":     session.ErrExists,
		"session.full":       session.ErrFull,
		"session.io":         session.ErrIO,
		"session.corrupt":    session.ErrCorrupt,
		"session.unwritable": session.ErrUnwritable,
		"session.newer":      session.ErrNewer,
	} {
		coded, ok := errors.AsType[interface {
			error
			Code() string
		}](fmt.Errorf("wrapped: %w", err))
		if !ok || coded.Code() != code {
			t.Errorf("%v has no code %s", err, code)
		}
	}
}

func TestLeaseErrorsSayWho(t *testing.T) {
	since := time.Date(2027, 1, 2, 3, 4, 5, 0, time.Local).UTC() // people see their local time
	for want, err := range map[string]error{
		"session s is in use by tenon, pid 1 since 2027-01-02 03:04:05": &session.LockedError{Session: "s", Owner: "tenon, pid 1", Since: since},
		"session s: tenon, pid 2 took over the write lock":              &session.FencedError{Session: "s", Owner: "tenon, pid 2"},
		"session s: lost the write lock":                                &session.FencedError{Session: "s"},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
}
