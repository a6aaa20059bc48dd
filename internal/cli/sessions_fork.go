package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsFork() *cobra.Command {
	var (
		at, title string
		number    int
		asJSON    bool
	)
	c := &cobra.Command{
		Use:   "fork ID",
		Short: "Begin a session that goes on from another one",
		Long: `Begin a new session that goes on from another one: from where it stands, or from an earlier entry or turn. Nothing is copied, and
the other session stays as it is. The ID of the new one goes to standard output: tenon run --session ID "..." goes on with it.

Both work in the same directory: a fork is of the conversation, not of the files.`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case at != "" && c.Flags().Changed("turn"):
				return usagef(c, "--at and --turn exclude each other")
			case c.Flags().Changed("turn") && number < 1:
				return usagef(c, "--turn must be the number of a turn, from 1")
			case c.Flags().Changed("at") && at == "":
				return usagef(c, "--at names no entry")
			}
			if c.Flags().Changed("title") {
				var err error
				if title, err = titleOf(c, title); err != nil {
					return err
				}
			}
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				ctx := c.Context()
				from, err := forkPoint(ctx, store, s.ID, at, number)
				if err != nil {
					return err
				}
				id, err := store.Create(ctx, session.Created{Dir: s.Dir, Version: buildOf(p.env.Version).Version, From: from, Fork: true})
				if err != nil {
					return err
				}
				if title == "" {
					title = forkTitle(s.Title)
				}
				if _, err := store.Annotate(ctx, id, session.Title{Title: title}); err != nil {
					return errors.Join(err, store.Purge(ctx, id)) // nothing has happened in it
				}
				if asJSON {
					return writeJSON(p.env.Stdout, map[string]any{"session": id, "from": from, "title": title})
				}
				fmt.Fprintf(p.env.Stderr, "%s\ngo on with: tenon run --session %s \"...\"\n", harmless(title), id)
				_, err = fmt.Fprintln(p.env.Stdout, id)
				return err
			})
		},
	}
	f := c.Flags()
	f.StringVar(&at, "at", "", "go on from this `ENTRY`, by its ID, the beginning of it, or its number")
	f.IntVar(&number, "turn", 0, "go on from the end of this `TURN` of the conversation, from 1")
	f.StringVar(&title, "title", "", "the `title` of the new session; default that of the other one")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	p.completeSessions(c, "")
	completeWith(c, "at", p.runEntries)
	return c
}

// forkPoint is where a fork goes on from.
func forkPoint(ctx context.Context, store session.Store, id session.SessionID, at string, number int) (session.Origin, error) {
	from := session.Origin{Session: id}
	switch {
	case at != "":
		e, err := entryOf(ctx, store, id, at)
		if err != nil {
			return from, err
		}
		if !session.OnBranch(e.Body) {
			return from, fmt.Errorf("entry %s is no part of the conversation (%s); name another one", e.ID, e.Body.Kind())
		}
		from.Entry = e.ID
	case number > 0:
		turns, err := turnsOf(ctx, store, id)
		if err != nil {
			return from, err
		}
		if number > len(turns) {
			return from, fmt.Errorf("the conversation of session %s has %s, and no turn %d", id, count(len(turns), "turn"), number)
		}
		from.Entry = turns[number-1].last
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
