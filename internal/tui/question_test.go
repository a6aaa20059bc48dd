package tui

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
)

// asking is a stage on which the model calls a tool twice that needs approval.
func asking(t *testing.T) *stage {
	t.Helper()
	judge, err := permission.New(permission.Options{Root: "/src", Home: "/home/ada", Mode: permission.AskMode, Tools: []string{"paint"}})
	if err != nil {
		t.Fatal(err)
	}
	type arguments struct {
		Color string `json:"color"`
	}
	paint := tool.New("paint", "Paints the wall.",
		func(context.Context, arguments) (tool.Effects, error) {
			return tool.Effects{Writes: []tool.Path{tool.File("/src/wall")}}, nil
		},
		func(_ context.Context, a arguments, _ tool.Report) (tool.Result, error) {
			return tool.TextResult("the wall is " + a.Color), nil
		})
	s := play(t, &theater{
		client: llmtest.New(t, "call paint {\"color\":\"red\"}\n---\ncall paint {\"color\":\"green\"}\n---\ntext Painted."), judge: judge, tools: []tool.Tool{paint},
	}, 80, 24)
	s.shows("test/script")
	s.types("paint")
	s.press("enter")
	s.shows("Change wall?")
	return s
}

func TestAPersonAnswersAQuestion(t *testing.T) {
	s := asking(t)
	s.shows("› Allow once") // it takes keys now
	s.press("down", "enter")
	s.shows("Painted.") // the grant holds for the second call, too
}

// Keys that a person typed before they saw the question are in the prompt.
func TestKeysInFlightAreText(t *testing.T) {
	s := asking(t)
	s.types("y and more")
	s.shows("› y and more")
	s.shows("Change wall?")
	s.shows("› Allow once")
}

func TestAQuestionThatWasClosedOpensAgain(t *testing.T) {
	s := asking(t)
	s.shows("› Allow once")
	s.press("esc")
	s.hides("Allow once")
	s.shows("tab answers")
	s.press("tab")
	s.shows("› Allow once")
	s.press("enter")
	s.shows("green")
	s.shows("› Allow once")
	s.press("enter")
	s.shows("Painted.")
}

// A question does not take the keys of a picker.
func TestAQuestionWaitsForTheOpenDialog(t *testing.T) {
	s := asking(t)
	s.shows("› Allow once")
	s.press("esc")
	s.hides("Allow once")
	s.press("ctrl+p")
	s.shows("Commands")
	s.app.asked = ""
	s.types("mod")
	s.shows("/model")
	s.hides("Allow once")
	s.press("esc")
	s.shows("type to filter")
	s.press("esc")
	s.shows("› Allow once")
}

// A pasted key does not come into the prompt, which is visible.
func TestAPasteInADialogStaysThere(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.shows("test/script")
	s.press("ctrl+p")
	s.shows("Commands")
	s.send(tea.PasteMsg{Content: "sk-secret"})
	s.shows("› sk-secret")
	s.press("esc", "esc")
	s.hides("sk-secret")
}

func TestRenameAsksForTheTitle(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.shows("test/script")
	s.types("/rename")
	s.press("enter")
	s.until("the dialog", func(screen string) bool { return s.app.top() != nil })
	s.shows("Rename the session")
	s.types("Of walls")
	s.press("enter")
	s.shows("renamed to Of walls")
}

// A question outlives a terminal that is gone: the next one asks it again.
func TestAHangupKeepsTheQuestion(t *testing.T) {
	s := asking(t)
	s.shows("› Allow once")
	s.send(ended{hangup: true})
	if !s.app.left || !s.app.forced {
		t.Errorf("left %v, forced %v", s.app.left, s.app.forced)
	}
}
