package budget_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
)

// Two workers share the money of a session. The one that comes last is refused.
func Example() {
	session := budget.New("session", budget.Limits{Money: 0.30})
	model := &server{model: dear, answer: says(20)} // an answer costs $0.20
	for _, name := range []string{"first", "second", "third"} {
		worker := session.Child(name, budget.Limits{Tokens: 1000})
		_, err := llm.Collect(context.Background(), worker.Client(model), question)
		if e, ok := errors.AsType[*budget.Error](err); ok {
			fmt.Println(name, e.Code())
			continue
		}
		fmt.Printf("%s $%.2f\n", name, worker.Spent().Cost)
	}
	// Output:
	// first $0.20
	// second $0.20
	// third budget.money
}
