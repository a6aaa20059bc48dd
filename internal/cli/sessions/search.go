package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
	"github.com/tenon-agent/tenon/transcript"
)

type searching struct {
	query  search.Request
	from   whereabouts
	in     string // a prefix of a session ID
	asJSON bool
}

func newSearch(env *command.Env) *cobra.Command {
	var o searching
	c := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Search the text of sessions",
		Long: `Search the sessions of this directory: messages, calls and results, titles, tags, notes
and summaries. All words must be in one entry; case does not matter. A word ending in *
matches all words with this prefix, "quoted words" match a phrase, and a word after -
must not occur (write -- before the first such word). Tenon groups hits by session, best
first; with --session it prints all hits of one session.`,
		Example: `  tenon sessions search sandbox network
  tenon sessions search --all --since 30d '"context window"' 'compact*'
  tenon sessions search -- flaky test -windows`,
		RunE: func(c *cobra.Command, args []string) error {
			o.query.Text = strings.Join(args, " ")
			if err := o.check(c); err != nil {
				return err
			}
			return showSearch(env, c, o)
		},
	}
	f := c.Flags()
	o.from.flags(c)
	f.StringVar(&o.in, "session", "", "search the session with this `ID` or unique ID prefix")
	f.StringVar(&o.query.Tag, "tag", "", "only sessions with this `TAG`")
	f.Var(command.AgoTime(&o.query.Since), "since", "entries since: 12h, 7d, 4w or 2026-01-31")
	f.Var(command.AgoTime(&o.query.Until), "until", "entries before this time")
	f.BoolVar(&o.query.Thinking, "thinking", false, "also search the thinking of models")
	f.IntVarP(&o.query.Limit, "limit", "n", search.DefaultHits, "print at most `N` hits")
	f.BoolVar(&o.asJSON, "json", false, "print JSON, one object per session and line")
	env.CompleteSessions(c, "session")
	command.CompleteWith(c, "tag", completeTags(env))
	return c
}

// check checks the command line, and finds the directory.
func (o *searching) check(c *cobra.Command) (err error) {
	switch {
	case strings.TrimSpace(o.query.Text) == "":
		return command.Usagef(c, "the words are missing")
	case search.Parse(o.query.Text).Empty():
		return command.Usagef(c, "%q has no word that must occur", o.query.Text)
	case o.in != "" && o.from != whereabouts{}:
		return command.Usagef(c, "--session names one session: leave --all and --dir out")
	case o.query.Limit < 1:
		return command.Usagef(c, "--limit must be above zero")
	case o.in == "":
		o.query.Dir, err = o.from.directory(c)
	}
	return err
}

func showSearch(env *command.Env, c *cobra.Command, o searching) error {
	var groups []found
	look := func(store index.Store) error {
		return command.TellWhenSlow(env.Stderr, command.Indexing, func() (err error) {
			groups, err = hitsOf(c.Context(), store, o.query)
			return err
		})
	}
	var err error
	if o.in == "" {
		err = env.WithStore(nil, look)
	} else {
		err = env.WithSession(c, o.in, func(store index.Store, s index.Summary) error {
			o.query.Session = s.ID
			return look(store)
		})
	}
	if err != nil {
		return err
	}
	r := command.Result{JSON: command.Lines(groups), Text: foundText(env, groups, o.query)}
	hits := 0
	for _, g := range groups {
		hits += len(g.Hits)
	}
	switch {
	case hits == 0:
		r.Note = none("nothing found in sessions", index.Query{Dir: o.query.Dir})
	case hits == o.query.Limit:
		r.Note = fmt.Sprintf("the best %d; more with --limit", hits)
	}
	return env.Print(o.asJSON, r)
}

type found struct {
	Session session.SessionID `json:"session"`
	Title   string            `json:"title"`
	Dir     string            `json:"dir"`
	Updated time.Time         `json:"updated"`
	Hits    []search.Hit      `json:"hits"`
}

// hitsOf groups the hits by session, in the order of the best hit of each.
func hitsOf(ctx context.Context, store index.Store, q search.Request) (groups []found, err error) {
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
		for s, err := range store.List(ctx, index.Query{Prefix: string(g.Session), Limit: 1}) {
			if err != nil {
				return nil, err
			}
			groups[i].Title, groups[i].Dir, groups[i].Updated = s.Title, s.Dir, s.Updated
		}
	}
	return groups, nil
}

func foundText(env *command.Env, groups []found, q search.Request) string {
	paint, columns := env.Paint(), env.Columns()
	var out strings.Builder
	for i, g := range groups {
		if i > 0 {
			out.WriteByte('\n')
		}
		title := term.OneLine(g.Title)
		if q.Dir == "" && q.Session == "" {
			title += "  " + term.OneLine(g.Dir)
		}
		fmt.Fprintln(&out, paint.Bold(term.Fit(fmt.Sprintf("%s  %s  %s", g.Session, transcript.Age(time.Since(g.Updated)), title), columns)))
		for _, h := range g.Hits {
			fmt.Fprintln(&out, paint.Dim(term.Fit(fmt.Sprintf("  %s  %s  %s", h.Time.Local().Format("2006-01-02 15:04"), h.Entry, h.Kind), columns)))
			fmt.Fprintln(&out, "    "+highlighted(h.Snippet, columns-4, paint))
		}
	}
	return out.String()
}

// highlighted returns a snippet on one line of a terminal. The first mark is always on it.
func highlighted(s search.Snippet, columns int, paint term.Palette) string {
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
		piece := term.Fit(blanks.Replace(term.Harmless(text[from:to])), left)
		left -= term.Cells(piece)
		b.WriteString(style(piece))
	}
	plain := func(s string) string { return s }
	if begin > 0 {
		b.WriteString("…")
		left--
	}
	for _, m := range marks {
		write(begin, m.Start, plain)
		write(m.Start, m.End, paint.Yellow)
		begin = m.End
	}
	write(begin, len(text), plain)
	return b.String()
}
