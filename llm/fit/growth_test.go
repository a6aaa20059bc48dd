package fit_test

import (
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// The work grows with the conversation and not with its square: with it, each of these takes minutes to hours.
func TestLongConversations(t *testing.T) {
	const n = 50_000
	question, ok := user(llm.Text{Text: "go on"}), llm.Text{Text: "ok"}
	var turns, questions, answers, results []llm.Message
	var calls []llm.Part
	for range n {
		turns = append(turns, assistant(call("call_0", "{}")), result("call_0", ok))
		questions = append(questions, question)
		answers = append(answers, assistant(ok))
		calls, results = append(calls, call("x", "{}")), append(results, result("x", ok))
	}
	for _, test := range []struct {
		name string
		in   []llm.Message
		want int
	}{
		{"calls whose numbers restart in each answer", turns, 2*n + 1},
		{"questions without answers", questions, 1},
		{"answers without questions", answers, 3},
		{"calls of one answer with one ID", append([]llm.Message{assistant(calls...)}, results...), n + 2},
	} {
		for _, r := range []fit.Rules{{}, {ExactID: 9}} {
			t.Run(fmt.Sprintf("%s, exact %d", test.name, r.ExactID), func(t *testing.T) {
				if got := fit.Messages(test.in, r); len(got) != test.want {
					t.Errorf("%d messages, want %d", len(got), test.want)
				}
			})
		}
	}
}
