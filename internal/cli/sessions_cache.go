package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsCache() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "cache ID",
		Short: "Show what the provider's cache had of every request, and why not more",
		Long: `Show for every request of a session what the provider could have read from its cache, what it reported that it read, and why
less than it might. A provider caches what requests begin with: each goes on from the one before, until an epoch begins.

Columns: the number of the request, when it was sent, its segments (system prompt, tools, messages) and how many of them are those of
the request before, the tokens of these (estimated where a part has changed), and what the provider reported: read from the cache, written
to it, read without it, and the share that came from the cache.`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				requests, err := ledger.Requests(c.Context(), store, s.ID)
				if err != nil {
					return err
				}
				if len(requests) == 0 {
					return &ledger.NoRequestError{Session: s.ID}
				}
				var total ledger.Sum
				for _, r := range requests {
					total.Add(r)
				}
				if asJSON {
					return p.cacheJSON(s.ID, requests, total)
				}
				out := bufio.NewWriter(p.env.Stdout)
				t := cacheTable{out: out, palette: paletteFor(p.env.Stdout, p.env.Getenv), columns: p.columns(), oneModel: oneModel(requests)}
				fmt.Fprintf(out, "%s\n", fit(fmt.Sprintf("%s  %s", s.ID, oneLine(s.Title)), t.columns))
				t.write(requests, total)
				return out.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	p.completeSessions(c, "")
	return c
}

func oneModel(requests []ledger.Request) bool {
	for _, r := range requests {
		if r.Model != requests[0].Model {
			return false
		}
	}
	return true
}

// cacheTable writes requests for people.
type cacheTable struct {
	out      io.Writer
	palette  palette
	columns  int
	oneModel bool // it is told once
}

func (t cacheTable) write(requests []ledger.Request, total ledger.Sum) {
	model := ""
	if t.oneModel {
		model = requests[0].Model
		fmt.Fprintln(t.out, t.palette.dim(fit(oneLine(model), t.columns)))
	}
	fmt.Fprintln(t.out, t.palette.bold("    #  TIME      SEGMENTS   SAME  TOKENS    READ   WROTE   INPUT   HIT"))
	for _, r := range requests {
		if r.Model != model {
			model = r.Model
			fmt.Fprintln(t.out, t.palette.dim(fit("       "+oneLine(model), t.columns)))
		}
		t.row(r)
	}
	fmt.Fprintf(t.out, "\n%s\n", wrapped("", 0, totalWords(total), t.columns, "  "))
	for _, m := range ledger.Misses() {
		if l := total.Lost[m]; l.Requests > 0 {
			fmt.Fprintln(t.out, fit("  "+lostWords(m, l), t.columns))
		}
	}
}

func (t cacheTable) row(r ledger.Request) {
	read, wrote, input, hit := "-", "-", "-", "-"
	if r.Usage.Prompt() > 0 {
		read, wrote, input = tokens(r.Usage.CacheRead), tokens(r.Usage.CacheWrite), tokens(r.Usage.Input)
		hit = percent(r.Usage.CacheHits())
	}
	fmt.Fprintf(t.out, "%5d  %s  %8d  %5d  %6s  %6s  %6s  %6s  %4s\n", r.Number, r.Entry.Time.Local().Format(time.TimeOnly),
		r.Segments, r.Same, tokens(r.Reusable), read, wrote, input, hit)
	if why := cacheWords(r); why != "" {
		text := wrapped("       ", 7, why, t.columns, "       ")
		if r.Broken != "" {
			text = t.palette.red(text)
		} else if r.Lost > 0 {
			text = t.palette.yellow(text)
		} else {
			text = t.palette.dim(text)
		}
		fmt.Fprintln(t.out, text)
	}
}

// cacheWords says what is to be said of a request.
func cacheWords(r ledger.Request) string {
	var parts []string
	if r.Epoch != "" {
		parts = append(parts, "new epoch: "+epochWords(r.Epoch))
	}
	if r.Broken != "" {
		parts = append(parts, "within an epoch "+oneLine(r.Broken)+" has changed, which is a defect of the program")
	}
	switch r.Miss {
	case ledger.Expired:
		parts = append(parts, fmt.Sprintf("%s since the last request", seconds(r.Idle)))
	case ledger.OtherModel:
		parts = append(parts, oneLine(r.Answered)+" answered")
	case ledger.Small, ledger.Unreported, ledger.Unexplained: // that there is no cache is told once, below
		parts = append(parts, missWords(r.Miss))
	}
	if r.Answer == "" {
		parts = append(parts, "no answer came")
	}
	if r.Lost > 0 {
		text := tokens(r.Lost) + " tokens read anew"
		if r.Cost > 0 {
			text += ", " + dollars(r.Cost)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// missWords names a reason.
func missWords(m ledger.Miss) string {
	switch m {
	case ledger.NewEpoch:
		return "a new epoch"
	case ledger.Expired:
		return "more than 5 minutes since the last request"
	case ledger.OtherModel:
		return "another model answered"
	case ledger.Small:
		return "shorter than what the provider keeps"
	case ledger.Broken:
		return "a broken prefix, a defect of the program"
	case ledger.NoCache:
		return "the provider reports no cache"
	case ledger.Unreported:
		return "the provider reported nothing"
	case ledger.Unexplained:
		return "the provider did not use what it had"
	}
	return string(m)
}

func totalWords(s ledger.Sum) string {
	text := fmt.Sprintf("%s, %s of %s tokens from the cache (%s)", count(s.Requests, "request"),
		tokens(s.Usage.CacheRead), tokens(s.Usage.Prompt()), percent(s.Usage.CacheHits()))
	n, cost := s.AllLost()
	if n > 0 {
		text += fmt.Sprintf("; %s read anew", tokens(n))
		if cost > 0 {
			text += ", which cost " + dollars(cost) + " more"
		}
	}
	return text + "."
}

func lostWords(m ledger.Miss, l ledger.Lost) string {
	text := fmt.Sprintf("%-45s %s", missWords(m), count(l.Requests, "request"))
	if l.Tokens > 0 {
		text += ", " + tokens(l.Tokens) + " tokens"
	}
	if l.Cost > 0 {
		text += ", " + dollars(l.Cost)
	}
	return text
}

// percent is a share in at most four letters.
func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// cacheReport is the requests of a session for programs.
type cacheReport struct {
	Session  session.SessionID `json:"session"`
	Requests []cacheRequest    `json:"requests"`
	Total    sumJSON           `json:"total"`
}

type cacheRequest struct {
	Number   int         `json:"number"`
	Entry    session.ID  `json:"entry"`
	Time     time.Time   `json:"time"`
	Model    string      `json:"model"`
	Answered string      `json:"answered,omitzero"` // "provider/model" that answered
	Segments int         `json:"segments"`
	Same     int         `json:"same"`
	Reusable int64       `json:"reusable"` // tokens of these
	Estimate int64       `json:"estimate"` // tokens of all, before it was sent
	Usage    usageReport `json:"usage"`    // as the provider reported it
	Hits     float64     `json:"hits"`     // share of the prompt that came from the cache, 0 to 1
	Idle     float64     `json:"idle"`     // seconds since the last request
	Epoch    string      `json:"epoch,omitzero"`
	Broken   string      `json:"broken,omitzero"`
	Miss     ledger.Miss `json:"miss,omitzero"`
	Lost     int64       `json:"lost"` // tokens
	Cost     float64     `json:"cost"` // of these, US dollars
}

// sumJSON is what requests come to, for programs.
type sumJSON struct {
	Requests int                         `json:"requests"`
	Usage    usageReport                 `json:"usage"`
	Hits     float64                     `json:"hits"`
	Cost     float64                     `json:"cost"` // US dollars
	Lost     map[ledger.Miss]ledger.Lost `json:"lost"`
}

func sumOf(s ledger.Sum) sumJSON {
	lost := make(map[ledger.Miss]ledger.Lost)
	for m, l := range s.Lost {
		l.Cost = round(l.Cost)
		lost[m] = l
	}
	return sumJSON{s.Requests, usageOf(s.Usage), round(s.Usage.CacheHits()), round(s.Usage.Cost), lost}
}

func (p *program) cacheJSON(id session.SessionID, requests []ledger.Request, total ledger.Sum) error {
	r := cacheReport{Session: id, Requests: []cacheRequest{}, Total: sumOf(total)}
	for _, q := range requests {
		r.Requests = append(r.Requests, cacheRequest{
			Number: q.Number, Entry: q.Entry.ID, Time: q.Entry.Time, Model: q.Model, Answered: q.Answered, Segments: q.Segments, Same: q.Same,
			Reusable: q.Reusable, Estimate: q.Estimate, Usage: usageOf(q.Usage), Hits: round(q.Usage.CacheHits()), Idle: q.Idle.Seconds(),
			Epoch: q.Epoch, Broken: q.Broken, Miss: q.Miss, Lost: q.Lost, Cost: round(q.Cost),
		})
	}
	return writeJSON(p.env.Stdout, r)
}
