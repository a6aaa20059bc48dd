package request_test

import (
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
)

// Only a person answers a question and changes an agent.
func TestOnlyAPersonHasAuthority(t *testing.T) {
	for _, by := range []session.Speaker{
		{Kind: session.SpeakerAgent, Name: "child"},
		{Kind: session.SpeakerModel},
		{Kind: session.SpeakerTool},
		{Kind: session.SpeakerJob},
		{Kind: session.SpeakerHook},
		{Kind: session.SpeakerTenon},
		{Kind: "other"},
	} {
		var s request.State
		_ = s.Add(session.Event{Seq: 1, Body: session.Asking{ID: "q", Calls: []ask.Call{{Call: "c"}}}})
		if err := s.Add(session.Event{Seq: 2, Body: session.Answered{ID: "q", Answers: []ask.Answer{{Allow: true}}, By: by}}); err == nil || s.Questions[0].Answer != nil {
			t.Errorf("%s answers: %v", by.Kind, err)
		}
		if err := s.Add(session.Event{Seq: 3, Body: session.Change{Mode: "yolo", By: by}}); err == nil || len(s.Changes) > 0 {
			t.Errorf("%s changes the mode: %v", by.Kind, err)
		}
		if err := s.Add(session.Event{Seq: 4, Body: session.Answered{ID: "q", Answers: []ask.Answer{{}}, By: session.Speaker{Kind: session.SpeakerPerson}}}); err != nil {
			t.Errorf("a person cannot answer after %s: %v", by.Kind, err)
		}
	}
}
