package stats

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

// NewCache returns tenon sessions cache.
func NewCache(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "cache ID",
		Short: "Show prompt-cache hits per request, and the cause of each miss",
		Long: `Show for each request of a session what the provider could have read from its cache,
what it reported, and the cause of each miss. A provider caches the beginning of
requests: within an epoch, each request extends the previous one.

Columns: number and time of the request; its segments (system prompt, tools, messages)
and how many of them equal the previous request; their tokens (estimated if a part
changed); and the tokens that the provider reports: read from the cache, written to it,
read without it, and the cached share.`,
	}
	return env.OnSession(c, "print one JSON object", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (r command.Result, err error) {
		requests, err := ledger.Requests(ctx, a.Store, s.ID)
		if err != nil {
			return r, err
		}
		if len(requests) == 0 {
			return r, &ledger.NoRequestError{Session: s.ID}
		}
		var total ledger.Sum
		for _, q := range requests {
			total.Add(q)
		}
		var out strings.Builder
		t := cacheTable{out: &out, palette: env.Paint(), columns: env.Columns(), oneModel: oneModel(requests)}
		fmt.Fprintf(&out, "%s\n", term.Fit(fmt.Sprintf("%s  %s", s.ID, term.OneLine(s.Title)), t.columns))
		t.write(requests, total)
		return command.Result{JSON: cacheJSON(s.ID, requests, total), Text: out.String()}, nil
	})
}

func oneModel(requests []ledger.Request) bool {
	for _, r := range requests {
		if r.Model != requests[0].Model {
			return false
		}
	}
	return true
}

type cacheTable struct {
	out      io.Writer
	palette  term.Palette
	columns  int
	oneModel bool // printed once
}

var cacheFigures = command.Figures{
	{"#", 5, 0}, {"TIME", 10, 0}, {"SEGMENTS", 10, 60}, {"SAME", 7, 60}, {"TOKENS", 8, 60}, {"READ", 8, 0}, {"WROTE", 8, 70}, {"INPUT", 8, 0}, {"HIT", 6, 0},
}

func (t cacheTable) write(requests []ledger.Request, total ledger.Sum) {
	model := ""
	if t.oneModel {
		model = requests[0].Model
		fmt.Fprintln(t.out, t.palette.Dim(term.Fit(term.OneLine(model), t.columns)))
	}
	fmt.Fprintln(t.out, t.palette.Bold(cacheFigures.Row(t.columns)))
	for _, r := range requests {
		if r.Model != model {
			model = r.Model
			fmt.Fprintln(t.out, t.palette.Dim(term.Fit("       "+term.OneLine(model), t.columns)))
		}
		t.row(r)
	}
	fmt.Fprintf(t.out, "\n%s\n", term.Wrap("", 0, totalWords(total), t.columns, "  "))
	for _, m := range ledger.Misses() {
		if l := total.Lost[m]; l.Requests > 0 {
			fmt.Fprintln(t.out, term.Fit("  "+lostWords(m, l), t.columns))
		}
	}
}

func (t cacheTable) row(r ledger.Request) {
	read, wrote, input, hit := "-", "-", "-", "-"
	if r.Usage.Prompt() > 0 {
		read, wrote, input = transcript.Tokens(r.Usage.CacheRead), transcript.Tokens(r.Usage.CacheWrite), transcript.Tokens(r.Usage.Input)
		hit = percent(r.Usage.CacheHits())
	}
	fmt.Fprintln(t.out, cacheFigures.Row(t.columns, strconv.Itoa(r.Number), r.Entry.Time.Local().Format(time.TimeOnly),
		strconv.Itoa(r.Segments), strconv.Itoa(r.Same), transcript.Tokens(r.Reusable), read, wrote, input, hit))
	if why := cacheWords(r); why != "" {
		text := term.Wrap("       ", 7, why, t.columns, "       ")
		if r.Broken != "" {
			text = t.palette.Red(text)
		} else if r.Lost > 0 {
			text = t.palette.Yellow(text)
		} else {
			text = t.palette.Dim(text)
		}
		fmt.Fprintln(t.out, text)
	}
}

func cacheWords(r ledger.Request) string {
	var parts []string
	if r.Epoch != "" {
		parts = append(parts, "new epoch: "+transcript.Epoch(r.Epoch))
	}
	if r.Broken != "" {
		parts = append(parts, term.OneLine(r.Broken)+" changed within an epoch, which is a defect of the program")
	}
	switch r.Miss {
	case ledger.Expired:
		parts = append(parts, fmt.Sprintf("%s since the last request", transcript.Duration(r.Idle)))
	case ledger.OtherModel:
		parts = append(parts, term.OneLine(r.Answered)+" answered")
	case ledger.Small, ledger.Unreported, ledger.Unexplained: // the lack of a cache is printed once, below
		parts = append(parts, missWords(r.Miss))
	}
	if r.Answer == "" {
		parts = append(parts, "no answer came")
	}
	if r.Lost > 0 {
		text := transcript.Tokens(r.Lost) + " tokens sent again"
		if r.Cost > 0 {
			text += ", " + transcript.Dollars(r.Cost)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// missWords returns the cause of a miss.
func missWords(m ledger.Miss) string {
	switch m {
	case ledger.NewEpoch:
		return "a new epoch"
	case ledger.Expired:
		return "more than 5 minutes since the last request"
	case ledger.OtherModel:
		return "another model answered"
	case ledger.Small:
		return "shorter than the minimum of the provider"
	case ledger.Broken:
		return "a broken prefix, a defect of the program"
	case ledger.NoCache:
		return "the provider reports no cache"
	case ledger.Unreported:
		return "the provider reported nothing"
	case ledger.Unexplained:
		return "the provider did not use its cache"
	}
	return string(m)
}

func totalWords(s ledger.Sum) string {
	text := fmt.Sprintf("%s, %s of %s tokens from the cache (%s)", transcript.Count(s.Requests, "request"),
		transcript.Tokens(s.Usage.CacheRead), transcript.Tokens(s.Usage.Prompt()), percent(s.Usage.CacheHits()))
	n, cost := s.AllLost()
	if n > 0 {
		text += fmt.Sprintf("; %s sent again", transcript.Tokens(n))
		if cost > 0 {
			text += ", which cost " + transcript.Dollars(cost) + " more"
		}
	}
	return text + "."
}

func lostWords(m ledger.Miss, l ledger.Lost) string {
	text := fmt.Sprintf("%-45s %s", missWords(m), transcript.Count(l.Requests, "request"))
	if l.Tokens > 0 {
		text += ", " + transcript.Tokens(l.Tokens) + " tokens"
	}
	if l.Cost > 0 {
		text += ", " + transcript.Dollars(l.Cost)
	}
	return text
}

// percent returns a share in at most four characters.
func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

type cacheReport struct {
	Session  session.SessionID `json:"session"`
	Requests []cacheRequest    `json:"requests"`
	Total    sumJSON           `json:"total"`
}

type cacheRequest struct {
	ledger.Request
	Entry session.ID        `json:"entry"`
	Time  time.Time         `json:"time"`
	Usage command.UsageJSON `json:"usage"` // as the provider reported it
	Hits  float64           `json:"hits"`  // share of the prompt that came from the cache, 0 to 1
	Idle  float64           `json:"idle"`  // seconds since the last request
	Cost  float64           `json:"cost"`  // of the lost tokens, in US dollars
}

type sumJSON struct {
	Requests int                         `json:"requests"`
	Usage    command.UsageJSON           `json:"usage"`
	Hits     float64                     `json:"hits"`
	Cost     float64                     `json:"cost"` // US dollars
	Lost     map[ledger.Miss]ledger.Lost `json:"lost"`
}

func sumOf(s ledger.Sum) sumJSON {
	lost := make(map[ledger.Miss]ledger.Lost)
	for m, l := range s.Lost {
		l.Cost = command.Round(l.Cost)
		lost[m] = l
	}
	return sumJSON{s.Requests, command.UsageJSON(s.Usage), command.Round(s.Usage.CacheHits()), command.Round(s.Usage.Cost), lost}
}

func cacheJSON(id session.SessionID, requests []ledger.Request, total ledger.Sum) cacheReport {
	r := cacheReport{Session: id, Requests: []cacheRequest{}, Total: sumOf(total)}
	for _, q := range requests {
		r.Requests = append(r.Requests, cacheRequest{
			q, q.Entry.ID, q.Entry.Time, command.UsageJSON(q.Usage), command.Round(q.Usage.CacheHits()), q.Idle.Seconds(), command.Round(q.Cost),
		})
	}
	return r
}
