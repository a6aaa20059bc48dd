package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "tenon")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "sessions.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	id, err := store.Create(ctx, session.Created{Dir: "/home/ada/engine"})
	if err != nil {
		log.Fatal(err)
	}
	w, err := store.Open(ctx, id, session.Lease{Owner: "the first"})
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

	_, err = store.Open(ctx, id, session.Lease{Owner: "the second"})
	if locked, ok := errors.AsType[*session.LockedError](err); ok {
		fmt.Println("locked by", locked.Owner)
	}
	for s, err := range store.List(ctx, index.Query{Limit: 10}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s (%d entries)\n", s.Title, s.Entries)
	}
	for e, err := range store.Backward(ctx, id, "") { // newest first
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Seq, e.Body.Kind())
	}
	// Output:
	// locked by the first
	// Does the mill turn? (3 entries)
	// 3 message
	// 2 message
	// 1 created
}
