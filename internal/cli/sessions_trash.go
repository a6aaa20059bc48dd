package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

// deleting is the flags of sessions delete.
type deleting struct{ forever, yes, asJSON bool }

func (p *program) sessionsDelete() *cobra.Command {
	var o deleting
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Move sessions to the trash, or delete them for ever",
		Long: `Move sessions to the trash: they are in no list, and nobody can go on with them, until 'tenon sessions restore' brings them back.
With --forever they are gone, also from the trash, with what was kept of files beside them; what forks of them have inherited stays.`,
		Args: someSessions,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withApp(noSession(args[0]), func(a *app.App) error {
				gone := false
				defer func() {
					if gone {
						p.compact(c.Context(), a)
					}
				}()
				for _, prefix := range args {
					if err := p.delete(c, a, o, prefix); err != nil {
						return err
					}
					gone = o.forever
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&o.forever, "forever", false, "not to the trash")
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.asJSON, "json", false, "show what was deleted as JSON, one object to a line")
	p.completeSessions(c, "")
	return c
}

func (p *program) delete(c *cobra.Command, a *app.App, o deleting, prefix string) error {
	ctx := c.Context()
	s, err := resolve(ctx, a.Store, prefix)
	if o.forever && errors.Is(err, session.ErrNotFound) {
		s, err = resolveIn(ctx, a.Store, session.Query{Prefix: prefix, Deleted: true})
	}
	if err != nil {
		return err
	}
	if o.forever && !o.yes {
		question := fmt.Sprintf("Delete session %s (%s, %s) for ever?", s.ID, harmless(s.Title), count(s.Messages, "message"))
		if err := p.confirm(c, question); err != nil {
			return fmt.Errorf("session %s: %w", s.ID, err)
		}
	}
	if err := remove(ctx, a, s.ID, o.forever); err != nil {
		return err
	}
	if o.asJSON {
		return writeJSON(p.env.Stdout, map[string]any{"deleted": s.ID, "forever": o.forever})
	}
	if !o.forever {
		fmt.Fprintf(p.env.Stderr, "bring it back with: tenon sessions restore %s\n", s.ID)
	}
	_, err = fmt.Fprintf(p.env.Stdout, "deleted %s  %s\n", s.ID, p.shown(s.Title))
	return err
}

func someSessions(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(c, "the session's ID is missing")
	}
	return nil
}

// remove moves a session to the trash, or removes it with all that belongs to it.
func remove(ctx context.Context, a *app.App, id session.SessionID, forever bool) error {
	if !forever {
		return locked(a.Store.Delete(ctx, id))
	}
	return locked(a.Purge(ctx, id))
}

// compacting is told when files take long to become smaller.
const compacting = "the space is given back to the system; Ctrl-C stops it, and the next time it goes on from there"

// compact gives the space of what was purged back. What was purged is gone all the same when that fails.
func (p *program) compact(ctx context.Context, a *app.App) {
	var freed int64
	err := tellWhenSlow(p.env.Stderr, compacting, func() (err error) {
		freed, err = a.Compact(ctx)
		return err
	})
	if err != nil {
		fmt.Fprintf(p.env.Stderr, "not all of the space was given back: %v\n", err)
	}
	if freed > 0 {
		fmt.Fprintf(p.env.Stderr, "what is stored is smaller by %s\n", bytesWords(freed))
	}
}

// locked says what can be done about a session that somebody else writes.
func locked(err error) error {
	if l, ok := errors.AsType[*session.LockedError](err); ok {
		return fmt.Errorf("%w; wait for it, or end it", l)
	}
	return err
}

// confirm asks on the terminal.
func (p *program) confirm(c *cobra.Command, question string) error {
	if width(p.env.Stdin) == nil {
		return usagef(c, "this needs --yes: there is no terminal to ask on")
	}
	fmt.Fprint(p.env.Stderr, question+" [y/N] ")
	line, err := bufio.NewReader(p.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was deleted")
}

func (p *program) sessionsRestore() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "restore ID...",
		Short: "Bring sessions back from the trash",
		Long:  "Bring sessions back from the trash. 'tenon sessions list --deleted' shows what is there.",
		Args:  someSessions,
		RunE: func(c *cobra.Command, args []string) error {
			for _, prefix := range args {
				err := p.withStore(noSession(prefix), func(store session.Store) error {
					s, err := resolveIn(c.Context(), store, session.Query{Prefix: prefix, Deleted: true})
					if err != nil {
						return err
					}
					if err := store.Restore(c.Context(), s.ID); err != nil {
						return err
					}
					if asJSON {
						return writeJSON(p.env.Stdout, map[string]any{"restored": s.ID})
					}
					_, err = fmt.Fprintf(p.env.Stdout, "restored %s  %s\n", s.ID, p.shown(s.Title))
					return err
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "show what was restored as JSON, one object to a line")
	c.ValidArgsFunction = p.sessionIDs(true)
	return c
}
