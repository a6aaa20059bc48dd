package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/undo"
)

// crossed is an error on the other side.
func crossed(t *testing.T, err error) error {
	t.Helper()
	data, failed := json.Marshal(faultOf(err))
	if failed != nil {
		t.Fatal(failed)
	}
	var f *fault
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f.err()
}

// Every known error is the same on the other side, also inside of another one, with its text and its code.
func TestErrorsCross(t *testing.T) {
	for _, err := range []error{
		agent.ErrBusy, agent.ErrClosed, conversation.ErrUnsupported, conversation.ErrNoGrant, session.ErrFull, context.Canceled,
		&request.LateError{What: "question", ID: "q", By: 7}, &agent.NotRunError{Outcome: session.OutcomeDenied, Reason: "no", Refusal: "permission.x"},
		&undo.NothingError{Reason: "nothing"}, &undo.RefusedError{Files: []undo.File{{Path: "a", Problem: "out of bounds"}}},
		&models.UnknownError{Name: "x", Reason: "y"}, &llm.Error{Kind: llm.KindRateLimited, Model: "p/m", Message: "slow down"},
	} {
		if got := crossed(t, err); got.Error() != err.Error() || codeOf(got) != codeOf(err) || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", err) {
			t.Errorf("%T: got %T %v, want %v", err, got, got, err)
		}
		around := fmt.Errorf("cannot do it: %w", err)
		got := crossed(t, around)
		if got.Error() != around.Error() || codeOf(got) != codeOf(err) {
			t.Errorf("%T, wrapped: got %v with %q", err, got, codeOf(got))
		}
	}
	if !errors.Is(crossed(t, fmt.Errorf("cannot: %w", agent.ErrBusy)), agent.ErrBusy) {
		t.Error("a wrapped ErrBusy is no ErrBusy")
	}
	if late, ok := errors.AsType[*request.LateError](crossed(t, fmt.Errorf("cannot: %w", &request.LateError{What: "draft", ID: "d", By: 3}))); !ok || late.ID != "d" || late.By != 3 {
		t.Errorf("got %+v", late)
	}
	if crossed(t, nil) != nil {
		t.Error("no error is one")
	}
	if err := crossed(t, errors.New("plain")); err.Error() != "plain" || codeOf(err) != "" {
		t.Errorf("got %v", err)
	}
}
