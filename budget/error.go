package budget

import (
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Limit names one of the limits of a node.
type Limit string

// The limits.
const (
	Money    Limit = "money"
	Tokens   Limit = "tokens"
	Turns    Limit = "turns"
	Time     Limit = "time"
	Unpriced Limit = "unpriced" // Money is limited, and the price of the model is unknown
)

// Error says which limit of which budget does not allow a request or a turn.
type Error struct {
	Budget *Budget
	Limit  Limit
	Max    float64   // the limit: dollars, tokens, turns or seconds
	Spent  float64   // of it
	Model  llm.Model // of an unpriced request
}

// Code returns "budget." and the limit, such as "budget.money".
func (e *Error) Code() string { return "budget." + string(e.Limit) }

// Error implements error.
func (e *Error) Error() string {
	if e.Limit == Unpriced {
		return fmt.Sprintf("cannot ask %s under %s: its price is unknown; set models[%q].price in tenon.json (zeros for a free model), "+
			"set limits.unpriced to \"notice\", or remove the limit of money", e.Model.Ref(), e.Words(), e.Model.Ref())
	}
	return fmt.Sprintf("cannot ask the model: %s is reached; raise the limit, or continue in a new %s", e.Words(), e.Budget.name)
}

// Words describes the limit and what was spent of it: "the limit of $0.50 for a run ($0.51 spent)".
func (e *Error) Words() string {
	switch e.Limit {
	case Money:
		return fmt.Sprintf("the limit of %s for a %s (%s spent)", Dollars(e.Max), e.Budget.name, Dollars(e.Spent))
	case Tokens:
		return fmt.Sprintf("the limit of %s (%d used)", count(e.Max, "token"), int64(e.Spent))
	case Turns:
		return fmt.Sprintf("the limit of %s", count(e.Max, "turn"))
	case Time:
		return fmt.Sprintf("the limit of %s", time.Duration(e.Max*float64(time.Second)))
	default:
		return fmt.Sprintf("the limit of %s for a %s", Dollars(e.Max), e.Budget.name)
	}
}

// Dollars describes an amount of US dollars: "$4.00", "$0.0012".
func Dollars(n float64) string {
	if n > 0 && n < 0.01 {
		return fmt.Sprintf("$%.4f", n)
	}
	return fmt.Sprintf("$%.2f", n)
}

func count(n float64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", int64(n), what)
}
