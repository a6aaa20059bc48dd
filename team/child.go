package team

import (
	"context"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
)

//go:embed complete.md
var completeText string

//go:embed escalate.md
var escalateText string

//go:embed notify.md
var notifyText string

// The tools of a sub-agent.
const (
	toolComplete = "complete"
	toolEscalate = "escalate"
	toolNotify   = "notify"
)

var childTools = []string{toolComplete, toolEscalate, toolNotify}

// hookName is the name of the hook of a sub-agent.
const hookName = "task"

const reminder = "You stopped without a call of complete. If the task is done, or you cannot go on, report with complete. " +
	"If you need a decision, ask with escalate. Else continue."

// said is the details of the result of a tool of a sub-agent. The journaled result is what counts: the call itself changes nothing.
type said struct {
	Task    session.ID          `json:"task"`
	Attempt int                 `json:"attempt"`
	Report  *session.TaskReport `json:"report,omitzero"`
	Mail    *session.Mail       `json:"mail,omitzero"`
}

// child is the tools and the hook of a sub-agent in an attempt.
type child struct {
	*worker

	mu       sync.Mutex
	asked    map[string]bool // the tools that the answer of this turn calls
	spoke    bool            // one of them has a result
	ended    bool            // the run must end: the task is complete, or waits
	reminded bool
}

type completeArgs struct {
	Summary     string   `json:"summary" jsonschema:"what you did and found, for the agent that gave you the task" min:"1" max:"32768"`
	Files       []string `json:"files,omitempty" jsonschema:"files that you changed, relative to the project" max:"1000"`
	Checks      []string `json:"checks,omitempty" jsonschema:"commands that you ran to verify the work, exactly as you ran them" max:"100"`
	Limitations []string `json:"limitations,omitempty" jsonschema:"work that you left undone" max:"100"`
	Risks       []string `json:"risks,omitempty" jsonschema:"what may go wrong with the result" max:"100"`
	FollowUps   []string `json:"follow_ups,omitempty" jsonschema:"further work that you recommend" max:"100"`
	Artifacts   []string `json:"artifacts,omitempty" jsonschema:"names of artifacts that you stored" max:"100"`
}

type escalateArgs struct {
	Reason string           `json:"reason" jsonschema:"the question, with the options that you see" min:"1" max:"32768"`
	Type   session.MailType `json:"type,omitempty" jsonschema:"default decision_required" enum:"decision_required,blocked,direction_change_request"`
}

type notifyArgs struct {
	Text     string               `json:"text" jsonschema:"the message" min:"1" max:"32768"`
	Type     session.MailType     `json:"type,omitempty" jsonschema:"default progress" enum:"progress,blocked,risk_alert,direction_change_request"`
	Priority session.MailPriority `json:"priority,omitempty" jsonschema:"when it is read: notify (default) later, urgent soon, interrupt at once" enum:"notify,urgent,interrupt"`
}

// alone are effects that no other call shares its time with. They may be repeated, because the calls change nothing themselves.
func alone[A any](context.Context, A) (tool.Effects, error) {
	return tool.Effects{None: true, Exclusive: true, Idempotent: true}, nil
}

func (c *child) tools() []tool.Tool {
	return []tool.Tool{
		tool.New(toolComplete, completeText, alone, func(ctx context.Context, a completeArgs, _ tool.Report) (tool.Result, error) {
			if err := c.complete(ctx); err != nil {
				return tool.Result{}, err
			}
			r := session.TaskReport{
				Outcome: session.TaskCompleted, Summary: a.Summary, Files: a.Files, Limitations: a.Limitations, Risks: a.Risks,
				FollowUps: a.FollowUps, Artifacts: a.Artifacts,
			}
			for _, command := range a.Checks {
				r.Checks = append(r.Checks, session.TaskCheck{Command: command})
			}
			return c.result("The task is complete.", said{Report: &r})
		}, tool.WithTitle(func(a completeArgs) string { return a.Summary })),
		tool.New(toolEscalate, escalateText, alone, func(_ context.Context, a escalateArgs, _ tool.Report) (tool.Result, error) {
			if c.calls(toolComplete) {
				return tool.Result{}, errBoth
			}
			m := session.Mail{Type: session.MailDecision, Priority: session.MailUrgent, Text: a.Reason}
			if a.Type != "" && a.Type != session.MailDecision { // every escalation waits; the kind is for people
				m.Text = strings.ReplaceAll(string(a.Type), "_", " ") + ": " + a.Reason
			}
			if c.foreground.Load() {
				m.Priority = session.MailInterrupt
			}
			return c.result("The run ends here. It continues with the answer.", said{Mail: &m})
		}, tool.WithTitle(func(a escalateArgs) string { return a.Reason })),
		tool.New(toolNotify, notifyText, tool.Nothing, func(_ context.Context, a notifyArgs, _ tool.Report) (tool.Result, error) {
			m := session.Mail{Type: session.MailProgress, Priority: session.MailNotify, Text: a.Text}
			if a.Type != "" {
				m.Type = a.Type
			}
			if a.Priority != "" {
				m.Priority = a.Priority
			}
			return c.result("The message is sent after this answer.", said{Mail: &m})
		}, tool.WithTitle(func(a notifyArgs) string { return a.Text })),
	}
}

var errBoth = tool.Codef("team.both", "complete and escalate in one answer contradict each other; neither took effect; call one of them")

// result is the result of a tool of a sub-agent.
func (c *child) result(text string, s said) (tool.Result, error) {
	s.Task, s.Attempt = c.created.Task, c.attempt
	if s.Mail != nil {
		s.Mail.Mail, s.Mail.Task, s.Mail.To = session.NewSessionID(), c.created.Task, c.t.owner.Session()
	}
	return tool.TextResult(text).With("", s), nil
}

// complete returns an error if the task must not be completed now.
func (c *child) complete(ctx context.Context) error {
	if c.calls(toolEscalate) {
		return errBoth
	}
	one, _ := c.t.Task(c.created.Task)
	own, err := Read(ctx, c.t.options.Store, one.Session)
	if err != nil {
		return err
	}
	if open := own.Open(); len(open) > 0 {
		return tool.Codef("team.limit", "your task %s is open; wait for your tasks with agent_wait or cancel them with agent_cancel first", open[0].Task)
	}
	return nil
}

// calls reports whether the answer of this turn calls a tool.
func (c *child) calls(name string) (called bool) {
	c.locked(func() { called = c.asked[name] })
	return called
}

// remind reports whether the sub-agent gets the reminder. It gets one.
func (c *child) remind() (first bool) {
	c.locked(func() { first, c.reminded = !c.reminded, true })
	return first
}

func (c *child) locked(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *child) hook() agent.Hook {
	return agent.Hook{
		Name: hookName,
		BeforeRun: func(context.Context, session.RunStarted) error {
			c.locked(func() { c.ended, c.spoke = false, false })
			return nil
		},
		BeforeTurn: func(context.Context, int) (err error) {
			c.locked(func() {
				if c.asked = make(map[string]bool); c.ended {
					err = agent.ErrDone
				}
			})
			return err
		},
		BeforeCall: func(_ context.Context, call agent.Proposed) (string, error) {
			c.locked(func() {
				if c.asked != nil { // else a person makes the call, outside of turns
					c.asked[call.Call.Name] = true
				}
			})
			return "", nil
		},
		AfterCall: func(_ context.Context, call agent.Proposed, m session.Message) (session.Message, error) {
			if m.Outcome == session.OutcomeOK && slices.Contains(childTools, call.Call.Name) {
				c.locked(func() { c.spoke, c.ended = true, c.ended || call.Call.Name != toolNotify })
			}
			return m, nil
		},
		AfterTurn: func(ctx context.Context, _ int, _ live.TurnEnded) {
			var spoke bool
			if c.locked(func() { spoke, c.spoke = c.spoke, false }); spoke {
				_, _ = c.flush(context.WithoutCancel(ctx)) // the worker does it again, and fails with the error
			}
		},
		BeforeEnd: func(_ context.Context, _ llm.Message) string {
			m := c.current()
			if m == nil || wakes(m.Agent().Requests().Drafts) || !c.remind() {
				return ""
			}
			return reminder
		},
		AfterRun: func(context.Context, session.RunEnded) { c.wake() },
	}
}
