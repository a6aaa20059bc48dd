package app

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// If a person selects a model with a smaller context window, the model sees less of the context files from then on, the nearest first.
func TestAModelWithLessRoom(t *testing.T) {
	w := newWorkplace(t)
	w.write("repo/.git/HEAD", "ref: refs/heads/main\n")
	w.write("repo/AGENTS.md", strings.Repeat("Mind the far rules.\n", 600))
	w.spec.Client = llmtest.Func(w.reply, llmtest.WithModel(llm.Model{Provider: "test", ID: "large", Context: 200_000}))
	w.script()
	w.open()
	w.ask("Begin.")
	if sent := w.sent(0); strings.Contains(sent, "omitted here") {
		t.Fatalf("sent\n%s", sent)
	}
	tiny := llmtest.Func(w.reply, llmtest.WithModel(llm.Model{Provider: "test", ID: "tiny", Context: 4500}))
	if err := w.agent.SetClient(t.Context(), tiny); err != nil {
		t.Fatal(err)
	}
	if w.ask("Go on."); !strings.Contains(w.sent(0), "of 11999 bytes are omitted here") {
		t.Errorf("sent\n%s", w.sent(0))
	}
}

// If the pinned messages do not fit, Tenon reports that, in the run or in the answer to a request for a summary.
func TestAPinThatIsTooLarge(t *testing.T) {
	const want = "a pinned message is too long"
	w := newWorkplace(t)
	w.script()
	w.open()
	keep := "Keep this: " + strings.Repeat("word ", 5000) + "[[keep]]"
	w.ask(keep)
	told := ""
	for range 5 {
		for _, n := range of[live.Notice](w.ask("Go on. " + strings.Repeat("And on. ", 200))) {
			told += n.Text
		}
	}
	if strings.Count(told, want) != 1 || !strings.Contains(told, "Keep this: word") {
		t.Errorf("the notices say %q", told)
	}
	w.close()
	w.open()
	w.ask(keep)
	w.ask("Go on.")
	if entries, problem, err := w.agent.Compact(t.Context(), ""); err != nil || !strings.Contains(problem, want) || len(of[session.Summarized](entries)) != 1 {
		t.Errorf("problem %q, %v", problem, err)
	}
}
