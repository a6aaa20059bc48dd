package index_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
)

// Over needs only a log. Here it is the log of another store.
func ExampleOver() {
	ctx := context.Background()
	var journals session.Log = memory.New()
	store := index.Over(journals)
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
	if _, err := w.Append(ctx, session.Stamp{}, session.Message{Message: llm.UserText("Does the mill turn?"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}); err != nil {
		log.Fatal(err)
	}
	for s, err := range store.List(ctx, index.Query{Dir: "/home/ada/engine"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(s.Title, s.Entries)
	}
	// Output: Does the mill turn? 2
}
