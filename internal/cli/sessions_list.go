package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsList() *cobra.Command {
	var (
		from   whereabouts
		q      session.Query
		asJSON bool
	)
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the sessions of this directory, the last changed first",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if q.Limit < 0 {
				return usagef(c, "--limit must not be negative; 0 lists all")
			}
			if q.Dir, err = from.directory(c); err != nil {
				return err
			}
			var found []session.Summary
			err = p.withStore(nil, func(store session.Store) (err error) {
				found, err = collect(store.List(c.Context(), q))
				return err
			})
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeLines(p.env.Stdout, found)
			case len(found) == 0:
				return p.showNone("no sessions", q)
			}
			return p.table(found, q)
		},
	}
	f := c.Flags()
	from.flags(c)
	f.StringVar(&q.Tag, "tag", "", "with this `TAG`")
	f.StringVar(&q.Text, "search", "", "with this `TEXT` in the title; 'tenon sessions search' looks into all that was said")
	f.Var(agoTime(&q.After), "since", "changed since then: 12h, 7d, 4w or 2026-01-31")
	f.BoolVar(&q.Deleted, "deleted", false, "those in the trash")
	f.IntVarP(&q.Limit, "limit", "n", 20, "at most `N`; 0 lists all")
	f.BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	completeWith(c, "tag", p.completeTags)
	return c
}

// whereabouts is the flags that say of which directory sessions are.
type whereabouts struct {
	all bool
	dir string
}

func (w *whereabouts) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&w.all, "all", "a", false, "of every directory")
	c.Flags().StringVarP(&w.dir, "dir", "C", "", "of another `directory`")
	completeWith(c, "dir", directories)
}

// directory is the one whose sessions are meant; all of them: "".
func (w whereabouts) directory(c *cobra.Command) (string, error) {
	switch {
	case w.all && w.dir != "":
		return "", usagef(c, "--all and --dir exclude each other")
	case w.all:
		return "", nil
	}
	return placeOf(w.dir)
}

// placeOf is a directory as sessions have it. One that is gone by now still has its sessions.
func placeOf(name string) (string, error) {
	dir, err := directory(name)
	if name == "" || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if above, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		return filepath.Join(above, filepath.Base(abs)), nil
	}
	return abs, nil
}

// collect is all that a sequence has.
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

// showNone says where no session was found.
func (p *program) showNone(what string, q session.Query) error {
	if q.Deleted {
		what += " in the trash"
	}
	if q.Dir != "" {
		what += " of " + q.Dir + " (see --all)"
	}
	_, err := fmt.Fprintln(p.env.Stderr, harmless(what))
	return err
}

// table lists sessions in 80 columns, or in as many as the terminal has.
func (p *program) table(found []session.Summary, q session.Query) error {
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	var b strings.Builder
	const idWidth, ageWidth, messagesWidth = 12, 8, 4
	changed := "CHANGED"
	if q.Deleted {
		changed = "DELETED"
	}
	titleWidth := p.columns() - idWidth - ageWidth - messagesWidth - 3*2
	fmt.Fprintf(&b, "%s\n", paint.bold(fmt.Sprintf("%-*s  %-*s  %*s  %s", idWidth, "ID", ageWidth, changed, messagesWidth, "MSGS", "TITLE")))
	for _, s := range found {
		at := s.Updated
		if q.Deleted {
			at = s.Deleted
		}
		fmt.Fprintf(&b, "%-*s  %-*s  %*d  %s\n", idWidth, s.ID, ageWidth, age(time.Since(at)), messagesWidth, s.Messages,
			fit(listed(s, q.Dir == ""), titleWidth))
	}
	if _, err := p.env.Stdout.Write([]byte(b.String())); err != nil {
		return err
	}
	if len(found) == q.Limit {
		fmt.Fprintf(p.env.Stderr, "the last %d; more with --limit\n", q.Limit)
	}
	return nil
}

// listed is what a list says of a session beside its numbers: whether somebody writes it, title, tags, and where it is.
func listed(s session.Summary, place bool) string {
	text := oneLine(s.Title)
	if text == "" {
		text = "(empty)"
	}
	if s.Owner != "" {
		text = "● " + text
	}
	if len(s.Tags) > 0 {
		text += "  " + oneLine(tagWords(s.Tags))
	}
	if place {
		text += "  " + oneLine(s.Dir)
	}
	return text
}

// age is how long ago something was, in at most eight letters.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/day)
	}
}
