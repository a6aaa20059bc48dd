package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsSearch() *cobra.Command {
	var (
		q           session.SearchQuery
		all, asJSON bool
		dir         string
		in          string
	)
	c := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find what was said in sessions",
		Long: `Find what was said in the sessions of this directory: by people, by models, in calls and their results, in titles, tags, notes and
summaries. All words must be in one entry, in upper or lower case. A word ending in * stands for all that begin with it, "words in
quotes" must stand together, and what has a - before it must not be there (write -- before the first such word). Hits are grouped by
session, the best first; with --session all that a session has.`,
		Example: `  tenon sessions search sandbox network
  tenon sessions search --all --since 30d '"context window"' compact*
  tenon sessions search -- flaky test -windows`,
		Args: func(c *cobra.Command, args []string) error {
			if strings.TrimSpace(strings.Join(args, "")) == "" {
				return usagef(c, "the words are missing")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case all && dir != "":
				return usagef(c, "--all and --dir exclude each other")
			case in != "" && (all || dir != ""):
				return usagef(c, "--session names one session: leave --all and --dir out")
			case q.Limit < 1:
				return usagef(c, "--limit must be above zero")
			}
			q.Text = strings.Join(args, " ")
			if !all && in == "" {
				var err error
				if q.Dir, err = directory(dir); err != nil {
					return err
				}
			}
			return p.withStore(nil, func(store session.Store) error {
				if in != "" {
					s, err := resolve(c.Context(), store, in)
					if err != nil {
						return err
					}
					q.Session = s.ID
				}
				var groups []found
				var n int
				err := tellWhenSlow(p.env.Stderr, indexing, func() (err error) {
					groups, n, err = search(c.Context(), store, q)
					return err
				})
				if err != nil {
					return err
				}
				if asJSON {
					for _, f := range groups {
						if err := writeJSON(p.env.Stdout, f); err != nil {
							return err
						}
					}
					return nil
				}
				return p.showFound(groups, n, q)
			})
		},
	}
	f := c.Flags()
	f.BoolVarP(&all, "all", "a", false, "in the sessions of every directory")
	f.StringVarP(&dir, "dir", "C", "", "in those of another `directory`")
	f.StringVar(&in, "session", "", "in the session whose `ID` begins so")
	f.StringVar(&q.Tag, "tag", "", "in sessions with this `TAG`")
	f.Var(agoTime(&q.Since), "since", "what was said since then: 12h, 7d, 4w or 2026-01-31")
	f.Var(agoTime(&q.Until), "until", "what was said before then")
	f.BoolVar(&q.Thinking, "thinking", false, "look into the thinking of models too")
	f.IntVarP(&q.Limit, "limit", "n", session.DefaultHits, "at most `N` hits")
	f.BoolVar(&asJSON, "json", false, "as JSON, one object to a line for each session")
	p.completeSessions(c, "session")
	completeWith(c, "dir", directories)
	completeWith(c, "tag", p.completeTags)
	return c
}

// found is what a search found in one session.
type found struct {
	Session session.SessionID `json:"session"`
	Title   string            `json:"title"`
	Dir     string            `json:"dir"`
	Updated time.Time         `json:"updated"`
	Hits    []session.Hit     `json:"hits"`
}

// search groups the hits by session, in the order of the best of each.
func search(ctx context.Context, store session.Store, q session.SearchQuery) (groups []found, hits int, err error) {
	at := make(map[session.SessionID]int)
	for h, err := range store.Search(ctx, q) {
		if err != nil {
			return nil, 0, err
		}
		i, ok := at[h.Session]
		if !ok {
			i = len(groups)
			at[h.Session] = i
			groups = append(groups, found{Session: h.Session})
		}
		groups[i].Hits = append(groups[i].Hits, h)
		hits++
	}
	for i, g := range groups {
		for s, err := range store.List(ctx, session.Query{Prefix: string(g.Session), Limit: 1}) {
			if err != nil {
				return nil, 0, err
			}
			groups[i].Title, groups[i].Dir, groups[i].Updated = s.Title, s.Dir, s.Updated
		}
	}
	return groups, hits, nil
}

func (p *program) showFound(groups []found, hits int, q session.SearchQuery) error {
	if len(groups) == 0 {
		what := "nothing found"
		if q.Dir != "" {
			what += " in sessions of " + q.Dir + " (see --all)"
		}
		_, err := fmt.Fprintln(p.env.Stderr, harmless(what))
		return err
	}
	paint, columns := paletteFor(p.env.Stdout, p.env.Getenv), p.columns()
	out := bufio.NewWriter(p.env.Stdout)
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(out)
		}
		title := oneLine(g.Title)
		if q.Dir == "" && q.Session == "" {
			title += "  " + oneLine(g.Dir)
		}
		fmt.Fprintln(out, paint.bold(fit(fmt.Sprintf("%s  %s  %s", g.Session, age(time.Since(g.Updated)), title), columns)))
		for _, h := range g.Hits {
			fmt.Fprintln(out, paint.dim(fit(fmt.Sprintf("  %s  %s  %s", h.Time.Local().Format("2006-01-02 15:04"), h.Entry, h.Kind), columns)))
			fmt.Fprintln(out, "    "+highlighted(h.Snippet, columns-4, paint))
		}
	}
	if hits == q.Limit {
		fmt.Fprintf(p.env.Stderr, "the best %d; more with --limit\n", hits)
	}
	return out.Flush()
}

// highlighted is a snippet on one line of a terminal. The first mark is on it, whatever must be cut.
func highlighted(s session.Snippet, columns int, paint palette) string {
	text, marks := s.Text, s.Marks
	begin := 0
	if len(marks) > 0 && marks[0].Start > columns/2 {
		begin = marks[0].Start - columns/3
		for begin > 0 && text[begin]&0xc0 == 0x80 { // within a rune
			begin--
		}
	}
	var b strings.Builder
	left := columns
	write := func(from, to int, style func(string) string) {
		if left <= 0 || from >= to {
			return
		}
		piece := strings.NewReplacer("\n", " ", "\t", " ").Replace(harmless(text[from:to]))
		piece = fit(piece, left)
		for _, r := range piece {
			left -= cells(r)
		}
		b.WriteString(style(piece))
	}
	plain := func(s string) string { return s }
	if begin > 0 {
		b.WriteString("…")
		left--
	}
	for _, m := range marks {
		write(max(begin, 0), m.Start, plain)
		write(m.Start, m.End, paint.yellow)
		begin = m.End
	}
	write(begin, len(text), plain)
	return b.String()
}
