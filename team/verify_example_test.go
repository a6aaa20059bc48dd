package team_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/team"
)

// A sub-agent claims tests that it did not run.
func ExampleVerify() {
	ctx, store := context.Background(), memory.New()
	id, err := store.Create(ctx, session.Created{})
	if err != nil {
		log.Fatal(err)
	}
	report, err := team.Verify(ctx, store, id, 0, "/project", session.TaskReport{
		Outcome: session.TaskCompleted, Summary: "All tests pass.", Checks: []session.TaskCheck{{Command: "go test ./..."}},
	})
	fmt.Println(report.Doubts, err)
	// Output: [it names go test ./... as verification, but did not run it] <nil>
}
