package cli

import (
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

func TestWhatPeopleAreToldOfTheWindow(t *testing.T) {
	for want, b := range map[string]session.Body{
		"the conversation is being summed up: the context window is nearly full":      session.Compacting{Reason: "full"},
		"the conversation is being summed up: the request was too long for the model": session.Compacting{Reason: "overflow"},
		"the conversation is being summed up: somebody asked for it":                  session.Compacting{Reason: "asked"},
		"the conversation is being summed up: new":                                    session.Compacting{Reason: "new"},
		"summing up failed: down":                                                     session.Compacting{Reason: "full", Done: true, Error: "down"},
		"":                                                                            session.Compacting{Reason: "full", Done: true},
		"the conversation is summed up by a/b: about 21.4k tokens instead of 92.0k": session.Digest{By: "a/b", Before: 92_000, After: 21_400},
		"the conversation is summed up: about 900 tokens instead of 1.0k":           session.Digest{Before: 1000, After: 900},
		"2 old results shortened in the context window":                             session.Reduced{Messages: make([]session.Reduction, 2)},
		"the model goes back (failure): the port is taken":                          session.Revert{Category: "failure", Lesson: "the port\nis taken"},
	} {
		if got := windowWords(b); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := windowWords(session.Message{Message: llm.UserText("x")}); got != "" {
		t.Errorf("of something else: %q", got)
	}
}
