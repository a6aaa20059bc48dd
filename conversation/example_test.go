package conversation_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
)

// A frontend opens the last session of a directory, or a new one.
func ExampleChoose() {
	ctx, store := context.Background(), memory.New()
	open := func(ctx context.Context, c conversation.Chosen) error {
		if c.ID == "" {
			_, err := store.Create(ctx, session.Created{Dir: c.Dir, From: c.From, Fork: c.Fork})
			fmt.Println("a new session in", c.Dir)
			return err
		}
		fmt.Println("the last session of", c.Dir)
		return nil
	}
	for range 2 {
		if _, err := conversation.Choose(ctx, store, conversation.Which{Dir: "/src", Last: true, New: true}, open); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// a new session in /src
	// the last session of /src
}
