package llmtest_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

func ExampleMust() {
	client := llmtest.Must(`
		text I will look.
		call read {"path":"go.mod"}
		---
		text It is a library.
	`)
	ctx := context.Background()
	req := &llm.Request{Messages: []llm.Message{llm.UserText("What is this?")}}
	for range 2 {
		m, err := llm.Collect(ctx, client, req)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Stop, m.Text(), len(m.Calls()))
	}
	_, err := llm.Collect(ctx, client, req)
	fmt.Println(err)
	// Output:
	// tool_calls I will look. 1
	// end It is a library. 0
	// test/script: other: the script of this test ran out: it has 2 turns and this is request 3
}

// A model that follows rules instead of a script.
func ExampleFunc() {
	client := llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		last := req.Messages[len(req.Messages)-1]
		return llm.AssistantText(strings.ToUpper(last.Text())), nil
	})
	m, err := llm.Collect(context.Background(), client, &llm.Request{Messages: []llm.Message{llm.UserText("echo")}})
	fmt.Println(m.Text(), err)
	// Output: ECHO <nil>
}

func ExampleStream() {
	for e := range llmtest.Stream(llm.AssistantText("one two"), 4) {
		fmt.Printf("%T\n", e)
	}
	// Output:
	// llm.TextDelta
	// llm.TextDelta
	// llm.Done
}
