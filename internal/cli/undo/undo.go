// Package undo is tenon undo, redo, diff and sessions rewind.
package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace/contents"
)

type taking struct {
	dir, to                       string
	turns                         int // of the conversation; 0: use to, or the last run
	files, conversation, both     bool
	dryRun, force, asJSON, isRedo bool
	takeOver                      bool
}

// NewUndo returns tenon undo.
func NewUndo(env *command.Env) *cobra.Command {
	var o taking
	c := &cobra.Command{
		Use:   "undo [SESSION]",
		Short: "Undo the last run: its file changes and its conversation",
		Long: `Undo the last run of a session: restore the files and the conversation to their state
before it. This includes the work of an interrupted run that was resumed without a new
prompt. SESSION defaults to the most recent session of this directory. If its last run
changed no files, Tenon names the last run that did.

Tenon changes only files that the session changed, by tools or commands. If anything
else changed one of them since, it does nothing. A file outside the roots, a hidden or a
protected one stays, and so do files of an imported session. 'tenon redo' reverts the undo. If Tenon
was killed during a command, it finds the changes of the command; changes of uncertain
origin stay, unless --force is set.

  tenon undo --dry-run          print what would happen
  tenon undo --files            only the files
  tenon undo --to ENTRY         back to an entry of the journal`,
		Args: maxOneSession,
		RunE: func(c *cobra.Command, args []string) error {
			if o.files && o.conversation || o.both && (o.files || o.conversation) {
				return command.Usagef(c, "--files, --conversation and --both exclude each other")
			}
			return takeBack(env, c, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "undo to this `ENTRY`: ID, ID prefix or number")
	scopeFlags(env, c, &o)
	takingFlags(env, c, &o)
	command.CompleteWith(c, "to", RunEntries(env))
	return c
}

func scopeFlags(env *command.Env, c *cobra.Command, o *taking) {
	f := c.Flags()
	f.BoolVar(&o.files, "files", false, "undo only the files")
	f.BoolVar(&o.conversation, "conversation", false, "undo only the conversation")
	f.BoolVar(&o.both, "both", false, "undo files and conversation (the default)")
}

// NewRedo returns tenon redo.
func NewRedo(env *command.Env) *cobra.Command {
	o := taking{isRedo: true}
	c := &cobra.Command{
		Use:   "redo [SESSION]",
		Short: "Revert the last undo",
		Long: `Revert the last undo of a session. SESSION defaults to the most recent session of this
directory. If the files changed after the undo, Tenon does nothing.`,
		Args: maxOneSession,
		RunE: func(c *cobra.Command, args []string) error { return takeBack(env, c, args, o) },
	}
	takingFlags(env, c, &o)
	return c
}

func takingFlags(env *command.Env, c *cobra.Command, o *taking) {
	applyFlags(env, c, o)
	command.DirFlag(c, &o.dir, "use the most recent session of this `directory`")
}

func applyFlags(env *command.Env, c *cobra.Command, o *taking) {
	f := c.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would happen, and change nothing")
	f.BoolVar(&o.force, "force", false, "also overwrite changes that the session did not make")
	f.BoolVar(&o.takeOver, "take-over", false, "take the session from the process that has it open")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	env.CompleteSessions(c, "")
}

func maxOneSession(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return command.Usagef(c, "%s takes one session, got %q too", c.CommandPath(), args[1])
	}
	return nil
}

// RunEntries completes entries at which runs began.
func RunEntries(env *command.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var out []string
		_ = env.WithStore(nil, func(store index.Store) error { // a shell shows no errors
			s, err := sessionOf(c.Context(), store, args, "")
			if err != nil {
				return err
			}
			h, err := undo.Read(c.Context(), store, s.ID, nil)
			if err != nil {
				return err
			}
			for _, r := range h.Runs() {
				out = append(out, cobra.CompletionWithDesc(string(r.Entry), "before: "+term.OneLine(r.Title)))
			}
			return nil
		})
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// sessionOf returns the named session, or the most recent one of a directory.
func sessionOf(ctx context.Context, store index.Store, args []string, dir string) (index.Summary, error) {
	if len(args) > 0 {
		return conversation.Resolve(ctx, store, args[0])
	}
	dir, err := app.Directory(dir)
	if err != nil {
		return index.Summary{}, err
	}
	return conversation.Latest(ctx, store, dir)
}

func takeBack(env *command.Env, c *cobra.Command, args []string, o taking) error {
	return env.WithApp(command.ErrNoSessions, func(a *app.App) error {
		s, err := sessionOf(c.Context(), a.Store, args, o.dir)
		if err != nil {
			return err
		}
		last := !o.isRedo && len(args) == 0 && o.to == "" && o.turns == 0 && !o.conversation // the caller means the last work
		lease := session.Lease{Owner: app.Owner(c.CommandPath()), TakeOver: o.takeOver}
		err = command.Locked(a.Rewind(c.Context(), s.ID, o.back(), lease, func(plan *undo.Plan, kept contents.Store, err error) error {
			if _, ok := errors.AsType[*undo.ProblemsError](err); ok {
				return errors.Join(showPlan(env, plan, o, false), showProblems(c.Context(), env, plan, kept), fmt.Errorf("%w; see --dry-run and --force", err))
			}
			if last && len(plan.Files) == 0 && err == nil {
				var other string
				if other, err = earlier(c.Context(), a, s.Dir); other != "" {
					plan.Notes = append(plan.Notes, "This run changed no files; "+other+".")
				}
			}
			return errors.Join(showPlan(env, plan, o, !o.dryRun), err)
		}))
		if _, nothing := errors.AsType[*undo.NothingError](err); nothing && last {
			if other, e := earlier(c.Context(), a, s.Dir); e != nil || other != "" {
				return errors.Join(fmt.Errorf("%w; %s", err, other), e)
			}
		}
		return err
	})
}

// back returns the scope of the flags.
func (o taking) back() conversation.Back {
	b := conversation.Back{Redo: o.isRedo, To: o.to, Turns: o.turns, Force: o.force, DryRun: o.dryRun}
	switch {
	case o.files:
		b.Scope = undo.Files
	case o.conversation:
		b.Scope = undo.Conversation
	}
	return b
}

// showProblems shows the changes that --force would overwrite.
func showProblems(ctx context.Context, env *command.Env, plan *undo.Plan, kept contents.Store) error {
	const most, lines = 10, 30
	for i, f := range plan.Problems() {
		if i == most {
			fmt.Fprintf(env.Stderr, "… and %s\n", transcript.Count(len(plan.Problems())-most, "more file"))
			break
		}
		if f.Lost || f.Now == nil || !fs.FileMode(f.Now.Mode).IsRegular() {
			continue
		}
		d := plan.Difference(ctx, f, kept)
		if d.Diff != "" {
			fmt.Fprintf(env.Stderr, "--force would do this:\n%s", harmlessLines(firstLines(d.Diff, lines)))
		}
	}
	return nil
}
