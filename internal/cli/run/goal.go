package run

import (
	"context"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/session"
)

// onward returns the prompt of a run that continues open work without a prompt of the person, after an answer.
func (j *job) onward(ctx context.Context) (prompt string, open bool) {
	if j.pursues {
		return "Continue to pursue the goal.", true
	}
	o := j.opened.Load()
	if o == nil {
		return "", false
	}
	n, err := o.OpenTasks(ctx)
	return "Continue: your tasks are open. Wait for their reports, and then finish your work.", err == nil && n > 0
}

// checkLoop checks the flags of --loop.
func (o runOptions) checkLoop(j *job) error {
	switch {
	case !o.loop && (len(o.checks) > 0 || o.rounds != 0):
		return command.Usagef(j.command, "--check and --rounds need --loop")
	case o.loop && o.parallel.on():
		return command.Usagef(j.command, "--loop and --parallel exclude each other")
	case o.loop && o.schema != "": // the answer ends with the claim of the model
		return command.Usagef(j.command, "--loop and --schema exclude each other")
	}
	return nil
}

// pursue makes the prompt the goal if the flags say so, and notes whether the run pursues one.
func (j *job) pursue(ctx context.Context, prompt string) error {
	o := j.options
	if !o.loop && !j.header.Resumed {
		return nil
	}
	if o.loop && prompt != "" {
		g := session.Goal{Goal: prompt, Checks: o.checks, Limits: session.GoalLimits{
			Rounds: o.rounds, Time: session.Duration(max(o.limits.Time, 0)), Money: max(o.limits.Cost, 0),
		}}
		if err := j.conversation.Set(ctx, session.Change{Goal: &g}); err != nil {
			return err
		}
	}
	s, err := j.conversation.State(ctx)
	if err != nil {
		return err
	}
	j.pursues = s.Goal != nil && s.Goal.Open()
	switch {
	case o.loop && !j.pursues:
		return command.Usagef(j.command, "session %s has no open goal: give a prompt", s.Session)
	case o.loop && prompt == "" && (len(o.checks) > 0 || o.rounds != 0):
		return command.Usagef(j.command, "--check and --rounds need a prompt, which is the goal")
	}
	return nil
}

// pursued notes the goal as it is after the run.
func (j *job) pursued(ctx context.Context) {
	if !j.pursues {
		return
	}
	if s, err := j.conversation.State(context.WithoutCancel(ctx)); err == nil { // else the error of the journal has ended the run
		j.report.Goal = s.Goal
	}
}
