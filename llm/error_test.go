package llm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

func TestErrorText(t *testing.T) {
	cause := errors.New("connection refused")
	tests := []struct {
		err  *llm.Error
		want string
	}{
		{&llm.Error{Kind: llm.KindOther}, "other"},
		{&llm.Error{Kind: llm.KindNetwork, Err: cause}, "network: connection refused"},
		{&llm.Error{Kind: llm.KindNetwork, Message: "cannot reach it", Err: cause}, "network: cannot reach it"},
		{
			&llm.Error{Kind: llm.KindContextOverflow, Model: "a/b", Status: 413, Message: "too long", RequestID: "r1"},
			"a/b: context overflow (HTTP 413): too long [request r1]",
		},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if !errors.Is(tests[1].err, cause) {
		t.Error("the cause is lost")
	}
}

func TestRetryable(t *testing.T) {
	kinds := map[llm.Kind]bool{
		llm.KindRateLimited:     true,
		llm.KindOverloaded:      true,
		llm.KindNetwork:         true,
		llm.KindStalled:         true,
		llm.KindProtocol:        true,
		llm.KindQuota:           false,
		llm.KindAuth:            false,
		llm.KindContextOverflow: false,
		llm.KindInvalidRequest:  false,
		llm.KindRefused:         false,
		llm.KindCancelled:       false,
		llm.KindOther:           false,
		"of a later version":    false,
	}
	for kind, want := range kinds {
		if got := (&llm.Error{Kind: kind}).Retryable(); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestAsError(t *testing.T) {
	own := &llm.Error{Kind: llm.KindAuth}
	if llm.AsError(nil) != nil {
		t.Error("nil became an error")
	}
	if got := llm.AsError(fmt.Errorf("asking: %w", own)); got != own {
		t.Errorf("a wrapped error became %v", got)
	}
	for cause, want := range map[error]llm.Kind{
		context.Canceled: llm.KindCancelled,
		fmt.Errorf("x: %w", context.DeadlineExceeded): llm.KindCancelled,
		errors.New("anything"):                        llm.KindOther,
	} {
		got := llm.AsError(cause)
		if got.Kind != want || !errors.Is(got, cause) {
			t.Errorf("%v became %#v", cause, got)
		}
	}
}

func TestCollect(t *testing.T) {
	if m, err := llm.Collect(t.Context(), llmtest.New(t, "text a"), &llm.Request{}); err != nil || m.Text() != "a" {
		t.Errorf("got %q, %v", m.Text(), err)
	}
	_, err := llm.Collect(t.Context(), llmtest.New(t, "text a\nend"), &llm.Request{})
	if e := llm.AsError(err); e.Kind != llm.KindProtocol {
		t.Errorf("got %v", err)
	}
}
