package agent

import (
	"iter"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// Texts yields the text of answers as it comes, of the events of [Agent.Run] or [Agent.Follow], and their error. If an answer begins again
// after a failure, its text comes again.
func Texts(events iter.Seq2[session.Event, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for e, err := range events {
			d, ok := e.Body.(live.Delta)
			switch {
			case err != nil:
				yield("", err)
				return
			case ok && d.Type == live.DeltaText && !yield(d.Text, nil):
				return
			}
		}
	}
}
