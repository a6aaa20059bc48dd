package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// reportOf returns a report of bodies.
func reportOf(bodies ...session.Body) *report {
	r := newReport()
	for _, b := range bodies {
		r.event(session.Event{Body: b})
	}
	return r
}

func answer(text string, stop llm.StopReason, calls ...llm.ToolCall) session.Message {
	m := llm.AssistantText(text)
	m.Stop = stop
	for _, c := range calls {
		m.Content = append(m.Content, c)
	}
	return session.Message{Message: m}
}

func result(c llm.ToolCall, o session.Outcome) session.Message {
	return session.Message{Message: llm.ToolText(c, "because", o != session.OutcomeOK), Outcome: o}
}

var (
	one = llm.ToolCall{ID: "1", Name: "write", Arguments: `{"path":"a"}`}
	two = llm.ToolCall{ID: "2", Name: "read", Arguments: `{"path":"b"}`}
)

func TestExitCodes(t *testing.T) {
	ended := func(reason session.Reason) session.RunEnded { return session.RunEnded{Reason: reason} }
	for _, c := range []struct {
		name string
		r    *report
		want int
	}{
		{"done", reportOf(answer("yes", llm.StopEnd), ended(session.ReasonDone)), command.ExitDone},
		{"a limit", reportOf(ended(session.ReasonLimit)), command.ExitLimit},
		{"the length of the answer", reportOf(ended(session.ReasonLength)), command.ExitLimit},
		{"the journal was full before a result", reportOf(answer("", llm.StopCalls, one), ended(session.ReasonError)), command.ExitError},
		{"denials ended it", reportOf(ended(session.ReasonDenied)), command.ExitDenied},
		{"refused", reportOf(ended(session.ReasonRefused)), command.ExitError},
		{"an error", reportOf(ended(session.ReasonError)), command.ExitError},
		{"cancelled by the caller", reportOf(ended(session.ReasonCancelled)), command.ExitError},
		{"never begun", reportOf(), command.ExitError},
		{
			"all denied in the last turn that had calls",
			reportOf(answer("", llm.StopCalls, one, two), result(one, session.OutcomeDenied), result(two, session.OutcomeDenied),
				answer("no", llm.StopEnd), ended(session.ReasonDone)), command.ExitDenied,
		},
		{
			"some denied, the others were enough",
			reportOf(answer("", llm.StopCalls, one, two), result(one, session.OutcomeDenied), result(two, session.OutcomeOK),
				answer("yes", llm.StopEnd), ended(session.ReasonDone)), command.ExitDone,
		},
		{
			"denied in an earlier turn",
			reportOf(answer("", llm.StopCalls, one), result(one, session.OutcomeDenied),
				answer("", llm.StopCalls, two), result(two, session.OutcomeOK),
				answer("yes", llm.StopEnd), ended(session.ReasonDone)), command.ExitDone,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.r.exit(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

func TestTheAnswerOfARun(t *testing.T) {
	done := session.RunEnded{Reason: session.ReasonDone}
	for _, c := range []struct {
		name string
		r    *report
		want string
	}{
		{"the last message", reportOf(answer("I look", llm.StopCalls, one), result(one, session.OutcomeOK), answer("\nYes.\n", llm.StopEnd), done), "Yes."},
		{"without its intent", reportOf(answer("<intent>x</intent>\n\nYes.", llm.StopEnd), done), "Yes."},
		{"both halves of one that was cut", reportOf(answer("One ", llm.StopLength), answer("and two.", llm.StopEnd), done), "One and two."},
		{"none when calls came last", reportOf(answer("I look", llm.StopCalls, one), session.RunEnded{Reason: session.ReasonLimit}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.r.Answer != c.want {
				t.Errorf("got %q, want %q", c.r.Answer, c.want)
			}
		})
	}
}

func TestWhatCameOfAnAnswerBeforeIsNoAnswer(t *testing.T) {
	cut := answer("I begin", llm.StopAborted)
	if r := reportOf(cut, session.RunEnded{Reason: session.ReasonError}); r.Answer != "" {
		t.Errorf("the answer of a run that had none is %q", r.Answer)
	}
	if r := reportOf(cut, answer("I end.", llm.StopEnd), session.RunEnded{Reason: session.ReasonDone}); r.Answer != "I end." {
		t.Errorf("the answer is %q", r.Answer)
	}
}

func TestTheReportListsDenials(t *testing.T) {
	r := reportOf(answer("", llm.StopCalls, one), result(one, session.OutcomeDenied))
	if want := (deniedReport{Tool: "write", Arguments: `{"path":"a"}`, Reason: "because"}); len(r.Denied) != 1 || r.Denied[0] != want {
		t.Errorf("got %+v, want %+v", r.Denied, want)
	}
}

func TestTheReportNamesKindsOfErrors(t *testing.T) {
	r := newReport()
	overloaded := &llm.Error{Kind: llm.KindOverloaded}
	r.fail(overloaded)
	r.fail(fmt.Errorf("the run: %w", overloaded)) // the same: the iteration ends with what the run's end says
	r.fail(fmt.Errorf("open: %w", session.ErrCorrupt))
	r.fail(fmt.Errorf("open: %w", &session.LockedError{}))
	r.fail(&command.UsageError{Command: "tenon run", Err: errors.New("no prompt")})
	r.fail(errors.New("who knows"))
	var kinds []string
	for _, e := range r.Errors {
		kinds = append(kinds, e.Kind)
	}
	if got, want := fmt.Sprint(kinds), "[overloaded store store usage other]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnEmptyReportHasLists(t *testing.T) {
	data, err := json.Marshal(newReport())
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Errors, Denied []any }
	if err := json.Unmarshal(data, &r); err != nil || r.Errors == nil || r.Denied == nil {
		t.Errorf("got %s, %v", data, err)
	}
}

// A turn whose calls have no results, as when the journal cannot be written, was not denied.
func TestCallsWithoutResultsAreNotDenied(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *report
		want bool
	}{
		{"no results", reportOf(answer("", llm.StopCalls, one, two)), false},
		{"one denied, one without a result", reportOf(answer("", llm.StopCalls, one, two), result(one, session.OutcomeDenied)), true},
		{"denied, then run", reportOf(answer("", llm.StopCalls, one, two), result(one, session.OutcomeDenied), result(two, session.OutcomeOK)), false},
		{"run, then denied", reportOf(answer("", llm.StopCalls, one, two), result(two, session.OutcomeOK), result(one, session.OutcomeDenied)), false},
		{"a turn later", reportOf(answer("", llm.StopCalls, one), result(one, session.OutcomeDenied), answer("", llm.StopCalls, two)), false},
	} {
		if c.r.denied != c.want {
			t.Errorf("%s: denied is %v", c.name, c.r.denied)
		}
	}
}
