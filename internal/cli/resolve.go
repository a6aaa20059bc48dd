package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

// maxCandidates is how many sessions are named when a prefix means several.
const maxCandidates = 6

// resolve returns the session whose ID is prefix, or begins so. Those in the trash are not looked at.
func resolve(ctx context.Context, store session.Store, prefix string) (session.Summary, error) {
	s, err := resolveIn(ctx, store, session.Query{Prefix: prefix})
	if !errors.Is(err, session.ErrNotFound) {
		return s, err
	}
	if trashed, e := resolveIn(ctx, store, session.Query{Prefix: prefix, Deleted: true}); e == nil {
		return s, fmt.Errorf("session %q: %w: it is in the trash; bring it back with 'tenon sessions restore %s'",
			prefix, session.ErrNotFound, trashed.ID)
	}
	return s, err
}

// resolveIn returns the session of a query whose ID is its prefix, or begins so.
func resolveIn(ctx context.Context, store session.Store, q session.Query) (session.Summary, error) {
	prefix := strings.ToLower(strings.TrimSpace(q.Prefix))
	if prefix == "" {
		return session.Summary{}, errors.New("the session's ID is empty")
	}
	list := "tenon sessions list --all"
	if q.Deleted {
		list += " --deleted"
	}
	q.Prefix, q.Limit = prefix, maxCandidates+1
	var found []session.Summary
	for s, err := range store.List(ctx, q) {
		if err != nil {
			return session.Summary{}, err
		}
		if string(s.ID) == prefix {
			return s, nil
		}
		found = append(found, s)
	}
	switch len(found) {
	case 0:
		return session.Summary{}, fmt.Errorf("session %q: %w; see '%s'", prefix, session.ErrNotFound, list)
	case 1:
		return found[0], nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q is the beginning of several sessions; write more of one:", prefix)
	for i, s := range found {
		if i == maxCandidates {
			b.WriteString("\n  …")
			break
		}
		fmt.Fprintf(&b, "\n  %s  %s", s.ID, oneLine(s.Title))
	}
	return session.Summary{}, errors.New(b.String())
}

// withApp runs f with the program's data. none is what it returns when there never was any.
func (p *program) withApp(none error, f func(*app.App) error) (err error) {
	a, err := app.OpenExisting(p.env.Getenv, buildOf(p.env.Version).Version)
	if errors.Is(err, fs.ErrNotExist) {
		return none
	}
	if err != nil {
		return err
	}
	defer func() {
		if e := a.Close(); err == nil {
			err = e
		}
	}()
	return f(a)
}

// noSession is what is said of a session when there never was one.
func noSession(prefix string) error {
	return fmt.Errorf("session %q: %w; there are no sessions yet", prefix, session.ErrNotFound)
}

// withStore runs f with the sessions there are. none is what it returns when there never was one.
func (p *program) withStore(none error, f func(session.Store) error) error {
	return p.withApp(none, func(a *app.App) error { return f(a.Store) })
}

// withSession runs f with the session that the first argument names.
func (p *program) withSession(c *cobra.Command, prefix string, f func(session.Store, session.Summary) error) error {
	return p.withAppAndSession(c, prefix, func(a *app.App, s session.Summary) error { return f(a.Store, s) })
}

func (p *program) withAppAndSession(c *cobra.Command, prefix string, f func(*app.App, session.Summary) error) error {
	return p.withApp(noSession(prefix), func(a *app.App) error {
		s, err := resolve(c.Context(), a.Store, prefix)
		if err != nil {
			return err
		}
		return f(a, s)
	})
}

// completeSessions lets the shell complete session IDs: as the argument of c, or as the value of a flag.
func (p *program) completeSessions(c *cobra.Command, flag string) {
	if flag == "" {
		c.ValidArgsFunction = p.sessionIDs(false)
		return
	}
	complete := p.sessionIDs(false)
	completeWith(c, flag, func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return complete(c, nil, prefix)
	})
}

// sessionIDs completes the first argument: the ID of a session, or of one in the trash.
func (p *program) sessionIDs(deleted bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const enough = 20
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		_ = p.withStore(nil, func(store session.Store) error { // a shell has no place for an error
			for s, err := range store.List(c.Context(), session.Query{Prefix: prefix, Deleted: deleted, Limit: enough}) {
				if err != nil {
					return err
				}
				ids = append(ids, cobra.CompletionWithDesc(string(s.ID), oneLine(s.Title)))
			}
			return nil
		})
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}
