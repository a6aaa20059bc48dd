package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
)

// TestASessionGoesOnWithEachProtocol continues one session with another protocol each time, with reasoning, parallel calls, errors,
// and a run that was cut off in it; each must accept all that the others left.
func TestASessionGoesOnWithEachProtocol(t *testing.T) {
	for i, order := range [][]string{
		{"anthropic", "gemini", "azure", "openai", "bedrock", "vertex-claude", "ollama", "anthropic"},
		{"bedrock", "openai", "vertex-gemini", "vertex-claude", "vertex-gemini", "anthropic", "openrouter", "azure", "gemini", "bedrock"},
		{"openai", "azure", "anthropic", "gemini", "openai", "bedrock", "azure", "openai"},
	} {
		if !sample.Takes(i, 3, 3) { // the first order has every protocol
			continue
		}
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			relay(t, order)
		})
	}
}

func relay(t *testing.T, order []string) {
	p := newProject(t)
	var said []string
	for i, name := range order {
		w := wayOf(t, name)
		q := &project{t: t, dir: p.dir, home: p.home, data: p.data} // the variables of this provider alone
		text := fmt.Sprintf("Answer %d by %s.", i, name)
		srv := w.serve(q, modelserver.Steps(
			modelserver.Think("Two files, one is missing.").Say("I look.").Call("read", readFact).Call("read", `{"path":"missing.txt"}`).Call("nonsense", `{"a":1`),
			modelserver.Think("Once more.").Call("list", `{}`),
			modelserver.Say(text),
			wrong().Fault(modelserver.CutInText), // of a run that ends in the middle
		))
		q.config(fmt.Sprintf(`{"providers": {%q: {"retry": {"retries": 0}}}}`, w.of()))
		args := []string{"run", "--model", w.ref(), "--thinking", "medium"}
		if i > 0 {
			args = append(args, "--continue")
		}
		if r := q.tenon(append(args, "Look again.")...); r.code != 0 || r.stdout != text+"\n" {
			t.Errorf("%s: exit code %d, answer %q, says %s", name, r.code, r.stdout, r.stderr)
		}
		said = append(said, text)
		keepsAll(t, srv, said)
		if r := q.tenon("run", "--model", w.ref(), "--continue", "And now?"); r.code != 1 || r.stdout != "" {
			t.Errorf("%s, cut: exit code %d, answer %q, says %s", name, r.code, r.stdout, r.stderr)
		}
		for _, v := range srv.Violations() {
			t.Errorf("%s does not accept a request: %v", name, v)
		}
		q.keepsSecretOnDisk()
	}
	journal := p.journal()
	ended(t, journal)
	whole := slices.DeleteFunc(answers(journal), func(m llm.Message) bool { return m.Stop == llm.StopAborted })
	if len(whole) != 3*len(order) {
		t.Errorf("the journal has %d whole answers, want %d", len(whole), 3*len(order))
	}
}

// keepsAll checks that the last request has all that was answered before, in its order, and a result for every call.
func keepsAll(t *testing.T, srv *modelserver.Server, said []string) {
	t.Helper()
	requests := srv.Requests()
	if len(requests) == 0 {
		return
	}
	last := requests[len(requests)-1]
	var texts []string
	calls := 0
	for _, m := range last.Messages {
		if m.Role == llm.RoleAssistant {
			calls += len(m.Calls())
			for _, p := range m.Content {
				if text, ok := p.(llm.Text); ok && strings.HasPrefix(text.Text, "Answer ") {
					texts = append(texts, text.Text)
				}
			}
		}
	}
	if !slices.Equal(texts, said[:len(said)-1]) {
		t.Errorf("the request has the answers %q, want %q", texts, said[:len(said)-1])
	}
	if results := len(last.Results()); results != calls || calls != 4*len(said) {
		t.Errorf("the request has %d calls and %d results, want %d of each", calls, results, 4*len(said))
	}
}
