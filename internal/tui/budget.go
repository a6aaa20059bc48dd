package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

// spend takes up the spending of a run and its session while the run is on.
func (p *pane) spend(b live.Spending) {
	for i := range p.state.Budgets {
		now := &p.state.Budgets[i]
		switch {
		case now.Name == "run" && b.Run != (live.Spent{}):
			now.Spent.Cost, now.Money = b.Run.Cost, b.Run.MaxCost
		case now.Name == "session":
			now.Spent.Cost, now.Money = b.Session.Cost, b.Session.MaxCost
		}
	}
}

// nearest returns the limit of money that is nearest, of those of the run and the session; false: none is set, or it is the default and far.
func nearest(budgets []conversation.Budget) (b conversation.Budget, ok bool) {
	share := func(b conversation.Budget) float64 { return b.Spent.Cost / b.Money }
	for _, one := range budgets {
		byDefault := one.Name == "run" && one.Money == agent.DefaultCost
		switch {
		case one.Money <= 0 || one.Name != "run" && one.Name != "session" || byDefault && share(one) < 0.5:
		case !ok || share(one) > share(b):
			b, ok = one, true
		}
	}
	return b, ok
}

// amount describes a figure of a limit as [session.RunEnded] has it.
func amount(limit string, n float64) string {
	switch limit {
	case "time":
		return transcript.Duration(time.Duration(n * float64(time.Second)))
	case "turns", "tokens":
		return strconv.Itoa(int(n)) + " " + limit
	}
	return transcript.Dollars(n)
}

// reached says which limit has ended the newest run and how to go on; empty: none has.
func reached(r conversation.Reached) string {
	text, next := "", "enter continues with a new run"
	switch r.Limit {
	case "":
		return ""
	case "cost":
		text, next = "limit of "+amount(r.Limit, r.Max)+" for a run", fmt.Sprintf("/budget %g or ", 2*r.Max)+next
	case "session_cost":
		text, next = "limit of "+amount(r.Limit, r.Max)+" for the session", fmt.Sprintf("/budget session %g continues with a new run", 2*r.Max)
	case "day_cost":
		text, next = "limit of "+amount(r.Limit, r.Max)+" for a day", "raise limits.day_cost in tenon.json"
	case "turns", "tokens", "time":
		text = "limit of " + amount(r.Limit, r.Max)
	default:
		text = "a limit"
	}
	return text + " reached; " + next
}

// goesOn reports whether a limit has ended the newest run and nothing runs, so that enter in an empty prompt continues.
func goesOn(a *app) bool { return a.pane.state.Reached != (conversation.Reached{}) && !a.pane.busy() }

// goOn continues with a new run.
func goOn(a *app) tea.Cmd {
	return with(a, "", func(ctx context.Context, c conversation.Conversation) error {
		_, err := c.Prompt(ctx, conversation.Prompt{})
		return err
	})
}

const mostDollars = 1e12 // more than any limit needs: a larger number, or an infinite one, has no place in a journal

// limits shows the limits of the run and of the session, or changes one of them. If that limit has ended the newest run, the change continues.
func limits(a *app, c conversation.Conversation, arg string) tea.Cmd {
	if arg == "" {
		return after(a, c.State, func(s conversation.State, err error) tea.Cmd {
			var lines []string
			for _, b := range s.Budgets {
				limit := "no limit"
				if b.Money > 0 {
					limit = "of " + transcript.Dollars(b.Money)
				}
				lines = append(lines, fmt.Sprintf("%s: %s, %s", b.Name, transcript.Dollars(b.Spent.Cost), limit))
			}
			a.pane.note(transcript.Note{Kind: transcript.NoteInfo, Title: strings.Join(lines, " · ")}, a.now())
			a.list.Bottom()
			a.fail(err)
			return nil
		})
	}
	number, ofSession := strings.CutPrefix(arg, "session ")
	n, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(number), "$"), 64)
	if number == "off" {
		n, err = agent.Unlimited, nil
	}
	if err != nil || n == 0 || n < 0 && number != "off" || n != n || n > mostDollars {
		a.say("write an amount in dollars: /budget 5; /budget session 20; /budget off")
		return nil
	}
	change, limit, of := session.Change{Cost: n}, "cost", "each run"
	if ofSession {
		change, limit, of = session.Change{SessionCost: n}, "session_cost", "the session"
	}
	say := fmt.Sprintf("limit of %s: %s", of, transcript.Dollars(n))
	if n < 0 {
		say = "no limit of cost of " + of
	}
	changed := set(a, change, say)
	if a.pane.state.Reached.Limit != limit || !goesOn(a) {
		return changed
	}
	return tea.Sequence(changed, goOn(a))
}

// spentText is the cost of the session, or what the nearest limit leaves of it, for the status line, with the used percentage.
func spentText(budgets []conversation.Budget, usage llm.Usage) (text string, used int) {
	if b, ok := nearest(budgets); ok {
		return fmt.Sprintf("%s of %s", transcript.Dollars(b.Spent.Cost), transcript.Dollars(b.Money)), int(100 * b.Spent.Cost / b.Money)
	}
	if usage.Cost > 0 {
		text = transcript.Dollars(usage.Cost)
	}
	return text, 0
}
