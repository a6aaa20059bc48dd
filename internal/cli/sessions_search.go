package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// searching is the flags of sessions search.
type searching struct {
	query  session.SearchQuery
	from   whereabouts
	in     string // the beginning of a session's ID
	asJSON bool
}

func (p *program) sessionsSearch() *cobra.Command {
	var o searching
	c := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find what was said in sessions",
		Long: `Find what was said in the sessions of this directory: by people, by models, in calls and their results, in titles, tags, notes and
summaries. All words must be in one entry, in upper or lower case. A word ending in * stands for all that begin with it, "words in
quotes" must stand together, and what has a - before it must not be there (write -- before the first such word). Hits are grouped by
session, the best first; with --session all that a session has.`,
		Example: `  tenon sessions search sandbox network
  tenon sessions search --all --since 30d '"context window"' 'compact*'
  tenon sessions search -- flaky test -windows`,
		RunE: func(c *cobra.Command, args []string) error {
			o.query.Text = strings.Join(args, " ")
			if err := o.check(c); err != nil {
				return err
			}
			return p.search(c, o)
		},
	}
	f := c.Flags()
	o.from.flags(c)
	f.StringVar(&o.in, "session", "", "in the session whose `ID` begins so")
	f.StringVar(&o.query.Tag, "tag", "", "in sessions with this `TAG`")
	f.Var(agoTime(&o.query.Since), "since", "what was said since then: 12h, 7d, 4w or 2026-01-31")
	f.Var(agoTime(&o.query.Until), "until", "what was said before then")
	f.BoolVar(&o.query.Thinking, "thinking", false, "look into the thinking of models too")
	f.IntVarP(&o.query.Limit, "limit", "n", session.DefaultHits, "at most `N` hits")
	f.BoolVar(&o.asJSON, "json", false, "as JSON, one object to a line for each session")
	p.completeSessions(c, "session")
	completeWith(c, "tag", p.completeTags)
	return c
}

// check says what is wrong with the command line, and finds the directory that is meant.
func (o *searching) check(c *cobra.Command) (err error) {
	switch {
	case strings.TrimSpace(o.query.Text) == "":
		return usagef(c, "the words are missing")
	case search.Parse(o.query.Text).Empty():
		return usagef(c, "%q has no word that must be there", o.query.Text)
	case o.in != "" && o.from != whereabouts{}:
		return usagef(c, "--session names one session: leave --all and --dir out")
	case o.query.Limit < 1:
		return usagef(c, "--limit must be above zero")
	case o.in == "":
		o.query.Dir, err = o.from.directory(c)
	}
	return err
}

func (p *program) search(c *cobra.Command, o searching) error {
	var groups []found
	look := func(store session.Store) error {
		return tellWhenSlow(p.env.Stderr, indexing, func() (err error) {
			groups, err = hitsOf(c.Context(), store, o.query)
			return err
		})
	}
	var err error
	if o.in == "" {
		err = p.withStore(nil, look)
	} else {
		err = p.withSession(c, o.in, func(store session.Store, s session.Summary) error {
			o.query.Session = s.ID
			return look(store)
		})
	}
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return writeLines(p.env.Stdout, groups)
	case len(groups) == 0:
		return p.showNone("nothing found in sessions", session.Query{Dir: o.query.Dir})
	}
	return p.showFound(groups, o.query)
}

// found is what a search found in one session.
type found struct {
	Session session.SessionID `json:"session"`
	Title   string            `json:"title"`
	Dir     string            `json:"dir"`
	Updated time.Time         `json:"updated"`
	Hits    []session.Hit     `json:"hits"`
}

// hitsOf groups the hits by session, in the order of the best of each.
func hitsOf(ctx context.Context, store session.Store, q session.SearchQuery) (groups []found, err error) {
	at := make(map[session.SessionID]int)
	for h, err := range store.Search(ctx, q) {
		if err != nil {
			return nil, err
		}
		i, ok := at[h.Session]
		if !ok {
			i = len(groups)
			at[h.Session] = i
			groups = append(groups, found{Session: h.Session})
		}
		groups[i].Hits = append(groups[i].Hits, h)
	}
	for i, g := range groups {
		for s, err := range store.List(ctx, session.Query{Prefix: string(g.Session), Limit: 1}) {
			if err != nil {
				return nil, err
			}
			groups[i].Title, groups[i].Dir, groups[i].Updated = s.Title, s.Dir, s.Updated
		}
	}
	return groups, nil
}

func (p *program) showFound(groups []found, q session.SearchQuery) error {
	paint, columns := paletteFor(p.env.Stdout, p.env.Getenv), p.columns()
	out := bufio.NewWriter(p.env.Stdout)
	hits := 0
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
		hits += len(g.Hits)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if hits == q.Limit {
		fmt.Fprintf(p.env.Stderr, "the best %d; more with --limit\n", hits)
	}
	return nil
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
	left, blanks := columns, strings.NewReplacer("\n", " ", "\t", " ")
	write := func(from, to int, style func(string) string) {
		if left <= 0 || from >= to {
			return
		}
		piece := fit(blanks.Replace(harmless(text[from:to])), left)
		left -= cellsOf(piece)
		b.WriteString(style(piece))
	}
	plain := func(s string) string { return s }
	if begin > 0 {
		b.WriteString("…")
		left--
	}
	for _, m := range marks {
		write(begin, m.Start, plain)
		write(m.Start, m.End, paint.yellow)
		begin = m.End
	}
	write(begin, len(text), plain)
	return b.String()
}
