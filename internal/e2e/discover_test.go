package e2e_test

import (
	"net"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm/openai"
)

// nothingListens skips the test where a model server runs on this machine.
func nothingListens(t *testing.T) {
	t.Helper()
	for p := range openai.Profiles() {
		if !p.Local || p.Port == 0 {
			continue
		}
		address := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: p.Port}).String()
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			t.Skipf("something listens at %s, where %s does", address, p.Title)
		}
	}
}

func TestWithNothingSetUpTheOfflineModelAnswers(t *testing.T) {
	t.Parallel()
	nothingListens(t)
	p := newProject(t)
	r := p.tenon("run", "read fact.txt")
	if r.code != 0 || !strings.Contains(r.stdout, fact) || !strings.Contains(r.stderr, "model offline/rules (no other model is set up)") {
		t.Errorf("exit code %d, answer %q, says %s", r.code, r.stdout, r.stderr)
	}
}

// A job whose key is missing must not look as if it had done its work.
func TestWithNothingSetUpARequestThatNeedsAModelFails(t *testing.T) {
	t.Parallel()
	nothingListens(t)
	for _, test := range []struct {
		args []string
		code int
		says string // in the answer if it succeeds, else in the error
	}{
		{[]string{"fix the failing test"}, 1, "no model is configured"},
		{[]string{"fix the failing test"}, 1, "tenon auth login PROVIDER"},
		{[]string{"fix the failing test", "--output", "json"}, 1, "no model is configured"},
		{[]string{"read fact.txt, then fix the failing test"}, 1, "ANTHROPIC_API_KEY"},
		{[]string{"help"}, 0, "What I can do"},
		{[]string{"read fact.txt"}, 0, fact},
		{[]string{"-m", "offline", "fix the failing test"}, 0, "I did not understand that."},
	} {
		p := newProject(t)
		r := p.tenon(append([]string{"run"}, test.args...)...)
		text := r.stderr
		if test.code == 0 {
			text = r.stdout
		}
		if r.code != test.code || !strings.Contains(text, test.says) || test.code != 0 && strings.Contains(r.stdout, fact) {
			t.Errorf("%q: exit code %d, answer %q, says %s", test.args, r.code, r.stdout, r.stderr)
		}
	}
}

func TestAServerOnThisMachineIsFound(t *testing.T) {
	t.Parallel()
	w := wayOf(t, "ollama")
	w.server.Models = []string{"nomic-embed-text", "first-model:7b", "second-model:3b"}
	p := newProject(t)
	srv := w.serve(p, modelserver.Steps(modelserver.Call("read", readFact), say()))
	r := p.tenon("run", "How many keys?")
	if r.code != 0 || r.stdout != answer+"\n" || !strings.Contains(r.stderr, "model ollama/first-model:7b (found on this machine, at "+srv.URL) {
		t.Errorf("exit code %d, answer %q, says %s", r.code, r.stdout, r.stderr)
	}
	if r := p.tenon("doctor"); !strings.Contains(r.stdout, "ollama/first-model:7b (found on this machine") {
		t.Errorf("doctor says %s", r.stdout)
	}
	if q := srv.Requests(); len(q) != 2 || q[0].Model != "first-model:7b" || q[0].NumCtx != 32768 || q[1].NumCtx != 32768 || len(srv.Violations()) > 0 {
		t.Errorf("requests %v, violations %v", q, srv.Violations())
	}
}

func TestAKeyChoosesItsProvider(t *testing.T) {
	for name, want := range map[string]string{
		"anthropic": "model anthropic/", "gemini": "model gemini/", "openai": "model openai/", "openrouter": "model openrouter/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			srv := wayOf(t, name).serve(p, modelserver.Steps(say()))
			if r := p.tenon("run", "How many keys?"); r.code != 0 || r.stdout != answer+"\n" || !strings.Contains(r.stderr, want) {
				t.Errorf("exit code %d, answer %q, says %s", r.code, r.stdout, r.stderr)
			}
			if len(srv.Violations()) > 0 {
				t.Error(srv.Violations())
			}
		})
	}
}

func TestTheVariableChoosesTheModel(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	w := wayOf(t, "openai-responses")
	srv := w.serve(p, modelserver.Steps(say()))
	p.env = append(p.env, "TENON_MODEL="+w.ref()+"@low")
	if r := p.tenon("run", "How many keys?"); r.code != 0 || r.stdout != answer+"\n" {
		t.Errorf("exit code %d, answer %q, says %s", r.code, r.stdout, r.stderr)
	}
	if q := srv.Requests(); len(q) != 1 || q[0].Model != w.model || !strings.Contains(string(q[0].Body), `"effort":"low"`) {
		t.Errorf("requests %v", q)
	}
}
