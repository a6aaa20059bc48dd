package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// The system prompt of a session stays byte-identical over turns, modes, days and processes. What differs between them is in messages.
func TestTheSystemPromptStaysTheSame(t *testing.T) {
	for _, test := range []struct{ way, has, not, names string }{
		{"anthropic", "say in one sentence what you will do", "Make independent calls together", "Read Grep Glob Bash"},
		{"openai-responses", "no one-letter names", "Before the first call", ""},
		{"gemini", "state your intent in one sentence", "no one-letter names", "read_file grep_search glob run_shell_command"},
		{"ollama", "Code in an answer changes no file.", "Before the first call", "read grep glob bash"},
	} {
		t.Run(test.way, func(t *testing.T) {
			t.Parallel()
			var steps []modelserver.Step
			for i := range 20 {
				p := fmt.Sprintf(`{"path": "fact.txt", "limit": %d}`, i+1)
				steps = append(steps, modelserver.Call("read", p))
			}
			p := newProject(t)
			w := wayOf(t, test.way)
			srv := w.serve(p, modelserver.Steps(append(steps, say(), say(), say())...))
			for _, args := range [][]string{
				{"run", "--model", w.ref(), "How many keys?"},
				{"run", "--continue", "--mode", "plan", "And now?"},
				{"run", "--continue", "--mode", "auto", "And now?"},
			} {
				if r := p.tenon(args...); r.code != 0 {
					t.Fatalf("%q: exit code %d: %s", args, r.code, r.stderr)
				}
			}
			requests := srv.Requests()
			if len(requests) != 23 || len(srv.Violations()) > 0 {
				t.Fatalf("%d requests, violations %v", len(requests), srv.Violations())
			}
			first := requests[0]
			if n := len(first.Body); n > 24_000 {
				t.Errorf("the first request has %d bytes", n)
			}
			if !strings.Contains(first.System, test.has) || strings.Contains(first.System, test.not) || strings.Contains(first.System, "No one answers questions") {
				t.Errorf("the prompt is %s", first.System)
			}
			for name := range strings.FieldsSeq(test.names) {
				offered := slices.ContainsFunc(first.Tools, func(t llm.Tool) bool { return t.Name == name })
				if !offered || !strings.Contains(first.System, " "+name) {
					t.Errorf("the tool %s is not in the prompt, or not offered: %t", name, offered)
				}
			}
			for i, r := range requests {
				if r.System != first.System {
					t.Errorf("request %d has another system prompt: %s", i+1, r.System)
				}
			}
			if text := first.Messages[0].Text(); !strings.Contains(text, "No one answers questions") || strings.Contains(requests[22].System, "intent>") {
				t.Errorf("the first message is %s", text)
			}
		})
	}
}
