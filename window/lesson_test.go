package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// revert lets the model revert its last answer, with a lesson.
func (k *talk) revert(category, lesson string) {
	k.t.Helper()
	at := len(k.path) - 1
	for ; at > 0; at-- {
		if m, ok := k.path[at].Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			break
		}
	}
	k.append(session.Revert{To: k.path[at-1].ID, Category: category, Lesson: lesson})
	k.ask()
}

// Incidental findings fade if they are old or many. Other lessons stay.
func TestFindingsFade(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.say("Find it.")
	long := func(i int) string {
		return fmt.Sprintf("finding %d: ", i) + strings.Repeat("many words about nothing ", 20)
	}
	for i := range 5 {
		k.call("look", fmt.Sprintf(`{"n":%d}`, i), "nothing", `{}`)
		k.revert("tangent", long(i))
	}
	k.call("look", `{"n":5}`, "nothing", `{}`)
	k.revert("failure", "lesson: "+strings.Repeat("word ", 100))
	view := func() string {
		v, err := window.Look(t.Context(), k.path)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range v.Trim(window.Trimming{}) {
			for _, e := range k.path {
				if e.ID == r.Entry {
					name, _, _ := strings.Cut(e.Body.(session.Message).Text()[strings.Index(e.Body.(session.Message).Text(), "finding "):], ":")
					out = append(out, name)
				}
			}
			if !strings.HasPrefix(r.Text, "[An earlier finding, shortened.]\nfinding") || len(r.Text) > 300 {
				t.Errorf("the shorter text is %q", r.Text)
			}
		}
		return strings.Join(out, ", ")
	}
	if got := view(); got != "finding 0, finding 1" {
		t.Errorf("with five findings, these fade: %s", got)
	}
	for i := range 6 {
		k.call("look", fmt.Sprintf(`{"n":%d}`, 10+i), "something", `{}`)
	}
	if got := view(); got != "finding 0, finding 1, finding 2, finding 3, finding 4" {
		t.Errorf("after six answers, these fade: %s", got)
	}
}

// A checkpoint of the model stays verbatim, however many summaries follow.
func TestCheckpointsStay(t *testing.T) {
	k := newTalk(t, window.Options{Cooldown: 1, KeepTurns: 1})
	defer k.window.Close()
	k.say("Do it in steps.")
	k.call("look", `{}`, "nothing", `{}`)
	k.revert("step", "step one is done: the port is 4711")
	for i := range 200 {
		k.call("shell", fmt.Sprintf(`{"command":"look %d"}`, i), strings.Repeat(fmt.Sprintf("line %d of the output\n", i), 80), `{"unknown":true,"exclusive":true}`)
		if !strings.Contains(texts(k.last.Messages), "Checkpoint: step one is done: the port is 4711") {
			t.Fatalf("turn %d: the checkpoint is lost", i)
		}
	}
	summaries := 0
	for _, e := range k.path {
		if _, ok := e.Body.(session.Summarized); ok {
			summaries++
		}
	}
	if summaries < 2 {
		t.Errorf("%d summaries", summaries)
	}
}

// A revert has no effect if a person wrote a message since the model asked for it.
func TestMessageBeforeRevert(t *testing.T) {
	k := newTalk(t, window.Options{})
	defer k.window.Close()
	k.say("Do it.")
	to := k.tip()
	k.call("look", `{}`, "nothing", `{}`)
	k.append(session.Revert{To: to, Category: "failure", Lesson: "nowhere"})
	k.append(session.Message{Message: llm.UserText("Wait, look there."), Speaker: session.Speaker{Kind: session.SpeakerPerson}, Source: session.FromSteering})
	k.ask()
	if text := texts(k.last.Messages); !strings.Contains(text, "Wait, look there.") || strings.Contains(text, "nowhere") {
		t.Errorf("got %s", text)
	}
}
