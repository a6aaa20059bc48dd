package session_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
)

// A conversation goes wrong, and then another way from its first question.
func Example() {
	ctx := context.Background()
	store := memory.New()
	defer store.Close()
	id, err := store.Create(ctx, session.Created{Dir: "/home/ada/engine"})
	if err != nil {
		log.Fatal(err)
	}
	w, err := store.Open(ctx, id, session.Lease{Owner: "example"})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Close()

	say := func(bodies ...session.Body) []session.Event {
		events, err := w.Append(ctx, session.Stamp{}, bodies...)
		if err != nil {
			log.Fatal(err)
		}
		return events
	}
	question := say(session.Message{Message: llm.UserText("Does the mill turn?"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})[0]
	say(session.Message{Message: llm.AssistantText("It cannot.")})
	say(
		session.Head{To: question.ID, Reason: "rewind"},
		session.Message{Message: llm.AssistantText("It does.")})

	for e, err := range store.Backward(ctx, id, "") { // the branch as it stands, newest first
		if err != nil {
			log.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok {
			fmt.Printf("%d %s: %s\n", e.Seq, m.Role, m.Text())
		}
	}
	// Output:
	// 5 assistant: It does.
	// 2 user: Does the mill turn?
}
