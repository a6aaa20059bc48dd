package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/session"
)

// statsOptions is the flags of tenon stats.
type statsOptions struct {
	query  ledger.Query
	dir    string
	by     string
	limit  int
	html   string
	force  bool
	asJSON bool
}

func (p *program) stats() *cobra.Command {
	const usual = 30 * 24 * time.Hour
	o := statsOptions{by: "day"}
	c := &cobra.Command{
		Use:   "stats",
		Short: "Show what was used: requests, tokens, cache hits, cost",
		Long: `Show what the sessions of every directory used: requests, the tokens that were read anew (INPUT), from the provider's cache (READ)
and into it (WROTE), the share that came from the cache (HIT), what was written (OUTPUT), what it cost, and how many tokens were read anew
that the cache could have had (MISSED), with the reasons. 'tenon sessions cache' tells the same of every request of a session.

Requests are the answers of models, and the summaries and titles that they wrote. What is purged no longer counts.`,
		Example: `  tenon stats --since 7d
  tenon stats --by model --dir .
  tenon stats --since 2026-01-01 --html stats.html`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case o.html != "" && o.asJSON:
				return usagef(c, "--html and --json exclude each other")
			case c.Flags().Changed("html") && o.html == "":
				return usagef(c, "--html names no file")
			case o.force && o.html == "":
				return usagef(c, "--force is for --html")
			case o.limit < 0:
				return usagef(c, "--limit must not be negative; 0 shows all")
			}
			if o.query.Since.IsZero() {
				o.query.Since = time.Now().Add(-usual)
			}
			o.query.Zone = time.Local
			if c.Flags().Changed("dir") {
				var err error
				if o.query.Dir, err = placeOf(o.dir); err != nil {
					return err
				}
			}
			return p.withStore(errNoSessions, func(store session.Store) error {
				a, err := ledger.Open(c.Context(), store, o.query)
				if err != nil {
					return err
				}
				for _, id := range a.Damaged() {
					fmt.Fprintf(p.env.Stderr, "session %s is damaged: what its caches missed is not counted; see 'tenon sessions check'\n", id)
				}
				if o.html != "" {
					return p.statsPage(c.Context(), a, o)
				}
				return p.showStats(c.Context(), a, o)
			})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.Var(agoTime(&o.query.Since), "since", "since then: 12h, 7d, 4w or 2026-01-31; default 30d")
	f.Var(agoTime(&o.query.Until), "until", "until then")
	groups := []string{"day", "model", "session", "agent", "tool"}
	f.Var(choiceFlag{&o.by, groups, "GROUP"}, "by", "a line for each day, model, session, agent or tool")
	f.IntVarP(&o.limit, "limit", "n", 40, "at most `N` lines; 0 shows all")
	f.StringVarP(&o.dir, "dir", "C", "", "of the sessions of this `directory` alone")
	f.StringVar(&o.html, "html", "", "write a page with charts to this `FILE`, which needs no network")
	f.BoolVar(&o.force, "force", false, "replace that file if it exists")
	f.BoolVar(&o.asJSON, "json", false, "as one JSON object")
	completeWith(c, "by", cobra.FixedCompletions(groups, cobra.ShellCompDirectiveNoFileComp))
	completeWith(c, "dir", directories)
	return c
}

func (p *program) showStats(ctx context.Context, a *ledger.Account, o statsOptions) error {
	rows, err := p.statsRows(ctx, a, session.Group(o.by))
	if err != nil {
		return err
	}
	total, err := a.Total(ctx)
	if err != nil {
		return err
	}
	if o.by != "day" {
		byUse(rows)
	}
	if o.asJSON {
		return writeJSON(p.env.Stdout, statsOf(rows, total, o))
	}
	if total.Requests == 0 && len(rows) == 0 {
		_, err := fmt.Fprintf(p.env.Stderr, "nothing was used since %s\n", o.query.Since.Local().Format(time.DateTime))
		return err
	}
	if n := len(rows); o.limit > 0 && n > o.limit {
		if o.by == "day" {
			rows = rows[n-o.limit:] // the last ones
		} else {
			rows = rows[:o.limit]
		}
		defer fmt.Fprintf(p.env.Stderr, "%s of %d; more with --limit\n", count(o.limit, "line"), n)
	}
	out := bufio.NewWriter(p.env.Stdout)
	t := statsTable{out: out, palette: paletteFor(p.env.Stdout, p.env.Getenv), columns: p.columns(), by: o.by}
	if o.by == "tool" {
		t.tools(rows)
	} else {
		t.write(rows, total)
	}
	return out.Flush()
}

// statsRows is the account in groups. Only for tools is the index needed.
func (p *program) statsRows(ctx context.Context, a *ledger.Account, by session.Group) (rows []ledger.Row, err error) {
	if by != session.GroupTool {
		return a.By(ctx, by)
	}
	err = tellWhenSlow(p.env.Stderr, indexing, func() (err error) {
		rows, err = a.By(ctx, by)
		return err
	})
	return rows, err
}

// byUse sorts rows: what was used most comes first.
func byUse(rows []ledger.Row) {
	slices.SortStableFunc(rows, func(a, b ledger.Row) int {
		return cmp.Or(cmp.Compare(b.Usage.Cost, a.Usage.Cost), cmp.Compare(b.Usage.Total(), a.Usage.Total()), cmp.Compare(b.Calls, a.Calls))
	})
}

// keyWords is how a row is named for people.
func keyWords(by string, r ledger.Row) string {
	switch {
	case by == "session" && r.Title != "":
		return r.Key + "  " + oneLine(r.Title)
	case by == "agent" && r.Key == "":
		return "main agent"
	case r.Key == "":
		return "unknown"
	}
	return oneLine(r.Key)
}

// statsTable writes an account for people.
type statsTable struct {
	out     io.Writer
	palette palette
	columns int
	by      string
}

// figures is the width of all columns but the first.
const figures = 6 + 8 + 8 + 8 + 6 + 8 + 9 + 8

func (t statsTable) write(rows []ledger.Row, total ledger.Row) {
	first := max(t.columns-figures, 2)
	head := fmt.Sprintf("%-*s%6s%8s%8s%8s%6s%8s%9s%8s", first, strings.ToUpper(t.by),
		"REQS", "INPUT", "READ", "WROTE", "HIT", "OUTPUT", "COST", "MISSED")
	fmt.Fprintln(t.out, t.palette.bold(head))
	for _, r := range rows {
		t.row(keyWords(t.by, r), r.Sum, first)
	}
	if len(rows) != 1 {
		t.row("in all", total.Sum, first)
	}
	t.misses(total.Sum)
}

func (t statsTable) row(key string, s ledger.Sum, first int) {
	if width := cellsOf(key); width > first-1 {
		fmt.Fprintln(t.out, fit(key, t.columns))
		key = ""
	}
	missed, _ := s.AllLost()
	u := s.Usage
	fmt.Fprintf(t.out, "%s%*s%6d%8s%8s%8s%6s%8s%9s%8s\n", key, first-cellsOf(key), "", s.Requests, tokens(u.Input), tokens(u.CacheRead),
		tokens(u.CacheWrite), percent(u.CacheHits()), tokens(u.Output+u.Reasoning), costColumn(u.Cost), tokens(missed))
}

// costColumn is a cost in at most eight letters.
func costColumn(cost float64) string {
	switch {
	case cost == 0:
		return "-"
	case cost < 0.01:
		return "<$0.01"
	case cost >= 10_000:
		return fmt.Sprintf("$%.0f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// misses tells why the cache had less than it might.
func (t statsTable) misses(s ledger.Sum) {
	said := false
	for _, m := range ledger.Misses() {
		l := s.Lost[m]
		if l.Requests == 0 {
			continue
		}
		if !said {
			fmt.Fprintf(t.out, "\n%s\n", t.palette.bold("WHY THE CACHE WAS MISSED"))
			said = true
		}
		fmt.Fprintln(t.out, fit(lostWords(m, l), t.columns))
	}
}

func (t statsTable) tools(rows []ledger.Row) {
	first := max(20, t.columns-40)
	fmt.Fprintln(t.out, t.palette.bold(fmt.Sprintf("%-*s%8s%8s%12s%12s", first, "TOOL", "CALLS", "FAILED", "RESULTS", "EACH")))
	for _, r := range rows {
		key := fit(keyWords("tool", r), first-1)
		fmt.Fprintf(t.out, "%s%*s%8d%8d%12s%12s\n", key, first-cellsOf(key), "", r.Calls, r.Failed,
			bytesWords(r.Bytes), bytesWords(r.Bytes/int64(max(r.Calls, 1))))
	}
}

// statsJSON is an account for programs.
type statsJSON struct {
	Since time.Time  `json:"since"`
	Until time.Time  `json:"until,omitzero"`
	Dir   string     `json:"dir,omitzero"`
	By    string     `json:"by"`
	Rows  []statsRow `json:"rows"`
	Total statsRow   `json:"total"`
}

type statsRow struct {
	Key   string `json:"key"` // the day, model, session, agent (empty: the main one) or tool
	Title string `json:"title,omitzero"`
	sumJSON
	Calls  int   `json:"calls,omitzero"`
	Failed int   `json:"failed,omitzero"`
	Bytes  int64 `json:"bytes,omitzero"` // of results
}

func statsOf(rows []ledger.Row, total ledger.Row, o statsOptions) statsJSON {
	q := o.query
	out := statsJSON{Since: q.Since.UTC(), Until: q.Until.UTC(), Dir: q.Dir, By: o.by, Rows: []statsRow{}, Total: statsRowOf(total)}
	for _, r := range rows {
		out.Rows = append(out.Rows, statsRowOf(r))
	}
	return out
}

func statsRowOf(r ledger.Row) statsRow {
	return statsRow{r.Key, strings.ToValidUTF8(r.Title, "\uFFFD"), sumOf(r.Sum), r.Calls, r.Failed, r.Bytes}
}
