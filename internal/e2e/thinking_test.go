package e2e_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
)

// Without a setting, the newest models of the catalog think at the level that the catalog gives them for coding. default leaves the level to
// the provider, off asks for none.
func TestThinkingByDefault(t *testing.T) {
	for _, test := range []struct {
		way, model string
		flags      []string
		want       []string // parts of the request; those that begin with ! must not be in it
	}{
		{"anthropic", "claude-opus-5-5", nil, []string{`"thinking":{"type":"adaptive"`, `"effort":"medium"`, `"max_tokens":48384`}},
		{"anthropic", "claude-opus-5", nil, []string{`"thinking":{"type":"adaptive"`, `"effort":"high"`, `"max_tokens":64768`}},
		{"anthropic", "claude-sonnet-5", nil, []string{`"thinking":{"type":"adaptive"`, `"effort":"medium"`}},
		{"anthropic", "claude-haiku-4-5", nil, []string{`"thinking":{"type":"enabled","budget_tokens":16384}`, `"max_tokens":48384`}},
		{"anthropic", "claude-opus-5-5", []string{"--thinking", "max"}, []string{`"effort":"max"`}},
		{"anthropic", "claude-haiku-4-5", []string{"--thinking", "off"}, []string{`!"budget_tokens"`}},
		{"anthropic", "claude-haiku-4-5", []string{"--thinking", "default"}, []string{`!"thinking":`, `!"effort"`}},
		{"openai-responses", "gpt-6.2-sol", nil, []string{`"reasoning":{"effort":"medium"`}},
		{"openai-responses", "gpt-5.6", nil, []string{`"reasoning":{"effort":"medium"`}},
		{"openai-responses", "gpt-5.6", []string{"--thinking", "xhigh"}, []string{`"reasoning":{"effort":"xhigh"`}},
		{"openai-responses", "gpt-5.6", []string{"--thinking", "default"}, []string{`!"effort"`}},
		{"openai", "gpt-5.6", nil, []string{`"reasoning_effort":"medium"`}},
		{"gemini", "gemini-3.8-flash", nil, []string{`"thinkingLevel":"MEDIUM"`}},
		{"gemini", "gemini-3.1-pro-preview", nil, []string{`"thinkingLevel":"HIGH"`}},
		{"gemini", "gemini-2.5-pro", nil, []string{`"thinkingBudget":16384`}},
	} {
		t.Run(test.model+strings.Join(test.flags, ""), func(t *testing.T) {
			t.Parallel()
			w := wayOf(t, test.way)
			w.model = test.model
			p := newProject(t)
			srv := w.serve(p, modelserver.Steps(say()))
			if r := p.tenon(append([]string{"run", "--model", w.ref(), "How many keys?"}, test.flags...)...); r.code != 0 {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			body := string(srv.Requests()[0].Body)
			for _, part := range test.want {
				if part, not := strings.CutPrefix(part, "!"); strings.Contains(body, part) == not {
					t.Errorf("%s: %s", part, body[:min(len(body), 600)])
				}
			}
			if len(srv.Violations()) > 0 {
				t.Error(srv.Violations())
			}
		})
	}
}

// The table above has the newest model of each of the three families, as far as the catalog knows their dates.
func TestNoModelOfTheCatalogIsNewer(t *testing.T) {
	for provider, newest := range map[string]string{"anthropic": "claude-opus-5-5", "openai": "gpt-6.2-sol", "gemini": "gemini-3.8-flash"} {
		e, ok := catalog.Embedded().Entry(provider, newest)
		if !ok || e.Thinking == llm.ThinkDefault {
			t.Fatalf("%s/%s: %+v", provider, newest, e)
		}
		for other := range catalog.Embedded().All() {
			n := min(len(other.Released), len(e.Released)) // some dates are a year
			if other.Provider == provider && other.Released[:n] > e.Released[:n] {
				t.Errorf("%s is newer than %s", other.Ref(), e.Ref())
			}
		}
	}
}

// Models with bound thinking refuse thinking after a changed prefix, unless the request lets them drop it. A mode with other tools and a
// rewound session change the prefix; nothing may be refused, and as long as nothing changes no thinking is lost.
func TestBoundThinking(t *testing.T) {
	for _, name := range []string{"anthropic", "vertex-claude"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := wayOf(t, name)
			w.model = "claude-sonnet-5-5"
			w.server.Rules = modelserver.Rules{AdaptiveThinking: true, BoundThinking: true, NoTemperature: true}
			p := newProject(t)
			srv := w.serve(p, modelserver.Steps(
				modelserver.Think("A file.").Call("read", readFact), modelserver.Think("Read.").Say("It has a key."),
				modelserver.Think("Once more.").Say("One key."),
				modelserver.Think("A plan.").Say("Here it is."),
			))
			if name == "vertex-claude" { // the catalog does not have the model there
				p.config(`{"models": {"vertex/claude-sonnet-5-5": {"quirks": ["adaptive_thinking", "bound_thinking", "no_temperature"], "thinks": ["low", "high"]}}}`)
			}
			run := func(args ...string) {
				t.Helper()
				if r := p.tenon(append([]string{"run", "--model", w.ref()}, args...)...); r.code != 0 {
					t.Fatalf("exit code %d: %s", r.code, r.stderr)
				}
			}
			run("How many keys?")
			run("--continue", "Sure?")
			for i, r := range srv.Requests() {
				if r.Dropped > 0 {
					t.Errorf("request %d lost %d blocks of thinking, although nothing before them changed", i, r.Dropped)
				}
			}
			run("--continue", "--mode", "plan", "Plan it.")
			requests := srv.Requests()
			if last := requests[len(requests)-1]; last.Dropped == 0 {
				t.Error("the last request has no thinking that the server dropped, so the test shows nothing")
			}
			if v := srv.Violations(); len(v) > 0 {
				t.Error(v)
			}
		})
	}
}
