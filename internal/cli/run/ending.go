package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// finish shows the end of the run in every format, and returns the error of the command.
func (j *job) finish(ctx context.Context, err error) error {
	r := j.report
	if j.wrote != nil {
		if errors.Is(j.wrote, syscall.EPIPE) {
			return command.ExitCode(command.ExitError) // no one reads the message
		}
		return fmt.Errorf("cannot write the answer: %w; it is in the journal: tenon sessions show %s", j.wrote, r.Session)
	}
	r.ExitCode = j.code(ctx, err)
	if err != nil && r.ExitCode != command.ExitInterrupted {
		r.fail(err)
		r.Message = ""
	}
	if r.StopReason == "" {
		r.StopReason = session.ReasonError
		if r.ExitCode == command.ExitInterrupted {
			r.StopReason = session.ReasonCancelled
		}
	}
	if werr := j.view.end(r); werr != nil && !errors.Is(werr, syscall.EPIPE) {
		return fmt.Errorf("cannot write the answer: %w", werr)
	}
	j.screen.Close()
	if err != nil && r.ExitCode != command.ExitInterrupted {
		j.env.Report(err)
		j.advise(err)
	}
	j.last(r)
	return command.ExitCode(r.ExitCode)
}

func (j *job) advise(err error) {
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case !ok || j.advice == nil:
	case e.Kind == llm.KindContextOverflow:
		j.note("the conversation does not fit the model's context window: start a new session, or choose a model with a larger one; `tenon models` lists them")
	default:
		if text := j.advice(e); text != "" {
			j.note(text)
		}
	}
}

// limitFlags has the flag of each limit of a run.
var limitFlags = map[string]string{"turns": "--max-turns", "tokens": "--max-tokens", "cost": "--max-cost", "time": "--timeout"}

// last prints the changed files that other programs run, and advice if the run did not end well.
func (j *job) last(r *report) {
	if len(r.RunsLater) > 0 {
		j.note("! other programs run these changed files by themselves; look at them first: " + strings.Join(r.RunsLater, ", "))
	}
	if r.Plan != "" && !j.options.quiet {
		j.note(fmt.Sprintf("the plan is in %s. To execute it: tenon run --role builder \"Execute the plan in %s\"", r.Plan, r.Plan))
	}
	next := "tenon run --session " + string(r.Session)
	if r.StopReason == session.ReasonDone && r.Goal != nil {
		if r.unreached() && r.Goal.Open() {
			j.note("continue with: " + next)
		}
		return
	}
	if r.StopReason == session.ReasonDone && !r.denied {
		return
	}
	if r.Message != "" && r.StopReason != session.ReasonDone {
		j.note(r.Message)
	}
	if flag := limitFlags[r.Limit]; flag != "" {
		j.note("raise the limit with " + flag + ", or limits in tenon.json")
	} else if r.Limit == "session_cost" || r.Limit == "day_cost" {
		j.note("raise limits." + r.Limit + " in tenon.json")
	}
	if r.denied || r.StopReason == session.ReasonDenied {
		count := transcript.Count(len(r.Denied), "call")
		if flags := r.remedy(); flags != "" {
			j.note(count + " denied. To allow and continue: " + next + " " + flags)
			return
		}
		j.note(count + " denied; tenon permissions explain gives the reasons")
	}
	if r.ended && r.StopReason != session.ReasonDone && !r.tooLarge() {
		j.note("continue with: " + next)
	}
}

func (j *job) code(ctx context.Context, err error) int {
	interrupted := context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	if _, usage := errors.AsType[*command.UsageError](err); usage {
		return command.ExitUsage
	}
	switch {
	case interrupted && j.report.StopReason != session.ReasonDone:
		return command.ExitInterrupted
	case err != nil && (j.report.StopReason == "" || j.report.StopReason == session.ReasonDone):
		return command.ExitError
	default:
		return j.report.exit()
	}
}
