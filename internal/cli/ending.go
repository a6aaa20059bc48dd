package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// finish tells how it ended, in every format, and returns what the command returns.
func (j *job) finish(ctx context.Context, err error) error {
	r := j.report
	if j.wrote != nil {
		if errors.Is(j.wrote, syscall.EPIPE) {
			return exitCode(exitError) // nobody is there to be told
		}
		return fmt.Errorf("write the answer: %w; it is in the journal: tenon sessions show %s", j.wrote, r.Session)
	}
	r.ExitCode = j.code(ctx, err)
	if err != nil && r.ExitCode != exitInterrupted {
		r.fail(err)
		r.Message = ""
	}
	if r.StopReason == "" {
		r.StopReason = session.ReasonError
		if r.ExitCode == exitInterrupted {
			r.StopReason = session.ReasonCancelled
		}
	}
	if werr := j.view.end(r); werr != nil && !errors.Is(werr, syscall.EPIPE) {
		return fmt.Errorf("write the answer: %w", werr)
	}
	j.screen.close()
	if err != nil && r.ExitCode != exitInterrupted {
		j.exit(err)
		j.advise(err)
	}
	j.last(r)
	return exitCode(r.ExitCode)
}

// advise tells what a person can do about an error of a model.
func (j *job) advise(err error) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || j.setup == nil {
		return
	}
	text := advice(j.setup, e.Model, e)
	if e.Kind == llm.KindContextOverflow {
		text = "the conversation is longer than the model's window: begin a new session, or choose a model with a larger one; `tenon models` lists them"
	}
	if text != "" {
		j.tell(text)
	}
}

// last tells what a person can do when the run did not end well.
func (j *job) last(r *report) {
	if r.StopReason == session.ReasonDone && !r.denied {
		return
	}
	if r.Message != "" && r.StopReason != session.ReasonDone {
		j.tell(r.Message)
	}
	if r.denied || r.StopReason == session.ReasonDenied {
		j.tell(fmt.Sprintf("%s denied; --mode and --allow let it do more, and tenon permissions explain says why", count(len(r.Denied), "call")))
	}
	if r.ended && r.StopReason != session.ReasonDone && !r.tooLarge() {
		j.tell("go on with: tenon run --session " + string(r.Session))
	}
}

// code is the exit code.
func (j *job) code(ctx context.Context, err error) int {
	interrupted := context.Cause(ctx) != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	if _, usage := errors.AsType[*usageError](err); usage {
		return exitUsage
	}
	switch {
	case interrupted && j.report.StopReason != session.ReasonDone:
		return exitInterrupted
	case err != nil && (j.report.StopReason == "" || j.report.StopReason == session.ReasonDone):
		return exitError
	default:
		return j.report.exit()
	}
}
