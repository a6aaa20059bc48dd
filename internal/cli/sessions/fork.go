package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/cli/undo"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/transcript"
)

// forking is the flags of sessions fork.
type forking struct {
	at, title string
	turn      int
}

func newFork(env *command.Env) *cobra.Command {
	var o forking
	c := &cobra.Command{
		Use:   "fork ID",
		Short: "Create a session that continues another one",
		Long: `Create a session that continues another one, from its current state or from an earlier
entry or turn. Tenon copies nothing, and the other session does not change. The ID of
the new session goes to standard output: tenon run --session ID "..." continues it.

Both work in the same directory: a fork copies the conversation, not the files.`,
	}
	f := c.Flags()
	f.StringVar(&o.at, "at", "", "fork at this `ENTRY`: ID, ID prefix or number")
	f.IntVar(&o.turn, "turn", 0, "fork after this `TURN` of the conversation, from 1")
	f.StringVar(&o.title, "title", "", "`title` of the new session; default: from the other one")
	command.CompleteWith(c, "at", undo.RunEntries(env))
	command.Checked(c, func([]string) error { return o.check(c) })
	return env.OnSession(c, "print one JSON object", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (command.Result, error) {
		return forkSession(env, ctx, a.Store, s, o)
	})
}

func (o *forking) check(c *cobra.Command) (err error) {
	given := c.Flags().Changed
	switch {
	case given("at") && given("turn"):
		return command.Usagef(c, "--at and --turn exclude each other")
	case given("turn") && o.turn < 1:
		return command.Usagef(c, "--turn must be the number of a turn, from 1")
	case given("at") && o.at == "":
		return command.Usagef(c, "--at names no entry")
	case given("title"):
		o.title, err = titleOf(c, o.title)
	}
	return err
}

func forkSession(env *command.Env, ctx context.Context, store index.Store, s index.Summary, o forking) (r command.Result, err error) {
	from, err := o.point(ctx, store, s.ID)
	if err != nil {
		return r, err
	}
	id, err := store.Create(ctx, session.Created{Dir: s.Dir, Version: command.BuildOf(env.Version).Version, From: from, Fork: true})
	if err != nil {
		return r, err
	}
	title := cmp.Or(o.title, strings.TrimSuffix("fork of "+s.Title, " of "))
	if _, err := store.Annotate(ctx, id, session.Title{Title: title}); err != nil {
		return r, errors.Join(err, store.Purge(ctx, id)) // it is still empty
	}
	return command.Result{
		JSON: map[string]any{"session": id, "from": from, "title": title}, Text: string(id) + "\n",
		Note: fmt.Sprintf("%s\ncontinue it with: tenon run --session %s \"...\"", term.Harmless(title), id),
	}, nil
}

func (o forking) point(ctx context.Context, store index.Store, id session.SessionID) (session.Origin, error) {
	from := session.Origin{Session: id}
	switch {
	case o.at != "":
		e, err := entryOf(ctx, store, id, o.at)
		if err != nil {
			return from, err
		}
		if !e.OnBranch() {
			return from, fmt.Errorf("entry %s is not part of the conversation (%s); name another one", e.ID, e.Body.Kind())
		}
		from.Entry = e.ID
	case o.turn > 0:
		turns, err := turnsOf(ctx, store, id)
		if err != nil {
			return from, err
		}
		if o.turn > len(turns) {
			return from, fmt.Errorf("the conversation of session %s has %s, and no turn %d", id, transcript.Count(len(turns), "turn"), o.turn)
		}
		from.Entry = turns[o.turn-1]
	default:
		tip, err := view.Tip(ctx, view.Stored(store, id, ""))
		if err != nil {
			return from, err
		}
		from.Entry = tip.ID
	}
	return from, nil
}
