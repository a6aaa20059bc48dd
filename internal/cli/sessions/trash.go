package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

type deleting struct{ forever, yes, asJSON bool }

func newDelete(env *command.Env) *cobra.Command {
	var o deleting
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Move sessions to the trash, or delete them permanently",
		Long: `Move sessions to the trash. They are in no list and nothing continues them, until
'tenon sessions restore'. With --forever, delete them permanently, also from the trash,
with the file contents that Tenon saved for them. Forks keep the part that they
inherited.`,
		Args: command.SomeArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.WithApp(command.NoSession(args[0]), func(a *app.App) error {
				gone := false
				defer func() {
					if gone {
						compactStore(env, c.Context(), a)
					}
				}()
				for _, prefix := range args {
					if err := deleteSession(env, c, a, o, prefix); err != nil {
						return err
					}
					gone = o.forever
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&o.forever, "forever", false, "delete permanently")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	c.Flags().BoolVar(&o.asJSON, "json", false, "print deleted sessions as JSON, one object per line")
	env.CompleteSessions(c, "")
	return c
}

func deleteSession(env *command.Env, c *cobra.Command, a *app.App, o deleting, prefix string) error {
	ctx := c.Context()
	s, err := conversation.Resolve(ctx, a.Store, prefix)
	if o.forever && errors.Is(err, session.ErrNotFound) {
		s, err = conversation.ResolveIn(ctx, a.Store, prefix, index.Query{Deleted: true})
	}
	if err != nil {
		return err
	}
	r := command.Result{
		JSON: map[string]any{"deleted": s.ID, "forever": o.forever}, Text: fmt.Sprintf("deleted %s  %s\n", s.ID, env.Shown(s.Title)),
	}
	if !o.forever {
		r.Note = fmt.Sprintf("undo with: tenon sessions restore %s", s.ID)
	} else if !o.yes {
		question := fmt.Sprintf("Delete session %s (%s, %s) permanently?", s.ID, term.Harmless(s.Title), transcript.Count(s.Messages, "message"))
		if err := env.Confirm(c, question); err != nil {
			return fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	if err := remove(ctx, a, s.ID, o.forever); err != nil {
		return err
	}
	return env.Print(o.asJSON, r)
}

func remove(ctx context.Context, a *app.App, id session.SessionID, forever bool) error {
	if !forever {
		return command.Locked(a.Store.Delete(ctx, id))
	}
	return command.Locked(a.Purge(ctx, id))
}

// compacting is the note if freeing disk space takes long.
const compacting = "freeing disk space; Ctrl-C stops, and the next time continues"

// compactStore frees the disk space of purged sessions. If that fails, they are gone anyway.
func compactStore(env *command.Env, ctx context.Context, a *app.App) {
	var freed int64
	err := command.TellWhenSlow(env.Stderr, compacting, func() (err error) {
		freed, err = a.Compact(ctx)
		return err
	})
	if err != nil {
		env.Tell("cannot free all of the disk space: %v", err)
	}
	if freed > 0 {
		env.Tell("freed %s of disk space", transcript.Bytes(freed))
	}
}

func newRestore(env *command.Env) *cobra.Command {
	var asJSON, yes bool
	var from string
	c := &cobra.Command{
		Use:   "restore {ID... | --from FILE}",
		Short: "Restore sessions from the trash or from a backup",
		Long: `Restore sessions from the trash. 'tenon sessions list --deleted' lists them.
With --from, replace all sessions by those of a backup. Tenon refuses while another process has a session open. It renames a damaged
database and keeps it. Saved file contents and artifacts stay as they are.`,
		Args: func(c *cobra.Command, args []string) error {
			if from == "" {
				return command.SomeArgs("the session's ID")(c, args)
			}
			return command.NoArgs(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if from != "" {
				return restoreBackup(env, c, from, yes, asJSON)
			}
			for _, prefix := range args {
				err := env.WithStore(command.NoSession(prefix), func(store index.Store) error {
					s, err := conversation.ResolveIn(c.Context(), store, prefix, index.Query{Deleted: true})
					if err != nil {
						return err
					}
					if err := store.Restore(c.Context(), s.ID); err != nil {
						return err
					}
					return env.Print(asJSON, command.Result{
						JSON: map[string]any{"restored": s.ID}, Text: fmt.Sprintf("restored %s  %s\n", s.ID, env.Shown(s.Title)),
					})
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print restored sessions as JSON, one object per line")
	c.Flags().StringVar(&from, "from", "", "backup `FILE` to restore all sessions from")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before replacing all sessions")
	c.ValidArgsFunction = env.SessionIDs(true)
	return c
}
