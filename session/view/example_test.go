package view_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// Messages is the conversation of a path. The path of a stored session is view.Stored.
func ExampleMessages() {
	path := view.Entries{
		{Seq: 1, Body: session.Created{}},
		{Seq: 2, Body: session.Message{Message: llm.UserText("Does the mill turn?"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}},
		{Seq: 3, Body: session.Message{Message: llm.AssistantText("It does.")}},
	}
	messages, err := view.Messages(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range messages {
		m := e.Body.(session.Message)
		fmt.Printf("%s: %s\n", m.Role, m.Text())
	}
	// Output:
	// user: Does the mill turn?
	// assistant: It does.
}
