package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/session"
)

// statsData is what the page shows.
type statsData struct {
	Since, Until, Made string
	Dir                string
	Total              ledger.Sum
	Missed             int64
	MissedCost         float64
	Days               []ledger.Row
	Charts             []chart
	Reasons            []statsReason
	Groups             []statsGroup
	Tools              []ledger.Row
	MaxCalls           int
}

// statsReason is a reason for misses.
type statsReason struct {
	Name string
	ledger.Lost
	Share float64 // of the largest, 0 to 1
}

// statsGroup is a table.
type statsGroup struct {
	Name string
	Rows []statsLine
	More int // rows that are left out
}

type statsLine struct {
	Name string
	ledger.Sum
	Missed int64
	Share  float64 // of the largest, 0 to 1
}

// statsPage writes the page.
func (p *program) statsPage(ctx context.Context, a *ledger.Account, o statsOptions) error {
	var data *statsData
	err := newFile(o.html, o.force, func(w io.Writer) error {
		err := tellWhenSlow(p.env.Stderr, indexing, func() (err error) {
			data, err = statsDataOf(ctx, a, o)
			return err
		})
		if err != nil {
			return err
		}
		return writeStatsPage(w, data)
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.env.Stderr, "%s, %s: %s\n", count(data.Total.Requests, "request"), count(len(data.Days), "day"), harmless(o.html))
	return err
}

func statsDataOf(ctx context.Context, a *ledger.Account, o statsOptions) (*statsData, error) {
	total, err := a.Total(ctx)
	if err != nil {
		return nil, err
	}
	until := o.query.Until
	if until.IsZero() {
		until = time.Now()
	}
	minute := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
	d := &statsData{Since: minute(o.query.Since), Until: minute(until), Made: minute(time.Now()), Dir: o.query.Dir, Total: total.Sum}
	d.Missed, d.MissedCost = total.AllLost()
	days, err := a.By(ctx, session.GroupDay)
	if err != nil {
		return nil, err
	}
	d.Days = everyDay(days)
	d.Charts = chartsOf(d.Days)
	d.Reasons = reasonsOf(total.Sum)
	for _, g := range []struct{ group, name string }{{"model", "Models"}, {"session", "Sessions"}, {"agent", "Agents"}} {
		rows, err := a.By(ctx, session.Group(g.group))
		if err != nil {
			return nil, err
		}
		d.Groups = append(d.Groups, groupOf(g.group, g.name, rows))
	}
	if d.Tools, err = a.By(ctx, session.GroupTool); err != nil {
		return nil, err
	}
	byUse(d.Tools)
	for _, r := range d.Tools {
		d.MaxCalls = max(d.MaxCalls, r.Calls)
	}
	return d, nil
}

// everyDay fills in days on which nothing was used.
func everyDay(rows []ledger.Row) []ledger.Row {
	const most = 3660
	if len(rows) == 0 {
		return nil
	}
	at, err := time.Parse(time.DateOnly, rows[0].Key)
	if err != nil {
		return rows
	}
	var out []ledger.Row
	for i := 0; i < len(rows) && len(out) < most; at = at.AddDate(0, 0, 1) {
		day := at.Format(time.DateOnly)
		if rows[i].Key != day {
			out = append(out, ledger.Row{Key: day})
			continue
		}
		out = append(out, rows[i])
		i++
	}
	return out
}

func reasonsOf(s ledger.Sum) []statsReason {
	var out []statsReason
	most := int64(1)
	for _, m := range ledger.Misses() {
		if l := s.Lost[m]; l.Requests > 0 {
			out = append(out, statsReason{Name: missWords(m), Lost: l})
			most = max(most, l.Tokens)
		}
	}
	for i := range out {
		out[i].Share = float64(out[i].Tokens) / float64(most)
	}
	return out
}

func groupOf(by, name string, rows []ledger.Row) statsGroup {
	const most = 25
	byUse(rows)
	g := statsGroup{Name: name, More: max(0, len(rows)-most)}
	largest := int64(1)
	for _, r := range rows[:min(len(rows), most)] {
		l := statsLine{Name: keyWords(by, r), Sum: r.Sum}
		l.Missed, _ = r.AllLost()
		largest = max(largest, r.Usage.Total())
		g.Rows = append(g.Rows, l)
	}
	for i := range g.Rows {
		g.Rows[i].Share = float64(g.Rows[i].Usage.Total()) / float64(largest)
	}
	return g
}
