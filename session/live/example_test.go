package live_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// A listener prints an answer while it streams.
func Example() {
	events := []session.Event{
		{After: 4, Body: live.MessageStarted{Model: "test/m"}},
		{After: 4, Body: live.Delta{Type: live.DeltaText, Text: "The mill "}},
		{After: 4, Body: live.Delta{Type: live.DeltaText, Text: "turns."}},
	}
	for _, e := range events {
		if d, ok := e.Body.(live.Delta); ok && d.Type == live.DeltaText {
			fmt.Print(d.Text)
		}
	}
	fmt.Println()
	// Output: The mill turns.
}
