// Package activity says in one line what a run does now, for the frontends of a terminal.
package activity

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

// Activity is what happens now. The zero value is ready to use. It is not safe for concurrent use; a copy of it is.
type Activity struct {
	Running bool
	Started time.Time // of the run
	Turn    int
	Summary bool   // a summary is written in the background
	Advice  string // after a run that failed

	what  string
	since time.Time // of what
	retry *live.Waiting
	until time.Time // end of the wait before the retry
}

// Add folds an event. now is the time of this machine, because the clock of another one may differ.
func (a *Activity) Add(e session.Event, now time.Time) {
	switch b := e.Body.(type) {
	case session.RunStarted:
		*a = Activity{Running: true, Started: now, Summary: a.Summary}
		a.phase("starting", now)
	case session.RunEnded:
		*a = Activity{Summary: a.Summary}
		if b.Error != nil && b.Error.Kind == llm.KindAuth {
			a.Advice = "/login sets up a key, /model chooses another model"
		}
	case live.TurnStarted:
		a.Turn = e.Turn
		a.phase("waiting for the model", now)
	case live.MessageStarted:
		a.phase("waiting for the first token", now)
	case live.Waiting:
		a.retry, a.until = &b, now.Add(time.Duration(b.Delay))
	case live.Delta:
		a.delta(b, now)
	case session.Message, session.Asked, session.CallStarted:
		a.phase("waiting for the model", now)
	case session.Goal:
		switch b.State {
		case session.GoalVerifying:
			a.phase("running the checks of the goal", now)
		case session.GoalAssessing:
			a.phase("reviewing the goal", now)
		}
	case live.Compacting:
		a.Summary = !b.Done
	case session.Summarized:
		a.Summary = false
	}
}

func (a *Activity) delta(d live.Delta, now time.Time) {
	switch d.Type {
	case live.DeltaThinking:
		a.phase("thinking", now)
	case live.DeltaText:
		a.phase("answering", now)
	case live.DeltaArguments:
		if d.Tool != "" {
			a.phase("writing a call of "+term.OneLine(d.Tool), now)
		}
	}
}

func (a *Activity) phase(what string, now time.Time) {
	a.retry = nil
	if a.what != what {
		a.what, a.since = what, now
	}
}

// Line returns the text of the line: what happens, for how long. running are the running calls, oldest first.
func (a *Activity) Line(now time.Time, running []*transcript.Call, asking bool) string {
	what, since := a.what, a.since
	switch {
	case asking:
		return "waiting for your answer"
	case a.retry != nil:
		left := max(a.until.Sub(now), 0)
		return fmt.Sprintf("attempt %d of %d in %ds%s", a.retry.Attempt, a.retry.Of, int((left+time.Second-1)/time.Second), transcript.Because(a.retry.Cause))
	case len(running) > 0:
		c := running[0]
		what, since = strings.TrimSpace(term.OneLine(c.Name)+" "+term.Fit(term.OneLine(c.Title), 60)), c.Started
		if more := len(running) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
	case !a.Running && a.Summary:
		return "summarizing in the background"
	}
	if since.IsZero() {
		return what
	}
	return what + term.Elapsed(now.Sub(since))
}
