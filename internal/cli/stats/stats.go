// Package stats is tenon stats and tenon sessions cache: requests, tokens, cache hits and cost.
package stats

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
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

// New returns tenon stats.
func New(env *command.Env) *cobra.Command {
	const usual = 30 * 24 * time.Hour
	o := statsOptions{by: "day"}
	c := &cobra.Command{
		Use:   "stats",
		Short: "Show usage: requests, tokens, cache hits and cost",
		Long: `Show the usage of all sessions: requests, tokens sent without the cache (INPUT), tokens
read from the cache of the provider (READ) and written to it (WROTE), the cached share
(HIT), tokens of answers (OUTPUT), the cost, and the tokens that the cache could have
served but did not (MISSED), with the causes. 'tenon sessions cache' shows the same for
each request of a session.

Requests are the answers of models, the summaries and titles that they wrote, and failed
requests for which the provider reported usage. Purged sessions do not count.`,
		Example: `  tenon stats --since 7d
  tenon stats --by model --dir .
  tenon stats --by request --since 2h
  tenon stats --since 2026-01-01 --html stats.html`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case o.html != "" && o.asJSON:
				return command.Usagef(c, "--html and --json exclude each other")
			case c.Flags().Changed("html") && o.html == "":
				return command.Usagef(c, "--html names no file")
			case o.force && o.html == "":
				return command.Usagef(c, "--force is for --html")
			case o.limit < 0:
				return command.Usagef(c, "--limit must not be negative; 0 shows all")
			}
			if o.query.Since.IsZero() {
				o.query.Since = time.Now().Add(-usual)
			}
			o.query.Zone = time.Local
			if c.Flags().Changed("dir") {
				var err error
				if o.query.Dir, err = command.PlaceOf(o.dir); err != nil {
					return err
				}
			}
			return env.WithStore(command.ErrNoSessions, func(store index.Store) error {
				a, err := ledger.Open(c.Context(), store, o.query)
				if err != nil {
					return err
				}
				for _, id := range a.Damaged() {
					env.Tell("session %s is damaged, so its cache misses are not counted; see 'tenon sessions check'", id)
				}
				if o.html != "" {
					return statsPage(env, c.Context(), a, o)
				}
				return showStats(env, c.Context(), a, o)
			})
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.Var(command.AgoTime(&o.query.Since), "since", "start: 12h, 7d, 4w or 2026-01-31; default 30d")
	f.Var(command.AgoTime(&o.query.Until), "until", "end, in the same form")
	groups := []string{"day", "model", "session", "agent", "tool", "request"}
	command.ChoiceFlag(c, &o.by, "by", groups, "GROUP", "group by day, model, session, agent, tool or request")
	f.IntVarP(&o.limit, "limit", "n", 40, "print at most `N` lines; 0 prints all")
	command.DirFlag(c, &o.dir, "only sessions of this `directory`")
	f.StringVar(&o.html, "html", "", "write a page with charts to this `FILE`")
	f.BoolVar(&o.force, "force", false, "replace an existing file")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object")
	return c
}

func showStats(env *command.Env, ctx context.Context, a *ledger.Account, o statsOptions) error {
	rows, err := statsRows(env, ctx, a, index.Group(o.by))
	if err != nil {
		return err
	}
	total, err := a.Total(ctx)
	if err != nil {
		return err
	}
	inTime := o.by == "day" || o.by == "request"
	if !inTime {
		byUse(rows)
	}
	r := command.Result{JSON: statsOf(rows, total, o)}
	if total.Requests == 0 && len(rows) == 0 {
		r.Note = "nothing was used since " + o.query.Since.Local().Format(time.DateTime)
		return env.Print(o.asJSON, r)
	}
	if n := len(rows); o.limit > 0 && n > o.limit {
		if inTime {
			rows = rows[n-o.limit:] // the last ones
		} else {
			rows = rows[:o.limit]
		}
		r.Note = fmt.Sprintf("%s of %d; more with --limit", transcript.Count(o.limit, "line"), n)
	}
	var out strings.Builder
	t := statsTable{out: &out, palette: env.Paint(), columns: env.Columns(), by: o.by}
	if o.by == "tool" {
		t.tools(rows)
	} else {
		t.write(rows, total)
	}
	r.Text = out.String()
	return env.Print(o.asJSON, r)
}

// statsRows returns the usage in groups. Only tools need the index.
func statsRows(env *command.Env, ctx context.Context, a *ledger.Account, by index.Group) (rows []ledger.Row, err error) {
	if by == "request" {
		by = index.GroupAnswer
	}
	if by != index.GroupTool {
		return a.By(ctx, by)
	}
	err = command.TellWhenSlow(env.Stderr, command.Indexing, func() (err error) {
		rows, err = a.By(ctx, by)
		return err
	})
	return rows, err
}

// byUse sorts rows by use, the largest first.
func byUse(rows []ledger.Row) {
	slices.SortStableFunc(rows, func(a, b ledger.Row) int {
		return cmp.Or(cmp.Compare(b.Usage.Cost, a.Usage.Cost), cmp.Compare(b.Usage.Total(), a.Usage.Total()), cmp.Compare(b.Calls, a.Calls))
	})
}

func keyWords(by string, r ledger.Row) string {
	switch {
	case by == "session" && r.Title != "":
		return r.Key + "  " + term.OneLine(r.Title)
	case by == "request":
		return r.Time.Local().Format(time.DateTime) + "  " + term.OneLine(r.Title)
	case by == "agent" && r.Key == "":
		return "main agent"
	case r.Key == "":
		return "unknown"
	}
	return term.OneLine(r.Key)
}

type statsTable struct {
	out     io.Writer
	palette term.Palette
	columns int
	by      string
}

var figures = command.Figures{
	{"REQS", 6, 0}, {"INPUT", 8, 0}, {"READ", 8, 60}, {"WROTE", 8, 70}, {"HIT", 6, 0}, {"OUTPUT", 8, 60}, {"COST", 9, 0}, {"MISSED", 8, 80},
}

func (t statsTable) write(rows []ledger.Row, total ledger.Row) {
	fmt.Fprint(t.out, t.palette.Bold(figures.Line(t.columns, strings.ToUpper(t.by))))
	if len(rows) != 1 {
		total.Key, total.Title = "in all", ""
		rows = append(slices.Clip(rows), total)
	}
	for i, r := range rows {
		name := r.Key
		if i < len(rows)-1 || len(rows) == 1 {
			name = keyWords(t.by, r)
		}
		fmt.Fprint(t.out, figures.Line(t.columns, name, usageCells(r.Sum)...))
	}
	t.misses(total.Sum)
}

// usageCells are the cells of figures.
func usageCells(s ledger.Sum) []string {
	lost, _ := s.AllLost()
	u := s.Usage
	return []string{
		strconv.Itoa(s.Requests), transcript.Tokens(u.Input), transcript.Tokens(u.CacheRead), transcript.Tokens(u.CacheWrite), percent(u.CacheHits()),
		transcript.Tokens(u.Output + u.Reasoning), costColumn(u.Cost), transcript.Tokens(lost),
	}
}

// costColumn returns a cost in at most eight characters.
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

// misses prints the causes of cache misses.
func (t statsTable) misses(s ledger.Sum) {
	said := false
	for _, m := range ledger.Misses() {
		l := s.Lost[m]
		if l.Requests == 0 {
			continue
		}
		if !said {
			fmt.Fprintf(t.out, "\n%s\n", t.palette.Bold("WHY THE CACHE WAS MISSED"))
			said = true
		}
		fmt.Fprintln(t.out, term.Fit(lostWords(m, l), t.columns))
	}
}

func (t statsTable) tools(rows []ledger.Row) {
	f := command.Figures{{"CALLS", 8, 0}, {"FAILED", 8, 0}, {"RESULTS", 12, 50}, {"EACH", 12, 60}}
	fmt.Fprint(t.out, t.palette.Bold(f.Line(t.columns, "TOOL")))
	for _, r := range rows {
		fmt.Fprint(t.out, f.Line(t.columns, keyWords("tool", r), toolCells(r)...))
	}
}

// toolCells are the figures of a tool.
func toolCells(r ledger.Row) []string {
	return []string{strconv.Itoa(r.Calls), strconv.Itoa(r.Failed), transcript.Bytes(r.Bytes), transcript.Bytes(r.Bytes / int64(max(r.Calls, 1)))}
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
	Key   string    `json:"key"`            // the day, model, session, agent (empty: the main one), tool, or request as SESSION/ENTRY
	Title string    `json:"title,omitzero"` // of a session; of a request, the model
	Time  time.Time `json:"time,omitzero"`  // of a request
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
	return statsRow{r.Key, strings.ToValidUTF8(r.Title, "\uFFFD"), r.Time.UTC(), sumOf(r.Sum), r.Calls, r.Failed, r.Bytes}
}
