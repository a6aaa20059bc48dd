package retract_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/tool/retract"
)

func Example() {
	ctx := context.Background()
	j := &journal{results: []retract.Result{{Call: "call_1", Tool: "shell", Text: "thousands of lines of a log"}}}
	cleanup := retract.New(j)[0]
	call, err := cleanup.Prepare(ctx, `{"quote": "lines of a log", "reason": "of another service", "summary": "nothing about the leak"}`)
	if err != nil {
		panic(err)
	}
	result, err := call.Run(ctx, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Content.Text())
	fmt.Println(j.wishes[0])
	// Output:
	// The result of shell, 27 bytes, leaves your context when Tenon next rebuilds it.
	// call_1: of another service: nothing about the leak
}
