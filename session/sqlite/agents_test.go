package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// A run that goes on in another process is that of the same agent.
func TestTheAgentOfARunThatGoesOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	w := writerFor(t, s)
	const run = "r1"
	_, err := w.Append(t.Context(), session.Stamp{Run: run}, session.RunStarted{Run: run, Tag: "helper"})
	if err = errors.Join(err, w.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if w, err = s.Open(t.Context(), w.Session(), session.Lease{Owner: "another"}); err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	answer := llm.AssistantText("a")
	answer.Model, answer.Usage = "p/m", llm.Usage{Input: 3}
	if _, err := w.Append(t.Context(), session.Stamp{Run: run}, session.Message{Message: answer}); err != nil {
		t.Fatal(err)
	}
	for row, err := range s.Usage(t.Context(), index.UsageQuery{By: []index.Group{index.GroupAgent}}) {
		if err != nil || row.Agent != "helper" || row.Usage.Input != 3 {
			t.Errorf("%+v, %v", row, err)
		}
	}
}
