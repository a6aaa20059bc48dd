package sessions

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

func newList(env *command.Env) *cobra.Command {
	var (
		from whereabouts
		q    index.Query
	)
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the sessions of this directory, most recent first",
	}
	f := c.Flags()
	from.flags(c)
	f.StringVar(&q.Tag, "tag", "", "only sessions with this `TAG`")
	f.StringVar(&q.Text, "search", "", "only sessions with this `TEXT` in the title")
	f.Var(command.AgoTime(&q.After), "since", "changed since: 12h, 7d, 4w or 2026-01-31")
	f.BoolVar(&q.Deleted, "deleted", false, "sessions in the trash")
	f.IntVarP(&q.Limit, "limit", "n", 20, "list at most `N` sessions; 0 lists all")
	command.CompleteWith(c, "tag", completeTags(env))
	return env.Printing(c, "print JSON, one object per line", func(ctx context.Context, _ []string) (r command.Result, err error) {
		if q.Limit < 0 {
			return r, command.Usagef(c, "--limit must not be negative; 0 lists all")
		}
		if q.Dir, err = from.directory(c); err != nil {
			return r, err
		}
		var found []index.Summary
		err = env.WithStore(nil, func(store index.Store) (err error) {
			found, err = collect(store.List(ctx, q))
			return err
		})
		r.JSON = command.Lines(found)
		if len(found) == 0 {
			r.Note = none("no sessions", q)
			return r, err
		}
		if len(found) == q.Limit {
			r.Note = fmt.Sprintf("the last %d; more with --limit", q.Limit)
		}
		r.Text = sessionTable(env, found, q)
		return r, err
	})
}

// whereabouts is the flags that choose the directory of sessions.
type whereabouts struct {
	all bool
	dir string
}

func (w *whereabouts) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&w.all, "all", "a", false, "include every directory")
	command.DirFlag(c, &w.dir, "use this `directory`")
}

// directory returns the directory of the sessions; empty for all directories.
func (w whereabouts) directory(c *cobra.Command) (string, error) {
	switch {
	case w.all && w.dir != "":
		return "", command.Usagef(c, "--all and --dir exclude each other")
	case w.all:
		return "", nil
	}
	return command.PlaceOf(w.dir)
}

func collect[T any](all iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for one, err := range all {
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// none says where Tenon found nothing.
func none(what string, q index.Query) string {
	if q.Deleted {
		what += " in the trash"
	}
	if q.Dir != "" {
		what += " of " + q.Dir + " (see --all)"
	}
	return term.Harmless(what)
}

func sessionTable(env *command.Env, found []index.Summary, q index.Query) string {
	heads := []string{"ID", "CHANGED", ">MSGS", "TITLE"}
	if q.Deleted {
		heads[1] = "DELETED"
	}
	var rows [][]string
	for _, s := range found {
		at := s.Updated
		if q.Deleted {
			at = s.Deleted
		}
		rows = append(rows, []string{string(s.ID), transcript.Age(time.Since(at)), strconv.Itoa(s.Messages), listed(s, q.Dir == "")})
	}
	return env.Table(heads, rows)
}

// listed returns the last column of a session: a mark if a process writes it, its title, its tags, and its directory.
func listed(s index.Summary, place bool) string {
	text := cmp.Or(term.OneLine(s.Title), "(empty)")
	if s.Owner != "" {
		text = "● " + text
	}
	if len(s.Tags) > 0 {
		text += "  " + tagWords(s.Tags)
	}
	if place {
		text += "  " + term.OneLine(s.Dir)
	}
	return text
}
