package request_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
)

// A process queues a draft and removes it again, without the lease of the session. It cannot remove the draft twice.
func ExampleSend() {
	ctx := context.Background()
	store := memory.New()
	defer store.Close()
	id, err := store.Create(ctx, session.Created{})
	if err != nil {
		log.Fatal(err)
	}
	send := func(b session.Queued) {
		if _, err := request.Send(ctx, store, id, b); err != nil {
			late, ok := errors.AsType[*request.LateError](err)
			fmt.Println(ok && late.What == "draft", err)
		}
		open, err := request.Read(ctx, store, id)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("drafts:", len(open.Drafts))
	}
	send(session.Queued{Draft: "d1", Change: "added", Lane: session.FromFollowUp, Message: llm.UserText("and now the tests"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	send(session.Queued{Draft: "d1", Change: "removed"})
	send(session.Queued{Draft: "d1", Change: "removed"})
	// Output:
	// drafts: 1
	// drafts: 0
	// true cannot change draft d1: it has entered the conversation, was removed, or never existed
	// drafts: 0
}
