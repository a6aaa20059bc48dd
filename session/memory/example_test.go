package memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
)

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
	_, err = w.Append(ctx, session.Stamp{},
		session.Message{Message: llm.UserText("Does the mill turn?"), Speaker: session.Speaker{Kind: session.SpeakerPerson}},
		session.Message{Message: llm.AssistantText("It does.")})
	if err != nil {
		log.Fatal(err)
	}

	for e, err := range store.Read(ctx, id, 0) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Body.Kind())
	}
	// Output:
	// 1 created
	// 2 message
	// 3 message
}
