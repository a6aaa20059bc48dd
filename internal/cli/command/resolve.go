package command

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// WithApp runs f with the program's data. If there is none yet, it returns none.
func (env *Env) WithApp(none error, f func(*app.App) error) (err error) {
	a, err := app.OpenExisting(env.Getenv, BuildOf(env.Version).Version)
	if errors.Is(err, fs.ErrNotExist) {
		return none
	}
	if err != nil {
		return err
	}
	a.OnWait(env.Waiting)
	defer func() {
		if e := a.Close(); err == nil {
			err = e
		}
	}()
	return f(a)
}

// Waiting reports which process holds the lock of the store that a write waits for.
func (env *Env) Waiting(e *session.BusyError) {
	_, _ = fmt.Fprintf(env.Stderr, "tenon: waiting: %v\n", e) // no place is left for an error
}

// NoSession returns the error about a session if no session exists.
func NoSession(prefix string) error { return &conversation.NotFoundError{ID: prefix} }

// WithStore runs f with the store. If there is none yet, it returns none.
func (env *Env) WithStore(none error, f func(index.Store) error) error {
	return env.WithApp(none, func(a *app.App) error { return f(a.Store) })
}

// WithSession runs f with the session with this ID or unique ID prefix.
func (env *Env) WithSession(c *cobra.Command, prefix string, f func(index.Store, index.Summary) error) error {
	return env.WithAppAndSession(c, prefix, func(a *app.App, s index.Summary) error { return f(a.Store, s) })
}

// WithAppAndSession runs f with the program's data and the session with this ID or unique ID prefix.
func (env *Env) WithAppAndSession(c *cobra.Command, prefix string, f func(*app.App, index.Summary) error) error {
	return env.WithApp(NoSession(prefix), func(a *app.App) error {
		s, err := conversation.Resolve(c.Context(), a.Store, prefix)
		if err != nil {
			return err
		}
		return f(a, s)
	})
}

// CompleteSessions completes session IDs: as the argument of c, or as the value of a flag.
func (env *Env) CompleteSessions(c *cobra.Command, flag string) {
	if flag == "" {
		c.ValidArgsFunction = env.SessionIDs(false)
		return
	}
	complete := env.SessionIDs(false)
	CompleteWith(c, flag, func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return complete(c, nil, prefix)
	})
}

// SessionIDs completes the first argument: the ID of a session, or of one in the trash.
func (env *Env) SessionIDs(deleted bool) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const enough = 20
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		_ = env.WithStore(nil, func(store index.Store) error { // a shell shows no errors
			for s, err := range store.List(c.Context(), index.Query{Prefix: prefix, Deleted: deleted, Limit: enough}) {
				if err != nil {
					return err
				}
				ids = append(ids, cobra.CompletionWithDesc(string(s.ID), term.OneLine(s.Title)))
			}
			return nil
		})
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// Locked adds a hint to a [*session.LockedError].
func Locked(err error) error {
	if l, ok := errors.AsType[*session.LockedError](err); ok {
		return fmt.Errorf("%w; wait for it, stop it, or use --take-over", l)
	}
	return err
}

// ErrNoSessions is returned by commands that need a store if there is none yet.
var ErrNoSessions = Codef("session.none", "there are no sessions yet")
