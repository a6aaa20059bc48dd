package stats

import (
	"context"
	"io"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

type statsData struct {
	Since, Until, Made string
	Dir                string
	Total              ledger.Sum
	Days               []ledger.Row
	Groups             []statsGroup
	Tools              []ledger.Row
}

// statsGroup is the rows of a table, the most used first.
type statsGroup struct {
	by, name string
	rows     []ledger.Row
}

func statsPage(env *command.Env, ctx context.Context, a *ledger.Account, o statsOptions) error {
	var data *statsData
	err := command.NewFile(o.html, o.force, func(w io.Writer) error {
		err := command.TellWhenSlow(env.Stderr, command.Indexing, func() (err error) {
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
	env.Tell("%s, %s: %s", transcript.Count(data.Total.Requests, "request"), transcript.Count(len(data.Days), "day"), term.Harmless(o.html))
	return nil
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
	days, err := a.By(ctx, index.GroupDay)
	if err != nil {
		return nil, err
	}
	d.Days = everyDay(days)
	for _, g := range []statsGroup{{by: "model", name: "Models"}, {by: "session", name: "Sessions"}, {by: "agent", name: "Agents"}} {
		if g.rows, err = a.By(ctx, index.Group(g.by)); err != nil {
			return nil, err
		}
		byUse(g.rows)
		d.Groups = append(d.Groups, g)
	}
	if d.Tools, err = a.By(ctx, index.GroupTool); err != nil {
		return nil, err
	}
	byUse(d.Tools)
	return d, nil
}

// everyDay adds the days without usage.
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
