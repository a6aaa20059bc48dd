package offline_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
)

func Example() {
	ctx := context.Background()
	req := &llm.Request{
		Tools:    []llm.Tool{{Name: "read"}},
		Messages: []llm.Message{llm.UserText("show the first 2 lines of poem.txt")},
	}
	wish, err := llm.Collect(ctx, offline.New(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	call := wish.Calls()[0]
	fmt.Println(call.Name, call.Arguments)

	req.Messages = append(req.Messages, wish, llm.ToolText(call, "1\tRoses are red,\n2\tviolets are blue.", false))
	last, err := llm.Collect(ctx, offline.New(), req)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(last.Text())
	// Output:
	// read {"path":"poem.txt","limit":2}
	// `poem.txt`:
	//
	// ```
	// 1	Roses are red,
	// 2	violets are blue.
	// ```
}
