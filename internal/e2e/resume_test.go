package e2e_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// TestAContinuedSessionKeepsItsVariant continues a session without naming a model: its variant sets the amount of thinking again.
func TestAContinuedSessionKeepsItsVariant(t *testing.T) {
	p := newProject(t)
	w := wayOf(t, "openai-responses")
	srv := w.serve(p, modelserver.Steps(say(), say()))
	p.passes("run", "--model", w.ref()+"@high", "How many keys?")
	p.passes("run", "--continue", "And now?")
	for i, r := range srv.Requests() {
		var body struct{ Reasoning struct{ Effort string } }
		if err := json.Unmarshal(r.Body, &body); err != nil || body.Reasoning.Effort != "high" {
			t.Errorf("request %d: effort %q, %v", i, body.Reasoning.Effort, err)
		}
	}
}

// TestAContinuedSessionKeepsItsPool continues a session of a pool without naming it: when its first model fails, the second one answers.
func TestAContinuedSessionKeepsItsPool(t *testing.T) {
	p := newProject(t)
	first, second := wayOf(t, "anthropic"), wayOf(t, "openai")
	failing := first.serve(p, modelserver.Steps(say(), modelserver.Fail(401)))
	helping := second.serve(p, modelserver.Steps(say()))
	p.config(fmt.Sprintf(`{"pools": {"both": [%q, %q]}}`, first.ref(), second.ref()))
	p.passes("run", "--model", "both", "How many keys?")
	p.passes("run", "--continue", "And now?")
	if failing.Left() > 0 || helping.Left() > 0 {
		t.Errorf("answers left: %d of the first model, %d of the second", failing.Left(), helping.Left())
	}
}

// passes runs tenon, which must answer.
func (p *project) passes(args ...string) {
	p.t.Helper()
	if r := p.tenon(args...); r.code != 0 || r.stdout != answer+"\n" {
		p.t.Errorf("%q: exit code %d, answer %q, says %s", args, r.code, r.stdout, r.stderr)
	}
}
