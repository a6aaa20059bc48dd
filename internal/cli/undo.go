package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/undo"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// taking is the flags of undo and redo.
type taking struct {
	dir, to                       string
	turns                         int // of the conversation; 0: to, or the last run
	files, conversation, both     bool
	dryRun, force, asJSON, isRedo bool
}

func (p *program) undo() *cobra.Command {
	var o taking
	c := &cobra.Command{
		Use:   "undo [SESSION]",
		Short: "Take back what the last run did to files and conversation",
		Long: `Take back what the last run of a session did: the files are what they were before, and the conversation goes on from there.
What an interrupted run did when it went on without a new prompt is part of it.
Without SESSION it is the one of this directory that was changed last. Only files that the session changed are touched, by
tools or by commands; when somebody else has changed one of them since, nothing is done. 'tenon redo' takes the undo back. After Tenon was killed
under a command, what that changed is found; what may be somebody else's stays as it is without --force.

  tenon undo --dry-run          what would happen
  tenon undo --files            only the files
  tenon undo --to ENTRY         further back: to what was at an entry of the journal`,
		Args: maxOneSession,
		RunE: func(c *cobra.Command, args []string) error {
			if o.files && o.conversation || o.both && (o.files || o.conversation) {
				return usagef(c, "--files, --conversation and --both exclude each other")
			}
			return p.takeBack(c, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "bring back what was at this `ENTRY`, by its ID, the beginning of it, or its number")
	p.scopeFlags(c, &o)
	p.takingFlags(c, &o)
	completeWith(c, "to", p.runEntries)
	return c
}

func (p *program) scopeFlags(c *cobra.Command, o *taking) {
	f := c.Flags()
	f.BoolVar(&o.files, "files", false, "only the files")
	f.BoolVar(&o.conversation, "conversation", false, "only the conversation")
	f.BoolVar(&o.both, "both", false, "files and conversation, as without any of these flags")
}

func (p *program) redo() *cobra.Command {
	o := taking{isRedo: true}
	c := &cobra.Command{
		Use:   "redo [SESSION]",
		Short: "Take back the last undo",
		Long: `Take back the last undo of a session that was not taken back yet. Without SESSION it is the one of this directory that was
changed last. When the files are no longer what the undo left, nothing is done.`,
		Args: maxOneSession,
		RunE: func(c *cobra.Command, args []string) error { return p.takeBack(c, args, o) },
	}
	p.takingFlags(c, &o)
	return c
}

func (p *program) takingFlags(c *cobra.Command, o *taking) {
	p.applyFlags(c, o)
	c.Flags().StringVarP(&o.dir, "dir", "C", "", "the last session of another `directory`")
	completeWith(c, "dir", directories)
}

func (p *program) applyFlags(c *cobra.Command, o *taking) {
	f := c.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would happen, and do nothing")
	f.BoolVar(&o.force, "force", false, "also overwrite what somebody else has changed; what cannot come back stays as it is")
	f.BoolVar(&o.asJSON, "json", false, "say it as JSON")
	p.completeSessions(c, "")
}

func maxOneSession(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef(c, "%s takes one session, got %q too", c.CommandPath(), args[1])
	}
	return nil
}

// runEntries lets the shell complete entries at which runs began.
func (p *program) runEntries(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	_ = p.withStore(nil, func(store session.Store) error { // a shell has no place for an error
		s, err := sessionOf(c.Context(), store, args, "")
		if err != nil {
			return err
		}
		h, err := undo.Read(c.Context(), store, s.ID)
		if err != nil {
			return err
		}
		for _, r := range h.Runs() {
			out = append(out, cobra.CompletionWithDesc(string(r.Entry), "before: "+oneLine(r.Title)))
		}
		return nil
	})
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// sessionOf is the session that was named, or the last one of a directory.
func sessionOf(ctx context.Context, store session.Store, args []string, dir string) (session.Summary, error) {
	if len(args) > 0 {
		return resolve(ctx, store, args[0])
	}
	dir, err := directory(dir)
	if err != nil {
		return session.Summary{}, err
	}
	for s, err := range store.List(ctx, session.Query{Dir: dir, Limit: 1}) {
		return s, err
	}
	return session.Summary{}, fmt.Errorf("there is no session of %s; name one, or see 'tenon sessions list --all'", dir)
}

var errNoSessions = errors.New("there are no sessions yet")

func (p *program) takeBack(c *cobra.Command, args []string, o taking) error {
	ctx := c.Context()
	return p.withApp(errNoSessions, func(a *app.App) (err error) {
		store := a.Store
		s, err := sessionOf(ctx, store, args, o.dir)
		if err != nil {
			return err
		}
		contents, err := a.Checkpoints(s.ID)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, contents.Close()) }()
		if err := a.Recover(ctx, s.ID, contents); err != nil {
			return err
		}
		var writer session.Writer
		if !o.dryRun {
			// Before the history is read: nobody else may add to it then.
			if writer, err = store.Open(ctx, s.ID, session.Lease{Owner: fmt.Sprintf("%s, pid %d", c.CommandPath(), os.Getpid())}); err != nil {
				if locked, ok := errors.AsType[*session.LockedError](err); ok {
					return fmt.Errorf("%w; wait for it, or end it", locked)
				}
				return err
			}
			defer func() { err = errors.Join(err, writer.Close()) }()
		}
		plan, err := o.plan(ctx, store, s.ID)
		if err != nil {
			return err
		}
		if !o.dryRun {
			if err := plan.Apply(ctx, writer, contents, o.force); err != nil {
				if _, ok := errors.AsType[*undo.ProblemsError](err); ok {
					return errors.Join(p.showPlan(plan, o, false), p.showProblems(plan, contents), fmt.Errorf("%w; see --dry-run and --force", err))
				}
				return err
			}
		}
		return p.showPlan(plan, o, !o.dryRun)
	})
}

func (o taking) plan(ctx context.Context, store session.Store, id session.SessionID) (*undo.Plan, error) {
	h, err := undo.Read(ctx, store, id)
	if err != nil {
		return nil, err
	}
	if o.isRedo {
		return h.Redo()
	}
	scope := undo.Both
	switch {
	case o.files:
		scope = undo.Files
	case o.conversation:
		scope = undo.Conversation
	}
	if o.turns > 0 {
		return h.Back(o.turns, scope)
	}
	return h.Undo(o.to, scope)
}

// showProblems shows what keeps a plan from being carried out, and what would be lost by force.
func (p *program) showProblems(plan *undo.Plan, contents *checkpoint.Store) error {
	const most, lines = 10, 30
	for i, f := range plan.Problems() {
		if i == most {
			fmt.Fprintf(p.env.Stderr, "… and %s\n", count(len(plan.Problems())-most, "more file"))
			break
		}
		if f.Lost || f.Now == nil || !fs.FileMode(f.Now.Mode).IsRegular() {
			continue
		}
		d := plan.Difference(f, contents)
		if d.Diff != "" {
			fmt.Fprintf(p.env.Stderr, "What --force would do to it:\n%s", harmlessLines(firstLines(d.Diff, lines)))
		}
	}
	return nil
}
