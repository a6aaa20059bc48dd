package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The screens at three sizes, as a person sees them. The journal is made of events, so that times are always the same.
func TestGoldenScreens(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.until("the session", func(string) bool { return s.app.pane.state.Dir != "" })
	s.app.now = func() time.Time { return noon.Add(5 * time.Second) }
	s.app.cards.Now = s.app.now
	seq := int64(10)
	parent := session.ID("")
	send := func(bodies ...session.Body) {
		var all []session.Event
		for _, b := range bodies {
			seq++
			e := session.Event{Seq: seq, ID: session.ID(fmt.Sprint("e", seq)), Parent: parent, Run: "r1", Time: noon.Add(time.Duration(seq) * time.Second / 10), Body: b}
			if _, ok := b.(live.Delta); ok {
				e.Seq, e.ID, e.After = 0, "", seq
			} else if e.OnBranch() {
				parent = e.ID
			}
			all = append(all, e)
		}
		s.send(events{gen: s.app.pane.gen, all: all, over: true})
	}
	var out [3]strings.Builder
	shot := func(name string) {
		for i, d := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			s.send(size(d[0], d[1]))
			fmt.Fprintf(&out[i], "---- %s\n", name)
			for line := range strings.SplitSeq(s.screen(), "\n") {
				fmt.Fprintln(&out[i], strings.TrimRight(line, " "))
			}
		}
	}
	person := session.Speaker{Kind: session.SpeakerPerson}
	shot("welcome")
	send(session.RunStarted{}, session.Message{Message: llm.UserText("Raise the limit in parse.go."), Speaker: person}, live.Delta{Type: live.DeltaText, Text: "I read **parse.go** first.\n\n- the limit\n- its tests\n\n```go\nvar limit = 10\n"})
	shot("streaming")
	call := llm.ToolCall{ID: "c1", Name: "edit", Arguments: `{"path":"parse.go","old":"10","new":"20"}`}
	answer := llm.AssistantText("I change the limit.")
	answer.Content, answer.Stop = append(answer.Content, call), llm.StopCalls
	diff := "--- a/parse.go\n+++ b/parse.go\n@@ -1,3 +1,3 @@\n package parse\n \n-var limit = 10\n+var limit = 20\n"
	send(session.Message{Message: answer}, session.Asking{ID: "q1", Calls: []ask.Call{{
		Call: "c1", Tool: "edit", Arguments: []byte(call.Arguments), Reason: "mode ask needs approval to change files", Preview: diff,
		Grants: []ask.Grant{{Rules: []string{"write(./parse.go)"}, Words: "changes of parse.go"}},
	}}})
	shot("permission")
	result := session.Message{Message: llm.Message{Role: llm.RoleTool, CallID: "c1", Tool: "edit", Content: llm.Content{llm.Text{Text: "done"}}}, Brief: "1 change"}
	result.Diffs = []session.FileDiff{{Path: "parse.go", Added: 1, Removed: 1, Text: diff}}
	send(session.Asked{ID: "q1", Reason: "answered"}, session.CallStarted{Call: "c1", Tool: "edit", Title: "parse.go", Arguments: []byte(call.Arguments)}, result,
		session.Todo{Items: []session.TodoItem{{Text: "Raise the limit", Status: "completed"}, {Text: "Run the tests", Status: "in_progress"}, {Text: "Describe the change", Status: "pending"}}})
	shot("diff, and the panel with tasks and files")
	for i := range 40 {
		send(session.Message{Message: llm.UserText(fmt.Sprint("Prompt ", i)), Speaker: person}, session.Message{Message: llm.AssistantText(fmt.Sprintf("Answer %d has `code`.", i))})
	}
	send(session.RunEnded{Reason: "done", Turns: 40})
	s.press("pgup")
	shot("a long session, one page up")
	for i, width := range []string{"80", "120", "200"} {
		golden(t, "screen-"+width+".txt", out[i].String())
	}
}

// golden compares a text with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	name := filepath.Join("testdata", file)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update rewrites it:\n%s", name, got)
	}
}
