package agent

import (
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Outcome is the result of a run, for callers that do not follow its events.
type Outcome struct {
	Text  string           // the text of the last answer, put together where the output limit cut it
	Ended session.RunEnded // how and why the run ended
}

// Wait reads the events of a run to their end and returns its outcome. The error is that of the sequence. A run that reached a limit, was
// refused or was cancelled is no error: see Outcome.Ended.
func Wait(events iter.Seq2[session.Event, error]) (o Outcome, err error) {
	cut, goesOn := false, false // the output limit cut the last answer; the next one continues its text
	defer func() { o.Text = strings.TrimSpace(o.Text) }()
	for e, err := range events {
		if err != nil {
			return o, err
		}
		switch b := e.Body.(type) {
		case session.Message:
			switch b.Role {
			case llm.RoleUser:
				goesOn = cut && b.Source == session.FromLoop
			case llm.RoleAssistant:
				if !goesOn {
					o.Text = ""
				}
				o.Text += b.Text()
				cut = b.Stop == llm.StopLength
			}
		case session.RunEnded:
			o.Ended = b
		}
	}
	return o, nil
}
