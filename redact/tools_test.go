package redact_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/tool"
)

// No output of a tool contains a key.
func TestToolsShowNoKeys(t *testing.T) {
	type details struct {
		Line string `json:"line"`
	}
	wrong := errors.New("wrong")
	secrets := redact.New(planted)
	tools := secrets.Tools([]tool.Tool{tool.New("printer", "Prints.",
		func(context.Context, struct{}) (tool.Effects, error) { return tool.Effects{None: true}, nil },
		func(_ context.Context, _ struct{}, report tool.Report) (tool.Result, error) {
			report("begins " + planted[:9])
			report(planted[9:] + " ends with " + planted[:5])
			result := tool.TextResult("text " + planted)
			result.Brief, result.Diffs = "brief "+planted, []tool.FileDiff{{Path: planted, From: planted, Text: "+" + planted}}
			result.Details = details{"line " + planted}
			return result, &toolError{planted, wrong}
		}, tool.WithTitle(func(struct{}) string { return "title " + planted }))})
	call, err := tools[0].Prepare(t.Context(), "{}")
	if err != nil {
		t.Fatal(err)
	}
	if call.Title != "title [hidden]" {
		t.Errorf("the title is %q", call.Title)
	}
	var told strings.Builder
	result, err := call.Run(t.Context(), func(text string) { told.WriteString(text) })
	if got := told.String(); got != "begins [hidden] ends with sk-pl" {
		t.Errorf("it reports %q", got)
	}
	if got := result.Content.Text(); got != "text [hidden]" {
		t.Errorf("it returns %q", got)
	}
	if d := result.Diffs[0]; result.Brief != "brief [hidden]" || d.Path != "[hidden]" || d.From != "[hidden]" || d.Text != "+[hidden]" {
		t.Errorf("the brief is %q, the diff %+v", result.Brief, d)
	}
	if got, _ := json.Marshal(result.Details); string(got) != `{"line":"line [hidden]"}` {
		t.Errorf("the details are %s", got)
	}
	if err == nil || err.Error() != "failed: [hidden]" || !errors.Is(err, wrong) {
		t.Errorf("the error is %v", err)
	}
}

// The preview of a change goes to the person and to the journal. It contains no key.
func TestPreviewsShowNoKeys(t *testing.T) {
	wrong := errors.New("wrong")
	secrets := redact.New(planted)
	for _, fails := range []bool{false, true} {
		tools := secrets.Tools([]tool.Tool{previewed{fails, planted, wrong}})
		call, err := tools[0].Prepare(t.Context(), "{}")
		if err != nil {
			t.Fatal(err)
		}
		text, err := call.Preview(t.Context())
		switch {
		case !fails && (text != "+KEY=[hidden]" || err != nil):
			t.Errorf("it shows %q, %v", text, err)
		case fails && (err == nil || err.Error() != "failed: [hidden]" || !errors.Is(err, wrong)):
			t.Errorf("the error is %v", err)
		}
	}
}

// previewed is a tool whose calls show a key.
type previewed struct {
	fails bool
	key   string
	wrong error
}

func (previewed) Spec() llm.Tool { return llm.Tool{Name: "previewed"} }

func (p previewed) Prepare(context.Context, string) (*tool.Call, error) {
	return &tool.Call{Preview: func(context.Context) (string, error) {
		if p.fails {
			return "", &toolError{p.key, p.wrong}
		}
		return "+KEY=" + p.key, nil
	}}, nil
}

type toolError struct {
	text string
	err  error
}

func (e *toolError) Error() string { return "failed: " + e.text }
func (e *toolError) Unwrap() error { return e.err }
