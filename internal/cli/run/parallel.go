package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// parallelOptions are the flags of parallel runs.
type parallelOptions struct {
	count  int
	models []string
	judges []string
	score  string
	apply  bool

	merge, discard string // the worktree of an earlier run
}

func (p *parallelOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&p.count, "parallel", 0, "let `N` agents work on the prompt, each in a worktree")
	f.StringSliceVar(&p.models, "models", nil, "an agent for each model of a `LIST` with commas")
	f.StringArrayVar(&p.judges, "judge", nil, "`NAME`: first, tokens, elaborate, command or model")
	f.StringVar(&p.score, "score", "", "rate the results by this shell command, `CMD`")
	f.BoolVar(&p.apply, "apply", false, "apply the best result without a question")
	f.StringVar(&p.merge, "merge", "", "apply the changes in this `WORKTREE` of --parallel")
	f.StringVar(&p.discard, "discard", "", "remove this `WORKTREE` of --parallel with its changes")
}

func (p *parallelOptions) on() bool { return p.count > 0 || len(p.models) > 0 }

// kept returns the worktree of --merge or --discard.
func (p *parallelOptions) kept() string { return cmp.Or(p.merge, p.discard) }

// kept merges or removes a worktree that parallel runs have left.
func kept(env *command.Env, c *cobra.Command, o runOptions) error {
	name := o.parallel.kept()
	none := fmt.Errorf("%s: %w", name, worktree.ErrNotFound)
	if !strings.HasPrefix(name, app.ParallelPrefix) {
		return none
	}
	var w *worktree.Worktree
	err := env.WithApp(none, func(a *app.App) (err error) {
		if w, err = a.Worktrees().Open(name); err == nil && o.parallel.discard != "" {
			err = a.Worktrees().Remove(name)
		}
		return err
	})
	if err != nil || o.parallel.discard != "" {
		return err
	}
	o.session = w.Owner
	s := newScreen(env, o)
	defer s.Close()
	j := &job{env: env, command: c, options: o, screen: s, view: viewOf(env, o, s), report: newReport()}
	j.report.Parallel = &parallelReport{}
	done, err := j.begin(c.Context(), nil, true)
	if err != nil {
		return err
	}
	defer done()
	return j.merge(c.Context(), j.opened.Load(), name, false)
}

// check returns the error of flags that do not fit together.
func (p *parallelOptions) check(c *cobra.Command, o runOptions) error {
	given := c.Flags().Changed("parallel")
	if p.kept() != "" && (given || p.on() || p.merge != "" && p.discard != "" || c.Flags().NArg() > 0) {
		return command.Usagef(c, "--merge and --discard take no prompt, and exclude each other and --parallel")
	}
	if !p.on() && !given {
		if len(p.judges) > 0 || p.score != "" || p.apply && p.merge == "" {
			return command.Usagef(c, "--judge, --score and --apply need --parallel or --models")
		}
		return nil
	}
	if err := p.wanted(llm.Message{}).Check(); err != nil {
		return command.Usagef(c, "%v", err)
	}
	if o.resume || o.session != "" || o.role != "" || o.schema != "" || o.record != "" || o.replay != "" {
		return command.Usagef(c, "--parallel excludes --continue, --session, --role, --schema, --record and --replay")
	}
	return nil
}

// wanted is the parallel run of the flags.
func (p *parallelOptions) wanted(m llm.Message) app.Parallel {
	return app.Parallel{Parallel: conversation.Parallel{Prompt: m, Count: p.count, Models: p.models, Judges: p.judges, Score: p.score}}
}

// parallelReport is the part of the result about parallel runs.
type parallelReport struct {
	Branches []branchReport `json:"branches"`
	Selected string         `json:"selected,omitzero"` // the worktree
	Reason   string         `json:"reason,omitzero"`
	Applied  bool           `json:"applied"` // its changes are in the project
	Files    []fileReport   `json:"files"`   // that differ, of the selected branch

	Conflicts []string        `json:"conflicts"`
	Entries   []session.Event `json:"entries"` // parallel_started and parallel_ended
}

type branchReport struct {
	Name     string            `json:"name"`
	Session  session.SessionID `json:"session,omitzero"`
	Worktree string            `json:"worktree,omitzero"`
	Model    string            `json:"model"`
	Score    float64           `json:"score"`
	Cost     float64           `json:"cost"`
	Failed   bool              `json:"failed,omitzero"` // the command of --score failed there
	Error    string            `json:"error,omitzero"`
}

type fileReport struct {
	Path    string `json:"path"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
}

// branchEvent is a line of stream-json: an event of another session than that of the result.
type branchEvent struct {
	Session session.SessionID `json:"session"`
	Branch  int               `json:"branch"` // from 1
	Event   session.Event     `json:"event"`
}

// parallel lets several agents work on a message, shows the result, and merges it if the person wants it.
func (j *job) parallel(ctx context.Context, m llm.Message) error {
	j.begun = true
	if j.wrote = j.view.begin(j.header); j.wrote != nil {
		return j.wrote
	}
	opened, begun, wanted := j.opened.Load(), time.Now(), j.options.parallel.wanted(m)
	wanted.Event = j.branch
	result, err := opened.Parallel(ctx, wanted)
	j.screen.Status(nil)
	j.report.parallel(result, time.Since(begun))
	if entries, e := j.groups(context.WithoutCancel(ctx)); e == nil {
		j.report.Parallel.Entries = entries
	} else {
		err = errors.Join(err, e)
	}
	j.results(result)
	if err == nil {
		err = j.merge(ctx, opened, result.Winner(), result.Failed[result.Selected])
	}
	if losers := j.others(result); losers != "" {
		j.note(losers)
	}
	if err == nil {
		j.report.ended, j.report.StopReason = true, session.ReasonDone
	}
	return err
}

// branch shows an event of a branch.
func (j *job) branch(branch int, id session.SessionID, e session.Event) {
	if v, ok := j.view.(streamView); ok {
		if err := command.WriteJSON(v.out, branchEvent{id, branch + 1, e}); err != nil && j.wrote == nil {
			j.wrote = err
		}
	}
	if b, ok := e.Body.(session.RunEnded); ok && !j.options.quiet {
		j.note(fmt.Sprintf("run %d: %s, %s, %s, %s", branch+1, b.Reason, transcript.Count(b.Turns, "turn"), transcript.Usage(b.Usage), transcript.Duration(time.Duration(b.Elapsed))))
	}
	if b, ok := e.Body.(session.RunEnded); ok {
		j.report.Turns += b.Turns
	}
}

// groups returns the entries of the session about parallel runs, and shows them to programs.
func (j *job) groups(ctx context.Context) (entries []session.Event, err error) {
	state, err := j.conversation.State(ctx)
	if err != nil {
		return nil, err
	}
	for e, err := range j.conversation.Follow(ctx, 0) {
		if err != nil {
			return entries, err
		}
		switch e.Body.(type) {
		case session.ParallelStarted, session.ParallelEnded:
			entries = append(entries, e)
			if v, ok := j.view.(streamView); ok && j.wrote == nil {
				j.wrote = v.event(e)
			}
		}
		if e.Seq >= state.Seq {
			break
		}
	}
	return entries, nil
}

// parallel adds the result of parallel runs to the report.
func (r *report) parallel(result app.ParallelResult, took time.Duration) {
	r.Seconds = took.Seconds()
	r.Parallel = &parallelReport{Branches: []branchReport{}, Files: []fileReport{}, Conflicts: []string{}, Entries: []session.Event{}, Selected: result.Winner(), Reason: result.Reason}
	usage := result.Usage
	for i, b := range result.Outcomes {
		one := branchReport{Name: b.Name, Session: b.Session, Worktree: result.Worktrees[i], Model: result.Models[i], Cost: command.Round(b.Usage.Cost), Failed: result.Failed[i]}
		if !one.Failed {
			one.Score = b.Score
		}
		if b.Err != nil {
			one.Error = b.Err.Error()
		}
		usage = usage.Plus(b.Usage)
		r.Parallel.Branches = append(r.Parallel.Branches, one)
	}
	if r.Usage, r.Cost = command.UsageJSON(usage), command.Round(usage.Cost); result.Selected >= 0 {
		r.Answer, r.Model = strings.TrimSpace(transcript.WithoutIntent(result.Outcomes[result.Selected].Text)), result.Models[result.Selected]
	}
}

// results shows the branches with their scores and costs, and why one is selected.
func (j *job) results(result app.ParallelResult) {
	if j.options.quiet || j.options.output != outputText {
		return
	}
	var rows [][]string
	for i, b := range result.Outcomes {
		mark, how := "", fmt.Sprintf("score %g", b.Score)
		switch {
		case b.Err != nil:
			how = "failed: " + term.OneLine(b.Err.Error())
		case result.Failed[i]:
			how = "the command failed"
		}
		if i == result.Selected {
			mark = "*"
		}
		rows = append(rows, []string{mark, b.Name, result.Worktrees[i], fmt.Sprintf("$%.4f", b.Usage.Cost), how})
	}
	if rows != nil {
		j.screen.Note(j.env.Table([]string{"", "run", "worktree", ">cost", "result"}, rows))
	}
	if result.Selected >= 0 {
		j.note("selected: " + result.Reason)
	}
}

// merge shows the changes of the selected branch, and brings them into the project if the person agrees.
func (j *job) merge(ctx context.Context, opened *app.Opened, name string, failed bool) error {
	plan, err := opened.PlanMerge(ctx, name)
	if err != nil {
		return err
	}
	r := j.report.Parallel
	for _, f := range plan.Files {
		added, removed := f.Lines()
		r.Files = append(r.Files, fileReport{f.Path, added, removed})
		j.preview(fmt.Sprintf(" %s | +%d -%d", term.OneLine(f.Path), added, removed))
	}
	for _, c := range plan.Conflicts {
		r.Conflicts = append(r.Conflicts, c.Path)
		j.preview(fmt.Sprintf(" %s | conflict: %s", term.OneLine(c.Path), c.Why))
	}
	if len(plan.Files) == 0 {
		j.preview("the selected result changes no files of the project")
		return nil
	}
	if apply, err := j.agreed(plan, failed); err != nil || !apply {
		j.preview("to apply the changes: tenon run --merge " + name + " --apply")
		return err
	}
	if err := opened.Merge(ctx, plan); err != nil {
		return err
	}
	r.Applied = true
	j.preview(fmt.Sprintf("applied: %s; 'tenon undo' reverts them", transcript.Count(len(plan.Files), "file")))
	if len(plan.Conflicts) > 0 {
		j.preview("the conflicts stay in the worktree, which is " + plan.Worktree.Dir())
	}
	return nil
}

// preview writes a line about the selected result, for people.
func (j *job) preview(line string) {
	if !j.options.quiet {
		j.note(line)
	}
}

// agreed reports whether the person wants the changes. --apply is no wish for changes with which the command fails.
func (j *job) agreed(plan *worktree.Merge, failed bool) (bool, error) {
	if failed {
		j.preview("! the command fails with the selected result")
	}
	if j.options.parallel.apply && !failed {
		return true, nil
	}
	if term.Width(j.env.Stdin) == nil || j.options.output != outputText {
		return false, nil
	}
	err := j.env.Confirm(j.command, fmt.Sprintf("Apply the changes of %s to the project?", transcript.Count(len(plan.Files), "file")))
	if command.CodeOf(err) == "cli.declined" {
		return false, nil
	}
	return err == nil, err
}

// others says how the worktrees are removed, which stay.
func (j *job) others(result app.ParallelResult) string {
	names := slices.DeleteFunc(slices.Clone(result.Worktrees), func(name string) bool { return name == "" })
	if len(names) == 0 || j.options.quiet {
		return ""
	}
	return "the worktrees stay until you remove each: tenon run --discard " + strings.Join(names, ", ")
}
