package agent

import (
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Outcome is what came of a run, for callers that do not follow its events.
type Outcome struct {
	Text  string           // the text of the last answer
	Ended session.RunEnded // how and why the run ended
}

// Wait takes a run's stream to its end and returns what came of it. The error is that of the stream; a run that was
// stopped by a limit, refused or cancelled is no error: see Outcome.Ended.
func Wait(events iter.Seq2[session.Event, error]) (Outcome, error) {
	var o Outcome
	for e, err := range events {
		if err != nil {
			return o, err
		}
		switch b := e.Body.(type) {
		case session.Message:
			if b.Role == llm.RoleAssistant {
				o.Text = strings.TrimSpace(b.Text())
			}
		case session.RunEnded:
			o.Ended = b
		}
	}
	return o, nil
}
