package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what went wrong with a request, so that a caller can decide what to do. The values are stable.
type Kind string

// The kinds of errors.
const (
	KindRateLimited     Kind = "rate_limited"     // too many requests; RetryAfter may say for how long
	KindQuota           Kind = "quota"            // the account's quota or credit is used up
	KindOverloaded      Kind = "overloaded"       // the provider is busy or failing (HTTP 5xx)
	KindNetwork         Kind = "network"          // no connection, or it broke
	KindStalled         Kind = "stalled"          // nothing came for too long
	KindProtocol        Kind = "protocol"         // the answer was cut, empty, or not of the protocol
	KindAuth            Kind = "auth"             // the key is missing, wrong, or may not do this
	KindContextOverflow Kind = "context_overflow" // the request is larger than the model's window
	KindInvalidRequest  Kind = "invalid_request"  // the provider does not accept the request
	KindRefused         Kind = "refused"          // a content filter declined
	KindCancelled       Kind = "cancelled"        // the caller went away
	KindBudget          Kind = "budget"           // a limit of the caller's own budget does not allow it; see package budget
	KindOther           Kind = "other"            // none of the above
)

// Error is the one error type of clients.
//
// JSON: {"kind","model","message","status","request_id","retry_after","tokens","window"}; the cause is not kept.
type Error struct {
	Kind       Kind          `json:"kind"`
	Model      string        `json:"model,omitzero"`       // "provider/model" that was asked
	Message    string        `json:"message,omitzero"`     // what happened, for people; never holds a key
	Status     int           `json:"status,omitzero"`      // HTTP status, 0 when there was none
	RequestID  string        `json:"request_id,omitzero"`  // the provider's name for the request
	RetryAfter time.Duration `json:"retry_after,omitzero"` // how long the provider wants us to wait, in nanoseconds
	Tokens     int           `json:"tokens,omitzero"`      // KindContextOverflow: of the request, as the provider counts; 0: it did not say
	Window     int           `json:"window,omitzero"`      // KindContextOverflow: tokens that the model accepts; 0: it did not say
	Err        error         `json:"-"`                    // cause, or nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Model != "" {
		fmt.Fprintf(&b, "%s: ", e.Model)
	}
	b.WriteString(strings.ReplaceAll(string(e.Kind), "_", " "))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	switch {
	case e.Message != "":
		fmt.Fprintf(&b, ": %s", e.Message)
	case e.Err != nil:
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.RequestID != "" {
		fmt.Fprintf(&b, " [request %s]", e.RequestID)
	}
	return b.String()
}

// Code returns the kind as a stable code, such as "llm.rate_limited".
func (e *Error) Code() string { return "llm." + string(e.Kind) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed when it is sent again.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case KindRateLimited, KindOverloaded, KindNetwork, KindStalled, KindProtocol:
		return true
	default:
		return false
	}
}

// AsError returns err as an [*Error]: itself when it is one, a KindCancelled when a context ended, else a KindOther.
// It returns nil for nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return &Error{Kind: KindCancelled, Err: err}
	}
	return &Error{Kind: KindOther, Message: err.Error(), Err: err}
}
