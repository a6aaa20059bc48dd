package team

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/tool"
)

//go:embed agent.md
var agentText string

//go:embed agent_wait.md
var waitText string

//go:embed agent_send.md
var sendText string

//go:embed agent_cancel.md
var cancelText string

//go:embed agent_list.md
var listText string

// ownerTools are the tools of an owner.
var ownerTools = []string{"agent", "agent_wait", "agent_send", "agent_cancel", "agent_list"}

// desk carries out the calls of the owner.
type desk struct{ *Team }

type agentArgs struct {
	Task       string    `json:"task" jsonschema:"the work, complete: the sub-agent knows nothing of this conversation" min:"1" max:"65536"`
	Role       string    `json:"role,omitempty" jsonschema:"one of the roles; default: your own" max:"64"`
	Name       string    `json:"name,omitempty" jsonschema:"a few words for people" max:"100"`
	Key        string    `json:"key,omitempty" jsonschema:"identifies the work, so that it is not given twice" max:"100"`
	Scope      scopeArgs `json:"scope,omitempty" jsonschema:"what it may change; default: what you may change"`
	Background bool      `json:"background,omitempty" jsonschema:"do not wait; the report comes as a message"`
	Worktree   bool      `json:"worktree,omitempty" jsonschema:"work in a copy of the project, which is merged later"`
}

type scopeArgs struct {
	Paths    []string `json:"paths,omitempty" jsonschema:"files and directories" max:"100"`
	ReadOnly bool     `json:"read_only,omitempty" jsonschema:"it changes nothing"`
}

type waitArgs struct {
	Tasks   []string `json:"tasks,omitempty" jsonschema:"task IDs; default: all that are open or have a new report" max:"100"`
	Timeout float64  `json:"timeout,omitempty" jsonschema:"seconds, default 600" min:"0" max:"3600"`
}

type sendArgs struct {
	Task     string               `json:"task" jsonschema:"the task ID" min:"1"`
	Text     string               `json:"text" jsonschema:"the instruction or the answer" min:"1" max:"65536"`
	Priority session.MailPriority `json:"priority,omitempty" jsonschema:"urgent (default): after its current work; interrupt: at once; notify: with its next turn" enum:"urgent,interrupt,notify"`
	Reply    session.ID           `json:"reply,omitempty" jsonschema:"ID of the question that this answers"`
}

type cancelArgs struct {
	Task   string `json:"task" jsonschema:"the task ID" min:"1"`
	Reason string `json:"reason,omitempty" jsonschema:"why, in a few words" max:"1000"`
}

// Tools returns the tools of the owner: agent, agent_wait, agent_send, agent_cancel and agent_list. An owner that must not start sub-agents, by
// Limits.Depth, has none.
func (t *Team) Tools() []tool.Tool {
	if t.options.Depth >= t.limits.Depth {
		return nil
	}
	text := strings.TrimSpace(agentText)
	for i, r := range t.roles {
		text += []string{"\nRoles:", ";"}[min(i, 1)] + " " + r.Name + ": " + r.Description
	}
	d := desk{t}
	// A call of agent is no reader and no writer itself, so several of one answer run at the same time. The others run alone: they are about
	// the tasks of earlier calls.
	return []tool.Tool{
		tool.New("agent", text, func(_ context.Context, a agentArgs) (tool.Effects, error) {
			return tool.Effects{Agents: true}, d.knows(a.Role)
		}, d.give, tool.WithTitle(func(a agentArgs) string { return cmp.Or(a.Name, a.Task) })),
		tool.New("agent_wait", waitText, alone, d.await),
		tool.New("agent_send", sendText, once, func(ctx context.Context, a sendArgs, _ tool.Report) (tool.Result, error) {
			one, err := d.find(a.Task)
			if err != nil {
				return tool.Result{}, err
			}
			if err := t.Send(ctx, Instruction{Task: one.Task, Text: a.Text, Priority: a.Priority, Reply: a.Reply}); err != nil {
				return tool.Result{}, err
			}
			if now, _ := t.Task(one.Task); now.Attempt > one.Attempt {
				return tool.TextResult(fmt.Sprintf("Sent. Attempt %d of %s begins in the background.", now.Attempt, title(&now))), nil
			}
			return tool.TextResult("Sent to " + title(&one) + "."), nil
		}, tool.WithTitle(func(a sendArgs) string { return a.Task + ": " + a.Text })),
		tool.New("agent_cancel", cancelText, once, func(ctx context.Context, a cancelArgs, _ tool.Report) (tool.Result, error) {
			one, err := d.find(a.Task)
			if err == nil {
				err = t.Cancel(ctx, one.Task, a.Reason)
			}
			if err != nil {
				return tool.Result{}, err
			}
			one, _ = t.Task(one.Task)
			return tool.TextResult("Cancelled "+title(&one)+".").With("", shows{[]session.ID{reportDraft(one.Task, one.Attempt)}}), nil
		}, tool.WithTitle(func(a cancelArgs) string { return a.Task })),
		tool.New("agent_list", listText, alone, func(ctx context.Context, _ struct{}, _ tool.Report) (tool.Result, error) {
			tasks, err := t.List(ctx)
			return tool.TextResult(listed(tasks)).With(tool.Count(len(tasks), "task"), nil), err
		}),
	}
}

// once is alone for calls that must not be repeated without a look.
func once[A any](context.Context, A) (tool.Effects, error) {
	return tool.Effects{None: true, Exclusive: true}, nil
}

// knows returns an error if there is no role of this name.
func (t desk) knows(role string) error {
	names := make([]string, len(t.roles))
	for i, r := range t.roles {
		names[i] = r.Name
	}
	if role == "" || slices.Contains(names, role) {
		return nil
	}
	return tool.Codef("team.not_found", "there is no role %q; the roles are: %s", role, cmp.Or(strings.Join(names, ", "), "none"))
}

// give is the tool agent.
func (t desk) give(ctx context.Context, a agentArgs, _ tool.Report) (tool.Result, error) {
	task, fresh, err := t.Start(ctx, session.TaskCreated{
		Call: agent.CallID(ctx), Name: a.Name, Text: a.Task, Role: a.Role, Key: a.Key,
		Scope: session.Scope{ReadOnly: a.Scope.ReadOnly, Paths: a.Scope.Paths}, Background: a.Background, Worktree: a.Worktree,
	})
	switch {
	case err != nil && !fresh:
		return tool.Result{}, err
	case err != nil:
		return tool.Result{Details: shows{[]session.ID{reportDraft(task.Task, 1)}}}, err
	case !fresh:
		return tool.TextResult(fmt.Sprintf("There already exists an open task with this key: %s, %s.", title(&task), task.Status())), nil
	case a.Background:
		return tool.TextResult(fmt.Sprintf("Started %s in the background. Its report comes as a message.", title(&task))).With(string(task.Task), nil), nil
	}
	done, err := t.Wait(ctx, task.Task)
	if err != nil {
		t.release(task.Task, ctx.Err() != nil && t.ctx.Err() == nil)
		return tool.Result{}, err
	}
	return t.reported(done), nil
}

// release ends the wait of a call for a task: the task continues in the background, or is cancelled.
func (t desk) release(task session.ID, cancel bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w := t.workers[task]; w != nil && cancel {
		w.cancel(&cancelled{"the call that waited for it was cancelled"})
	} else if w != nil {
		w.foreground.Store(false)
	}
}

// await is the tool agent_wait.
func (t desk) await(ctx context.Context, a waitArgs, _ tool.Report) (tool.Result, error) {
	var ids []session.ID
	for _, name := range a.Tasks {
		one, err := t.find(name)
		if err != nil {
			return tool.Result{}, err
		}
		ids = append(ids, one.Task)
	}
	if len(a.Tasks) == 0 {
		ids = t.unread()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(cmp.Or(a.Timeout, 600)*float64(time.Second)), errEnough)
	defer cancel()
	ctx, steered := context.WithCancelCause(ctx)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer steered(nil)
	follower.Go(func() { // a message for the owner ends the wait
		r := t.owner.Requests()
		if r.Waiting(session.FromSteering) {
			steered(errEnough)
		}
		for e, err := range t.owner.Follow(ctx, r.Seq) {
			if q, ok := e.Body.(session.Queued); err != nil || ok && q.Change == "added" && q.Lane == session.FromSteering {
				steered(errEnough)
				return
			}
		}
	})
	tasks, err := t.Wait(ctx, ids...) // without IDs there are no open tasks
	if err != nil && !errors.Is(err, errEnough) {
		return tool.Result{}, err
	}
	return t.reported(tasks), nil
}

// unread returns the open tasks, and those whose report waits in the queue.
func (t desk) unread() (ids []session.ID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	drafts := t.owner.Requests().Drafts
	for _, one := range t.state.Tasks {
		waits := func(d request.Draft) bool { return d.ID == reportDraft(one.Task, one.Attempt) }
		if one.Open() || slices.ContainsFunc(drafts, waits) {
			ids = append(ids, one.Task)
		}
	}
	return ids
}

// errEnough is the cause with which a wait ends early.
var errEnough = errors.New("the wait is over")

// reported is the result of a call that waited for tasks: the reports, or why there is none.
func (t desk) reported(tasks []Task) tool.Result {
	var texts []string
	var s shows
	failed := false
	for _, one := range tasks {
		switch r := one.Report(); {
		case r != nil:
			texts = append(texts, reportText(&one, one.Attempt, *r))
			s.Shown = append(s.Shown, reportDraft(one.Task, one.Attempt))
			failed = failed || r.Outcome != session.TaskCompleted
		case one.Decision() != nil:
			t.release(one.Task, false)
			texts = append(texts, fmt.Sprintf("%s waits for your answer; its question comes as a message. Answer with agent_send.", title(&one)))
		default:
			texts = append(texts, fmt.Sprintf("%s continues in the background.", title(&one)))
		}
	}
	if len(texts) == 0 {
		texts = []string{"There are no open tasks."}
	}
	res := tool.TextResult(strings.Join(texts, "\n\n")).With(fmt.Sprintf("%d of %s settled", len(s.Shown), tool.Count(len(tasks), "task")), s)
	res.Failed = failed
	return res
}

// find returns the task that a model names: by its ID, or by its name or key if no other task has it.
func (t desk) find(name string) (Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(); err != nil {
		return Task{}, err
	}
	found := slices.DeleteFunc(slices.Clone(t.state.Tasks), func(one *Task) bool { return one.Name != name && one.Key != name })
	if one := t.state.Task(session.ID(name)); one != nil {
		found = []*Task{one}
	}
	if len(found) != 1 {
		return Task{}, tool.Codef("team.not_found", "%d tasks match %q; see agent_list", len(found), name)
	}
	return *found[0], nil
}

// listed is the list of tasks for a model.
func listed(tasks []*Task) string {
	if len(tasks) == 0 {
		return "There are no tasks."
	}
	var b strings.Builder
	for _, one := range tasks {
		fmt.Fprintf(&b, "%s: %s, attempt %d", title(one), one.Status(), one.Attempt)
		if d := one.Decision(); d != nil {
			fmt.Fprintf(&b, ", asks: %s (reply %s)", tool.Line(d.Text), d.Mail)
		}
		for _, m := range slices.Backward(one.Mail) {
			if m.Type == session.MailInstruction {
				fmt.Fprintf(&b, "; last instruction: %s", tool.Line(m.Text))
				break
			}
		}
		b.WriteString("\n")
	}
	text, _ := tool.Bound(strings.TrimSpace(b.String()), maxReport)
	return text
}
