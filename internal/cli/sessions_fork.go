package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

// forking is the flags of sessions fork.
type forking struct {
	at, title string
	turn      int
	asJSON    bool
}

func (p *program) sessionsFork() *cobra.Command {
	var o forking
	c := &cobra.Command{
		Use:   "fork ID",
		Short: "Begin a session that goes on from another one",
		Long: `Begin a new session that goes on from another one: from where it stands, or from an earlier entry or turn. Nothing is copied, and
the other session stays as it is. The ID of the new one goes to standard output: tenon run --session ID "..." goes on with it.

Both work in the same directory: a fork is of the conversation, not of the files.`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c); err != nil {
				return err
			}
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				return p.fork(c.Context(), store, s, o)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.at, "at", "", "go on from this `ENTRY`, by its ID, the beginning of it, or its number")
	f.IntVar(&o.turn, "turn", 0, "go on from the end of this `TURN` of the conversation, from 1")
	f.StringVar(&o.title, "title", "", "the `title` of the new session; default that of the other one")
	f.BoolVar(&o.asJSON, "json", false, "as one JSON object")
	p.completeSessions(c, "")
	completeWith(c, "at", p.runEntries)
	return c
}

// check says what is wrong with the command line.
func (o *forking) check(c *cobra.Command) (err error) {
	given := c.Flags().Changed
	switch {
	case given("at") && given("turn"):
		return usagef(c, "--at and --turn exclude each other")
	case given("turn") && o.turn < 1:
		return usagef(c, "--turn must be the number of a turn, from 1")
	case given("at") && o.at == "":
		return usagef(c, "--at names no entry")
	case given("title"):
		o.title, err = titleOf(c, o.title)
	}
	return err
}

func (p *program) fork(ctx context.Context, store session.Store, s session.Summary, o forking) error {
	from, err := o.point(ctx, store, s.ID)
	if err != nil {
		return err
	}
	id, err := store.Create(ctx, session.Created{Dir: s.Dir, Version: buildOf(p.env.Version).Version, From: from, Fork: true})
	if err != nil {
		return err
	}
	title := o.title
	if title == "" {
		title = forkTitle(s.Title)
	}
	if _, err := store.Annotate(ctx, id, session.Title{Title: title}); err != nil {
		return errors.Join(err, store.Purge(ctx, id)) // nothing has happened in it
	}
	if o.asJSON {
		return writeJSON(p.env.Stdout, map[string]any{"session": id, "from": from, "title": title})
	}
	fmt.Fprintf(p.env.Stderr, "%s\ngo on with: tenon run --session %s \"...\"\n", harmless(title), id)
	_, err = fmt.Fprintln(p.env.Stdout, id)
	return err
}

// point is where a fork goes on from.
func (o forking) point(ctx context.Context, store session.Store, id session.SessionID) (session.Origin, error) {
	from := session.Origin{Session: id}
	switch {
	case o.at != "":
		e, err := entryOf(ctx, store, id, o.at)
		if err != nil {
			return from, err
		}
		if !session.OnBranch(e.Body) {
			return from, fmt.Errorf("entry %s is no part of the conversation (%s); name another one", e.ID, e.Body.Kind())
		}
		from.Entry = e.ID
	case o.turn > 0:
		turns, err := turnsOf(ctx, store, id)
		if err != nil {
			return from, err
		}
		if o.turn > len(turns) {
			return from, fmt.Errorf("the conversation of session %s has %s, and no turn %d", id, count(len(turns), "turn"), o.turn)
		}
		from.Entry = turns[o.turn-1]
	default:
		tip, err := session.Tip(ctx, session.Stored(store, id, ""))
		if err != nil {
			return from, err
		}
		from.Entry = tip.ID
	}
	return from, nil
}

// forkTitle names a fork that nobody named.
func forkTitle(title string) string {
	if title == "" {
		return "fork"
	}
	return "fork of " + title
}
