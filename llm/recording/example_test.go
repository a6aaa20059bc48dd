package recording_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/llm/recording"
)

func ExampleRecord() {
	ctx := context.Background()
	req := &llm.Request{Messages: []llm.Message{llm.UserText("What is two and two?")}}

	var file bytes.Buffer // a file, most often
	recorder := recording.Record(llmtest.Must(`text Four.`), &file)
	if _, err := llm.Collect(ctx, recorder, req); err != nil {
		fmt.Println(err)
	}
	if err := recorder.Err(); err != nil {
		fmt.Println(err)
	}

	player, err := recording.Replay(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := llm.Collect(ctx, player, req)
	fmt.Println(answer.Text(), err)
	// Output: Four. <nil>
}
