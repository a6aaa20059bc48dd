package e2e_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/session"
)

// extras are parameters that Chat Completions does not have. The tests of the profiles check which server takes which of them.
func extras() modelserver.Rules {
	return modelserver.Rules{Extra: []string{
		"usage", "reasoning", "reasoning_details", "reasoning_content", "cache_control", "thinking", "chat_template_kwargs", "name",
	}}
}

// TestEveryProfile sets what each provider of Chat Completions is reached by, and has a conversation with reasoning and parallel calls,
// with the server's reasoning in two of the places where servers have it.
func TestEveryProfile(t *testing.T) {
	places := []modelserver.Reasoning{modelserver.ReasoningContent, modelserver.ReasoningField, modelserver.ReasoningDetails, modelserver.ReasoningTags}
	n := 0
	for profile := range openai.Profiles() {
		if len(profile.BaseURLVars) == 0 || profile.Name == "azure" {
			continue
		}
		n++
		for i, place := range places {
			if !sample.Takes(n+i, 4, 4) {
				continue
			}
			t.Run(profile.Name+", "+string(place), func(t *testing.T) {
				t.Parallel()
				if profile.ThinkOpened && place == modelserver.ReasoningTags {
					t.Skip("its texts begin within the tag")
				}
				converse(t, profile, modelserver.Config{Reasoning: place, Rules: extras()})
			})
		}
	}
}

func converse(t *testing.T, profile openai.Profile, c modelserver.Config) {
	w := way{name: profile.Name, model: "some/model-7b", protocol: modelserver.OpenAIChat, server: c, env: vars(profile.BaseURLVars[0] + "=URL:/v1")}
	if len(profile.KeyVars) > 0 {
		w.key = "sk-e2e-0123456789abcdefghij"
		w.env = vars(profile.BaseURLVars[0]+"=URL:/v1", profile.KeyVars[0]+"="+w.key)
	}
	p := newProject(t)
	srv := w.serve(p, modelserver.Steps(
		modelserver.Think("The file may tell.").Call("read", readFact).Call("read", `{"path":"other.txt"}`),
		modelserver.Think("Now I know.").Say(answer),
	))
	r := p.tenon("run", "--model", w.ref(), "--thinking", "high", "How many keys?")
	if r.code != 0 || r.stdout != answer+"\n" {
		t.Errorf("exit code %d, answer %q, says %s", r.code, r.stdout, r.stderr)
	}
	for _, v := range srv.Violations() {
		t.Errorf("the server does not accept a request: %v", v)
	}
	if len(srv.Requests()) != 2 {
		t.Fatalf("%d requests, want 2", len(srv.Requests()))
	}
	resultsHave(t, srv, fact, "Nothing of interest")
	thoughts := 0
	for _, m := range answers(p.journal()) {
		for _, part := range m.Content {
			if thought, ok := part.(llm.Thinking); ok && strings.HasSuffix(strings.TrimSpace(thought.Text), ".") {
				thoughts++
			}
		}
	}
	if thoughts != 2 {
		t.Errorf("the journal has %d thoughts, want 2", thoughts)
	}
	p.keepsSecretOnDisk()
}

// TestServersThatAreNotThere asks where nothing answers, and where something else does.
func TestServersThatAreNotThere(t *testing.T) {
	for n, w := range ways() {
		if !w.takes(n, 0) {
			continue
		}
		t.Run(w.name+", nothing listens", func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			srv := w.serve(p)
			if err := srv.Close(); err != nil {
				t.Fatal(err)
			}
			fails(t, p, w, "connection refused: nothing listens there", "attempt 4 of 4")
		})
		t.Run(w.name+", not TLS", func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			srv := w.serve(p)
			for i, v := range p.env {
				p.env[i] = strings.ReplaceAll(v, srv.URL, strings.Replace(srv.URL, "http:", "https:", 1))
			}
			fails(t, p, w, "does the base URL begin with https where it should be http?")
		})
		t.Run(w.name+", no such name", func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			srv := w.serve(p)
			for i, v := range p.env {
				p.env[i] = strings.ReplaceAll(v, srv.URL, "http://unknown.invalid")
			}
			fails(t, p, w, "unknown.invalid", "cannot be resolved", "is there a network?")
		})
	}
}

// fails runs a request that cannot succeed, and checks what is said of it.
func fails(t *testing.T, p *project, w way, says ...string) {
	t.Helper()
	p.config(`{"providers": {"` + w.of() + `": {"retry": {"delay": "5ms"}}}}`)
	r := p.tenon("run", "--model", w.ref(), "How many keys?")
	if r.code != 1 || r.stdout != "" {
		t.Errorf("exit code %d, answer %q", r.code, r.stdout)
	}
	for _, want := range says {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("it does not say %q: %s", want, r.stderr)
		}
	}
	if end := ended(t, p.journal()); end.Reason != session.ReasonError {
		t.Errorf("the journal says that the run ended as %q", end.Reason)
	}
}
