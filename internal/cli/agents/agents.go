// Package agents is tenon agents: the tasks that agents gave to sub-agents, and their worktrees.
package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// New returns tenon agents.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "agents",
		Short: "List, show and stop sub-agents, and merge their worktrees",
		Long: `List and show the tasks that an agent gave to sub-agents, stop them, and merge or remove
the worktrees of their work. The tasks are those of one session: --session, or the most
recent session of this directory. A task is named by its ID, a prefix of it, or its name.`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Group,
	}
	c.AddCommand(newList(env), newShow(env), newStop(env), newMerge(env), newRemove(env))
	return c
}

// place says which tasks a command is about.
type place struct{ session, dir string }

func (p *place) flags(env *command.Env, c *cobra.Command) {
	c.Flags().StringVar(&p.session, "session", "", "tasks of this `session`: ID or ID prefix")
	command.DirFlag(c, &p.dir, "use the most recent session of this `directory`")
	env.CompleteSessions(c, "session")
}

// tasks returns the session and its tasks.
func (p place) tasks(ctx context.Context, a *app.App) (index.Summary, []*team.Task, error) {
	var s index.Summary
	var err error
	if p.session != "" {
		s, err = conversation.Resolve(ctx, a.Store, p.session)
	} else if p.dir, err = app.Directory(p.dir); err == nil {
		s, err = conversation.Latest(ctx, a.Store, p.dir)
	}
	if err != nil {
		return s, nil, err
	}
	state, err := team.Read(ctx, a.Store, s.ID)
	if err != nil {
		return s, nil, err
	}
	return s, state.Tasks, nil
}

// find returns the task of a name.
func (p place) find(ctx context.Context, a *app.App, name string) (index.Summary, *team.Task, error) {
	s, all, err := p.tasks(ctx, a)
	if err != nil {
		return s, nil, err
	}
	var found []*team.Task
	for _, t := range all {
		if string(t.Task) == name {
			return s, t, nil
		}
		if t.Name == name || strings.HasPrefix(string(t.Task), name) {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return s, nil, command.Codef("team.not_found", "%s of session %s match %q; see 'tenon agents list'", transcript.Count(len(found), "task"), s.ID, name)
	}
	return s, found[0], nil
}

// onTask makes c work on the task that its argument names.
func onTask(env *command.Env, c *cobra.Command, run func(c *cobra.Command, a *app.App, s index.Summary, t *team.Task) error) *cobra.Command {
	var p place
	p.flags(env, c)
	c.Args = command.ExactArgs("the task")
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.WithApp(command.ErrNoSessions, func(a *app.App) error {
			s, t, err := p.find(c.Context(), a, args[0])
			if err != nil {
				return err
			}
			return run(c, a, s, t)
		})
	}
	return c
}

// task is a task as JSON.
type task struct {
	Task     session.ID          `json:"task"`
	Name     string              `json:"name,omitzero"`
	State    team.Status         `json:"state"`
	Role     string              `json:"role,omitzero"`
	Attempt  int                 `json:"attempt"`
	Cost     float64             `json:"cost"` // US dollars of the settled attempts
	Session  session.SessionID   `json:"session,omitzero"`
	Worktree string              `json:"worktree,omitzero"`
	Dir      string              `json:"dir,omitzero"`
	Text     string              `json:"text,omitzero"`
	Report   *session.TaskReport `json:"report,omitzero"`
}

func taskOf(t *team.Task) task {
	out := task{
		Task: t.Task, Name: t.Name, State: t.Status(), Role: t.Role, Attempt: t.Attempt, Session: t.Session, Worktree: t.Worktree, Dir: t.Dir,
	}
	for _, r := range t.Reports {
		out.Cost += r.Usage.Cost
	}
	return out
}

func newList(env *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: "List the tasks of a session"}
	var p place
	p.flags(env, c)
	return env.Printing(c, "print JSON, one object per line", func(ctx context.Context, _ []string) (r command.Result, err error) {
		err = env.WithApp(command.ErrNoSessions, func(a *app.App) error {
			s, all, err := p.tasks(ctx, a)
			if err != nil {
				return err
			}
			var tasks []task
			var rows [][]string
			for _, t := range all {
				one := taskOf(t)
				tasks = append(tasks, one)
				rows = append(rows, []string{
					string(one.Task), string(one.State), fmt.Sprint(one.Attempt), transcript.Dollars(one.Cost), one.Role, one.Worktree, term.OneLine(cmp.Or(one.Name, t.Text)),
				})
			}
			r.JSON = command.Lines(tasks)
			if r.Text = env.Table([]string{"TASK", "STATE", ">ATTEMPT", ">COST", "ROLE", "WORKTREE", "NAME"}, rows); len(rows) == 0 {
				r.Text, r.Note = "", fmt.Sprintf("session %s gave no tasks", s.ID)
			}
			return nil
		})
		return r, err
	})
}

func newShow(env *command.Env) *cobra.Command {
	c := &cobra.Command{Use: "show TASK", Short: "Show the prompt and the report of a task"}
	asJSON := c.Flags().Bool("json", false, "print one JSON object")
	return onTask(env, c, func(_ *cobra.Command, _ *app.App, _ index.Summary, t *team.Task) error {
		one := taskOf(t)
		one.Text, one.Report = t.Text, t.Report()
		return env.Print(*asJSON, command.Result{JSON: one, Text: env.Shown(described(one, t))})
	})
}

// described is a task for people.
func described(one task, t *team.Task) string {
	var b strings.Builder
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	field("task", string(one.Task))
	field("name", one.Name)
	field("state", fmt.Sprintf("%s, attempt %d", one.State, one.Attempt))
	field("role", one.Role)
	field("session", string(one.Session))
	field("cost", transcript.Dollars(one.Cost))
	field("worktree", one.Worktree)
	field("files in", one.Dir)
	list := func(name string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "\n%s:\n  %s\n", name, strings.Join(items, "\n  "))
		}
	}
	list("Task", strings.Split(one.Text, "\n"))
	if d := t.Decision(); d != nil {
		list("It asks", []string{d.Text})
	}
	r := one.Report
	if r == nil {
		return b.String()
	}
	list("Report", strings.Split(r.Summary, "\n"))
	list("Files changed", r.Changed)
	var checks []string
	for _, c := range r.Checks {
		state := "verified"
		if !c.Verified {
			state = cmp.Or(c.Doubt, "not verified")
		}
		checks = append(checks, c.Command+": "+state)
	}
	list("Checks", checks)
	list("Doubts", r.Doubts)
	list(fmt.Sprintf("Denied calls, %d in all", r.Denials), r.Denied)
	list("Limitations", r.Limitations)
	list("Risks", r.Risks)
	list("Further work", r.FollowUps)
	return b.String()
}

func newStop(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "stop TASK",
		Short: "Stop the sub-agent of a task",
		Long: `Stop the sub-agent of a task, in whichever process it works. The attempt is cancelled, and
its owner can start another one.`,
	}
	return onTask(env, c, func(c *cobra.Command, a *app.App, s index.Summary, t *team.Task) error {
		if !t.Open() {
			return command.Codef("team.late", "task %s is %s", t.Task, t.Status())
		}
		if t.Status() == team.StatusRunning || t.Status() == team.StatusWaitingTasks {
			by := session.Speaker{Kind: session.SpeakerPerson, Name: "cli"}
			if _, err := request.Send(c.Context(), a.Store, t.Session, session.Abort{By: by}); err != nil {
				return err
			}
			env.Tell("asked the sub-agent of task %s to stop", t.Task)
			return nil
		}
		if s.Owner != "" {
			return fmt.Errorf("task %s does no work now; its owner is open in %s, where you can cancel it", t.Task, s.Owner)
		}
		report := session.TaskReport{Outcome: session.TaskCancelled, Summary: "a person stopped it"}
		_, err := a.Store.Annotate(c.Context(), s.ID, session.TaskSettled{Task: t.Task, Attempt: max(t.Attempt, 1), Report: report})
		return err
	})
}

// copyOf returns the worktree of a task.
func copyOf(a *app.App, t *team.Task) (*worktree.Worktree, error) {
	if t.Worktree == "" {
		return nil, fmt.Errorf("task %s: %w: it shared the files of its owner", t.Task, worktree.ErrNotFound)
	}
	return a.Worktrees().Open(t.Worktree)
}

func newMerge(env *command.Env) *cobra.Command {
	var yes, marks bool
	c := &cobra.Command{
		Use:   "merge TASK",
		Short: "Bring the changes of a worktree into the project",
		Long: `Bring the changes that a sub-agent made in its worktree into the project, after a preview.
Both sides are compared with the state at the start, so that your own changes stay. Files
in which they collide stay as they are, unless --marks writes both sides with markers.
'tenon undo' reverts the merge. The worktree stays: see 'tenon agents remove'.`,
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	c.Flags().BoolVar(&marks, "marks", false, "write conflicts with markers into the files")
	return onTask(env, c, func(c *cobra.Command, a *app.App, _ index.Summary, t *team.Task) error {
		w, err := copyOf(a, t)
		if err != nil {
			return err
		}
		if t.Open() {
			return fmt.Errorf("task %s is %s; merge when it is settled, or stop it", t.Task, t.Status())
		}
		err = a.Merge(c.Context(), w, marks, app.Owner(c.CommandPath()), func(m *worktree.Merge) error {
			fmt.Fprint(env.Stdout, env.Shown(preview(m)))
			switch {
			case len(m.Files) == 0 && (!marks || len(m.Conflicts) == 0):
				return errNothing
			case !yes:
				return env.Confirm(c, "Change these files of "+m.Worktree.Root+"?")
			}
			return nil
		})
		if errors.Is(err, errNothing) {
			env.Tell("there is nothing to merge")
			return nil
		}
		return command.Locked(err)
	})
}

var errNothing = errors.New("there is nothing to merge")

// preview is the files of a merge with the numbers of their lines that it adds and removes, and its conflicts.
func preview(m *worktree.Merge) string {
	var b strings.Builder
	for _, f := range m.Files {
		added, removed := f.Lines()
		what := fmt.Sprintf("+%d -%d", added, removed)
		if f.Merged {
			what += ", merged with the project's changes"
		}
		fmt.Fprintf(&b, "%s (%s)\n", tool.Line(f.Path), what)
	}
	for _, c := range m.Conflicts {
		fmt.Fprintf(&b, "conflict: %s: %s\n", tool.Line(c.Path), c.Why)
	}
	return b.String()
}

func newRemove(env *command.Env) *cobra.Command {
	var yes bool
	c := &cobra.Command{Use: "remove TASK", Short: "Remove the worktree of a task with all changes in it"}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return onTask(env, c, func(c *cobra.Command, a *app.App, _ index.Summary, t *team.Task) error {
		w, err := copyOf(a, t)
		if err != nil {
			return err
		}
		if t.Open() {
			return fmt.Errorf("task %s is %s; stop it before", t.Task, t.Status())
		}
		changes, err := w.Changes(c.Context())
		if err != nil {
			return err
		}
		if !yes && len(changes) > 0 {
			if err := env.Confirm(c, fmt.Sprintf("Remove %s with %s?", w.Dir(), transcript.Count(len(changes), "changed file"))); err != nil {
				return err
			}
		}
		return a.Worktrees().Remove(w.Name)
	})
}
