package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsList() *cobra.Command {
	var (
		all, asJSON bool
		dir         string
		q           session.Query
	)
	c := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the sessions of this directory, the last changed first",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if all && dir != "" {
				return usagef(c, "--all and --dir exclude each other")
			}
			if q.Limit < 0 {
				return usagef(c, "--limit must not be negative; 0 lists all")
			}
			if !all {
				var err error
				if q.Dir, err = directory(dir); err != nil {
					return err
				}
			}
			var found []session.Summary
			err := p.withStore(nil, func(store session.Store) error {
				for s, err := range store.List(c.Context(), q) {
					if err != nil {
						return err
					}
					if asJSON {
						if err := writeJSON(p.env.Stdout, s); err != nil {
							return err
						}
						continue
					}
					found = append(found, s)
				}
				return nil
			})
			if err != nil || asJSON {
				return err
			}
			return p.table(found, q)
		},
	}
	f := c.Flags()
	f.BoolVarP(&all, "all", "a", false, "of every directory")
	f.StringVarP(&dir, "dir", "C", "", "of another `directory`")
	f.StringVar(&q.Tag, "tag", "", "with this `TAG`")
	f.StringVar(&q.Text, "search", "", "with this `TEXT` in the title; 'tenon sessions search' looks into all that was said")
	f.Var(agoTime(&q.After), "since", "changed since then: 12h, 7d, 4w or 2026-01-31")
	f.BoolVar(&q.Deleted, "deleted", false, "those in the trash")
	f.IntVarP(&q.Limit, "limit", "n", 20, "at most `N`; 0 lists all")
	f.BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	completeWith(c, "dir", directories)
	completeWith(c, "tag", p.completeTags)
	return c
}

// table lists sessions in 80 columns, or in as many as the terminal has.
func (p *program) table(found []session.Summary, q session.Query) error {
	if len(found) == 0 {
		what := "no sessions"
		if q.Deleted {
			what += " in the trash"
		}
		if q.Dir != "" {
			what += " of " + q.Dir + " (see --all)"
		}
		_, err := fmt.Fprintln(p.env.Stderr, harmless(what))
		return err
	}
	columns := 80
	if w := width(p.env.Stdout); w != nil {
		columns = max(w(), 60)
	}
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	var b strings.Builder
	const idWidth, ageWidth, messagesWidth = 12, 8, 4
	changed := "CHANGED"
	if q.Deleted {
		changed = "DELETED"
	}
	titleWidth := columns - idWidth - ageWidth - messagesWidth - 3*2
	fmt.Fprintf(&b, "%s\n", paint.bold(fmt.Sprintf("%-*s  %-*s  %*s  %s", idWidth, "ID", ageWidth, changed, messagesWidth, "MSGS", "TITLE")))
	for _, s := range found {
		title := oneLine(s.Title)
		if title == "" {
			title = "(empty)"
		}
		if len(s.Tags) > 0 {
			title += "  " + oneLine(tagWords(s.Tags))
		}
		if q.Dir == "" {
			title += "  " + oneLine(s.Dir)
		}
		if s.Owner != "" {
			title = "● " + title
		}
		at := s.Updated
		if q.Deleted {
			at = s.Deleted
		}
		fmt.Fprintf(&b, "%-*s  %-*s  %*d  %s\n", idWidth, s.ID, ageWidth, age(time.Since(at)), messagesWidth, s.Messages, fit(title, titleWidth))
	}
	if len(found) == q.Limit {
		fmt.Fprintf(p.env.Stderr, "the last %d; more with --limit\n", q.Limit)
	}
	_, err := p.env.Stdout.Write([]byte(b.String()))
	return err
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
