package e2e_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

const keysSchema = `{"type":"object","properties":{"keys":{"type":"integer"}},"required":["keys"],"additionalProperties":false}`

// TestAnAnswerByASchema asks every protocol for an answer as JSON, by its own mode or by a call that stands for it, after a look at a
// file: right at once, right when it is asked again, and never right.
func TestAnAnswerByASchema(t *testing.T) {
	for n, w := range ways() {
		for i, c := range []struct {
			name    string
			answers []string
			code    int
			stdout  string
			says    string
		}{
			{"right", []string{`{"keys":17}`}, 0, `{"keys":17}` + "\n", ""},
			{"right the second time", []string{`{"keys":"seventeen"}`, `{"keys":17}`}, 0, `{"keys":17}` + "\n", "asking again"},
			{"never right", []string{`{"keys":"seventeen"}`, `{"doors":1}`}, 1, "", "does not satisfy the schema"},
		} {
			if i != 1 && !w.takes(n, i) { // the second one has both a wrong answer and a right one
				continue
			}
			t.Run(w.name+", "+c.name, func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				file := filepath.Join(p.home, "schema.json")
				p.write(file, keysSchema)
				script := &schemaScript{answers: c.answers}
				srv := w.serve(p, modelserver.Func(script.next))
				r := p.tenon("run", "--model", w.ref(), "--schema", file, "How many keys?")
				if r.code != c.code || r.stdout != c.stdout && c.code == 0 || !strings.Contains(r.stderr, c.says) {
					t.Errorf("exit code %d, answer %q, says %s", r.code, r.stdout, r.stderr)
				}
				for _, v := range srv.Violations() {
					t.Errorf("the server does not accept a request: %v", v)
				}
				if n := len(srv.Requests()); n != len(c.answers)+1 {
					t.Errorf("%d requests, want %d", n, len(c.answers)+1)
				}
				ended(t, p.journal())
			})
		}
	}
}

// schemaScript reads a file, then gives its answers: as a call where the request has the tool for that, else as a text. Requests of
// one run come one after the other.
type schemaScript struct {
	answers []string
	looked  bool
}

func (s *schemaScript) next(r *modelserver.Request) modelserver.Step {
	if !s.looked {
		s.looked = true
		return modelserver.Call("read", readFact)
	}
	if len(s.answers) == 0 {
		return modelserver.Fail(400).Message("there is no further answer")
	}
	text := s.answers[0]
	s.answers = s.answers[1:]
	if slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == fit.SchemaToolName }) {
		return modelserver.Call(fit.SchemaToolName, text)
	}
	return modelserver.Say(text)
}
