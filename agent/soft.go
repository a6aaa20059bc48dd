package agent

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
)

// The answers to the question of a soft limit. A person can also write an amount: the new limit.
const (
	limitContinue = "Continue"
	limitQuiet    = "Continue and do not ask again"
	limitRaise    = "Raise the limit to "
	limitStop     = "Stop"
)

// limitQuestion begins the Call of a question about a limit, which is about no call.
const limitQuestion = "limit:"

// askLimits asks people about each soft limit that the run has crossed. It returns an end if they stop the run.
func askLimits(r *run) (*session.RunEnded, error) {
	for {
		e := r.a.spending.crossing(r.budget)
		if e == nil || r.a.Limits().Soft <= 0 {
			return nil, nil
		}
		answers, err := r.a.options.Ask(r.ctx, question(e))
		switch {
		case r.ctx.Err() != nil:
			return r.cancelled(), nil
		case r.a.feed.err() != nil:
			return r.failure(err), err
		case err != nil || len(answers) == 0 || len(answers[0].Choices) == 0:
			continue // there is no answer: the limit itself ends the run
		}
		end, err := decide(r, e, answers[0].Choices[0])
		if end != nil || err != nil {
			return end, err
		}
	}
}

// decide does what a person answered about a limit.
func decide(r *run, e *budget.Error, choice string) (*session.RunEnded, error) {
	limits := r.a.Limits()
	amount, isAmount := amountOf(choice)
	switch {
	case choice == limitStop:
		end := r.limitOf(e)
		end.Message = "a person stopped the run before " + e.Words()
		return end, nil
	case choice == limitQuiet:
		limits.Soft = Unlimited
	case !isAmount:
		return nil, nil
	case e.Budget != r.budget:
		limits.SessionCost = amount
	case e.Limit == budget.Money:
		limits.Cost = amount
	case e.Limit == budget.Tokens:
		limits.Tokens = int64(math.Ceil(amount))
	default:
		limits.Turns = int(math.Ceil(amount))
	}
	if err := r.a.Set(r.ctx, Change{Limits: &limits, Keep: true}); err != nil {
		return r.failure(err), err
	}
	r.setup = r.a.setup.Load()
	end, err := r.reached(r.ctx)
	if err != nil {
		return r.failure(err), err
	}
	return end, nil
}

// question asks about a soft limit.
func question(e *budget.Error) session.Asking {
	unit := strings.TrimSuffix(string(e.Limit), "s") + "s"
	raised := strconv.Itoa(int(2*e.Max)) + " " + unit
	spent := fmt.Sprintf("%d of %d %s", int64(e.Spent), int64(e.Max), unit)
	if e.Limit == budget.Money {
		raised = budget.Dollars(2 * e.Max)
		spent = budget.Dollars(e.Spent) + " of " + budget.Dollars(e.Max)
	}
	return session.Asking{
		Call: limitQuestion + e.Budget.Name(),
		Questions: []ask.Question{{
			Text: fmt.Sprintf("This %s has used %s, and the limit ends it. Choose, or write another limit.", e.Budget.Name(), spent),
			Options: []ask.Option{
				{Label: limitContinue, Description: "up to the limit"},
				{Label: limitQuiet, Description: "in this session"},
				{Label: limitRaise + raised},
				{Label: limitStop, Description: "the session can be continued"},
			},
			Default: limitContinue,
		}},
	}
}

// mostAmount is more than any limit needs. A larger number, or an infinite one, has no place in a journal.
const mostAmount = 1e12

// amountOf returns the amount that an answer names: "Raise the limit to $4.00", "4", "200 turns".
func amountOf(answer string) (float64, bool) {
	fields := strings.Fields(strings.TrimPrefix(answer, limitRaise))
	if len(fields) == 0 || len(fields) > 2 {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimPrefix(fields[0], "$"), 64)
	return n, err == nil && n > 0 && n <= mostAmount
}
