package plan_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/tool/plan"
)

func Example() {
	ctx := context.Background()
	tools := plan.New(plan.Options{Record: func(_ context.Context, items []plan.Item) error {
		for _, item := range items {
			fmt.Printf("%-12s %s\n", item.Status, item.Text)
		}
		return nil
	}})
	call, err := tools[0].Prepare(ctx, `{"items": [
		{"text": "find the leak", "status": "completed"},
		{"text": "repair it", "status": "in_progress"},
		{"text": "write a test", "status": "pending"}
	]}`)
	if err != nil {
		panic(err)
	}
	result, err := call.Run(ctx, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("the model sees:", result.Content.Text())
	// Output:
	// completed    find the leak
	// in_progress  repair it
	// pending      write a test
	// the model sees: 1 completed, 1 in progress, 1 pending
}
