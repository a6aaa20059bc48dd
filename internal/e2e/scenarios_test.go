package e2e_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// scenario is what happens in one run, whatever the protocol.
type scenario struct {
	name  string
	steps []modelserver.Step
	args  []string
	only  func(way) bool // nil: every way
	every bool           // every way must take it, also in a sample

	timeouts string // of the configuration, such as `"idle":"50ms"`
	slow     bool   // retries wait as long as they do for people

	answer string   // what standard output must be, but for the newline
	code   int      // exit code
	skips  bool     // not every step needs to be played, such as when an answer may stand in spite of its fault
	says   []string // what standard error must have
	silent []string // texts that neither it nor standard output may have
	check  func(t *testing.T, w way, srv *modelserver.Server, journal []session.Event)
}

const (
	answer   = "There are seventeen keys in the drawer."
	begun    = "An answer of which nothing must remain, because it is cut before its end." // what an answer says that goes wrong
	never    = "never-written.txt"
	readFact = `{"path":"fact.txt"}`
)

// refuses reports whether the protocol can say that a model declines. Ollama's has no word for it.
func refuses(w way) bool { return w.protocol != modelserver.Ollama }

func say() modelserver.Step   { return modelserver.Say(answer) }
func wrong() modelserver.Step { return modelserver.Say(begun) }

// broken is a scenario of one answer that goes wrong, and of the right one after it.
func broken(name string, fault modelserver.Fault, says ...string) scenario {
	return scenario{
		name: name, steps: []modelserver.Step{wrong().Fault(fault), say()}, answer: answer, silent: []string{"nothing must remain"},
		says: append([]string{"attempt 2 of 4"}, says...),
	}
}

func times(n int, s modelserver.Step, more ...modelserver.Step) []modelserver.Step {
	var all []modelserver.Step
	for range n {
		all = append(all, s)
	}
	return append(all, more...)
}

func scenarios() []scenario {
	write := `{"path":"` + never + `","content":"` + strings.Repeat("cut ", 40) + `"}`
	return []scenario{
		{name: "text", every: true, steps: []modelserver.Step{say()}, answer: answer},
		{
			name: "tool loop", every: true, steps: []modelserver.Step{modelserver.Call("read", readFact), say()}, answer: answer,
			check: func(t *testing.T, _ way, srv *modelserver.Server, _ []session.Event) { resultsHave(t, srv, fact) },
		},
		{
			name: "parallel calls", answer: answer,
			steps: []modelserver.Step{
				modelserver.Say("I look.").Call("read", readFact).Call("read", `{"path":"other.txt"}`).Call("list", `{}`), say(),
			},
			check: func(t *testing.T, _ way, srv *modelserver.Server, _ []session.Event) {
				resultsHave(t, srv, fact, "Nothing of interest", "other.txt")
			},
		},
		{
			name: "thinking", every: true, args: []string{"--thinking", "high"}, answer: answer,
			steps: []modelserver.Step{
				modelserver.Think("The file may tell.").Call("read", readFact).Call("read", `{"path":"other.txt"}`),
				modelserver.Think("Once more.").Say("I look again.").Call("list", `{}`),
				modelserver.Think("Now I know.").Say(answer),
			},
			check: thinkingGoesBack,
		},
		{
			name: "429 with retry-after", slow: true, answer: answer, says: []string{"attempt 2 of 4", "rate limited", "follows in 1"},
			steps: []modelserver.Step{modelserver.Fail(429).RetryAfter(time.Second), say()},
		},
		{
			name: "529 three times", steps: times(3, modelserver.Fail(529), say()), answer: answer,
			says: []string{"attempt 2 of 4", "attempt 3 of 4", "attempt 4 of 4", "overloaded"},
		},
		{
			name: "529 for good", steps: times(4, modelserver.Fail(529)), code: 1,
			says: []string{"attempt 4 of 4", "overloaded", "tenon run --session"},
		},
		{name: "500", steps: []modelserver.Step{modelserver.Fail(500), say()}, answer: answer, says: []string{"attempt 2 of 4", "overloaded"}},
		broken("cut in the text", modelserver.CutInText),
		{
			name: "cut in the text for good", steps: times(4, wrong().Fault(modelserver.CutInText)), code: 1,
			says: []string{"attempt 4 of 4", "tenon run --session"}, silent: []string{"nothing must remain"},
		},
		{
			name: "cut in a call", args: []string{"--yes"}, answer: answer, says: []string{"attempt 2 of 4"},
			steps: []modelserver.Step{modelserver.Call("write", write).Fault(modelserver.CutInCall), say()},
			check: nothingRan,
		},
		{
			name: "no last event after a call", args: []string{"--yes"}, answer: answer, says: []string{"attempt 2 of 4"},
			steps: []modelserver.Step{modelserver.Call("write", write).Fault(modelserver.NoLastEvent), say()},
			check: nothingRan,
		},
		broken("error event", modelserver.ErrorEvent, "overloaded"),
		broken("failed event", modelserver.FailedEvent),
		{
			name: "malformed line", answer: answer,
			steps: []modelserver.Step{say().Fault(modelserver.MalformedLine), say()}, skips: true,
		},
		broken("half a rune", modelserver.HalfRune),
		broken("no last event", modelserver.NoLastEvent),
		broken("empty answer", modelserver.Empty),
		broken("empty body", modelserver.EmptyBody),
		{
			name: "page of a proxy", answer: answer, steps: []modelserver.Step{say().Fault(modelserver.HTML), say()},
			says: []string{"attempt 2 of 4", "Sign in", "proxy"},
		},
		{
			name: "page of a proxy for good", code: 1, steps: times(4, say().Fault(modelserver.HTML)),
			says: []string{"attempt 4 of 4", "Sign in", "base URL", "proxy"},
		},
		{name: "wrong content type", answer: answer, steps: []modelserver.Step{say().Fault(modelserver.WrongType)}},
		broken("reset before headers", modelserver.ResetBeforeHeaders, "reset"),
		broken("reset after headers", modelserver.ResetAfterHeaders),
		broken("reset in the text", modelserver.ResetInText),
		{
			name: "corrupt", every: true, only: func(w way) bool { return w.protocol == modelserver.Bedrock }, answer: answer, says: []string{"attempt 2 of 4"},
			steps: []modelserver.Step{wrong().Fault(modelserver.Corrupt), say()}, silent: []string{"nothing must remain"},
		},
		{name: "401", every: true, code: 1, steps: []modelserver.Step{modelserver.Fail(401)}, says: []string{"auth", "401"}, silent: []string{"attempt"}},
		{name: "403", code: 1, steps: []modelserver.Step{modelserver.Fail(403)}, says: []string{"auth", "403"}, silent: []string{"attempt"}},
		{name: "404", every: true, code: 1, steps: []modelserver.Step{modelserver.Fail(404)}, says: []string{"404"}, silent: []string{"attempt"}},
		{
			name: "context overflow", every: true, code: 1, steps: []modelserver.Step{modelserver.Overflow()},
			says: []string{"context overflow"}, silent: []string{"attempt", "tenon run --session"},
		},
		{
			name: "refusal", only: refuses, code: 1, steps: []modelserver.Step{modelserver.Say("I cannot").Stop(llm.StopRefused)},
			answer: "I cannot", silent: []string{"attempt"}, says: []string{"declined to answer"}, // its text is its answer, and the exit code shows the refusal
		},
		{
			name: "refusal without words", only: refuses, code: 1, steps: []modelserver.Step{modelserver.Answer(llm.Message{Stop: llm.StopRefused})},
			silent: []string{"attempt"}, says: []string{"refused"},
		},
		// The script has the right answer more than once: a busy machine may send it so slowly that it counts as a stall.
		{
			name: "stall before headers", timeouts: `"first_byte":"1s"`, answer: answer, says: []string{"attempt 2 of 4", "stalled", "1s"},
			steps: []modelserver.Step{wrong().Fault(modelserver.StallBeforeHeaders), say(), say(), say()}, skips: true, silent: []string{"nothing must remain"},
		},
		{
			name: "stall before the first byte", timeouts: `"first_byte":"1s"`, answer: answer, says: []string{"attempt 2 of 4", "stalled", "1s"},
			steps: []modelserver.Step{wrong().Fault(modelserver.StallBeforeFirstByte), say(), say(), say()}, skips: true, silent: []string{"nothing must remain"},
		},
		{
			name: "stall in the stream", timeouts: `"idle":"1s"`, answer: answer, says: []string{"attempt 2 of 4", "stalled", "1s"},
			steps: []modelserver.Step{wrong().Fault(modelserver.StallInStream), say(), say(), say()}, skips: true, silent: []string{"nothing must remain"},
		},
		{
			name: "stall in a call", timeouts: `"first_byte":"1s","idle":"1s"`, args: []string{"--yes"}, answer: answer, says: []string{"attempt 2 of 4", "stalled"},
			steps: []modelserver.Step{modelserver.Call("write", write).Fault(modelserver.StallInStream), say(), say(), say()}, skips: true,
			check: nothingRan,
		},
		{
			name: "cut in the second turn", answer: answer, says: []string{"attempt 2 of 4"}, silent: []string{"nothing must remain"},
			steps: []modelserver.Step{modelserver.Think("Hm.").Call("read", readFact), wrong().Fault(modelserver.CutInText), say()},
			args:  []string{"--thinking", "high"},
			check: func(t *testing.T, _ way, srv *modelserver.Server, _ []session.Event) { resultsHave(t, srv, fact) },
		},
	}
}

// TestEveryProtocolThroughEveryFailure is the matrix: each way to a model, with nothing set but what the documentation names, through each
// thing that can happen.
func TestEveryProtocolThroughEveryFailure(t *testing.T) {
	for n, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			for i, s := range scenarios() {
				if s.only != nil && !s.only(w) || !s.every && !w.takes(n, i) {
					continue
				}
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					s.play(t, w)
				})
			}
		})
	}
}

func (s scenario) play(t *testing.T, w way) {
	p := newProject(t)
	srv := w.serve(p, modelserver.Steps(s.steps...))
	if retry := `"retry": {"delay": "5ms"}`; s.timeouts != "" || !s.slow {
		if s.slow {
			retry = `"retry": {}`
		}
		p.config(fmt.Sprintf(`{"providers": {%q: {%s, "timeouts": {%s}}}}`, w.of(), retry, s.timeouts))
	}
	r := p.tenon(append([]string{"run", "--model", w.ref()}, append(s.args, "How many keys are in the drawer?")...)...)
	if r.code != s.code {
		t.Errorf("exit code %d, want %d", r.code, s.code)
	}
	if want := s.answer + "\n"; r.stdout != want && (s.answer != "" || r.stdout != "") {
		t.Errorf("the answer is %q, want %q", r.stdout, want)
	}
	for _, want := range s.says {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, bad := range s.silent {
		if strings.Contains(r.stderr, bad) || strings.Contains(r.stdout, bad) {
			t.Errorf("it says %q", bad)
		}
	}
	for _, v := range srv.Violations() {
		t.Errorf("the server does not accept a request: %v", v)
	}
	if got := len(srv.Requests()); !s.skips && got != len(s.steps) {
		t.Errorf("%d requests, want %d", got, len(s.steps))
	}
	journal := p.journal()
	s.keeps(t, w, journal)
	p.keepsSecretOnDisk()
	if s.check != nil {
		s.check(t, w, srv, journal)
	}
	if t.Failed() {
		t.Logf("standard error:\n%s", r.stderr)
	}
}

// keeps checks what the journal has of the run.
func (s scenario) keeps(t *testing.T, w way, journal []session.Event) {
	t.Helper()
	end := ended(t, journal)
	if (end.Reason == session.ReasonDone) != (s.code == 0) {
		t.Errorf("the journal says that the run ended as %q", end.Reason)
	}
	all := answers(journal)
	for _, m := range all {
		if strings.Contains(m.Text(), "nothing must remain") {
			t.Errorf("the journal has a cut answer as a whole one: %q", m.Text())
		}
		if m.Usage.Input <= 0 || m.Usage.Output <= 0 {
			t.Errorf("the journal has an answer without usage: %+v", m.Usage)
		}
		if m.Model != w.ref() {
			t.Errorf("the journal has an answer of %q, want %q", m.Model, w.ref())
		}
	}
	if s.code != 0 {
		return
	}
	if len(all) == 0 || all[len(all)-1].Text() != s.answer {
		t.Errorf("the journal has not the answer: %v", all)
	}
	if end.Usage.Input <= 0 || end.Usage.Output <= 0 {
		t.Errorf("the end of the run has no usage: %+v", end.Usage)
	}
}

// resultsHave checks that the last request has the results of the calls in their order.
func resultsHave(t *testing.T, srv *modelserver.Server, want ...string) {
	t.Helper()
	requests := srv.Requests()
	results := requests[len(requests)-1].Results()
	if len(results) != len(want) {
		t.Fatalf("the request has %d results, want %d", len(results), len(want))
	}
	for i, m := range results {
		if !strings.Contains(m.Text(), want[i]) {
			t.Errorf("result %d is %q, want one with %q", i, m.Text(), want[i])
		}
	}
}

// thinkingGoesBack checks that reasoning goes back to the server with the calls that it led to, signature and all; the server checks
// the signature itself.
func thinkingGoesBack(t *testing.T, w way, srv *modelserver.Server, journal []session.Event) {
	t.Helper()
	kept := 0
	for _, m := range answers(journal) {
		for _, part := range m.Content {
			if p, ok := part.(llm.Thinking); ok && p.Text != "" {
				kept++
			}
		}
	}
	if kept != 3 {
		t.Errorf("the journal has %d thoughts, want 3", kept)
	}
	if !w.thinks {
		return
	}
	for i, r := range srv.Requests() {
		if n := thoughts(r); n != i {
			t.Errorf("request %d has %d thoughts of before, want %d", i+1, n, i)
		}
	}
}

// thoughts counts the answers in a request that have with them what their reasoning left.
func thoughts(r *modelserver.Request) int {
	n := bytes.Count(r.Body, []byte(`"reasoning_details":`))
	before := llm.RoleUser
	for _, m := range r.Messages {
		plain := r.Protocol == modelserver.Ollama && len(m.Content) > 0 // its thinking has no signature
		if plain {
			_, plain = m.Content[0].(llm.Thinking)
		}
		if m.Role == llm.RoleAssistant && before != llm.RoleAssistant && (plain || slices.ContainsFunc(m.Content, thoughtful)) {
			n++
		}
		before = m.Role
	}
	return n
}

func thoughtful(p llm.Part) bool {
	switch p := p.(type) {
	case llm.Thinking:
		return p.Signature != "" || len(p.Opaque) > 0
	case llm.ToolCall: // Gemini's signatures belong to the calls, and the reasoning itself does not go back
		return len(p.Opaque) > 0
	default:
		return false
	}
}

// nothingRan checks that no call was begun, since none was complete.
func nothingRan(t *testing.T, _ way, _ *modelserver.Server, journal []session.Event) {
	t.Helper()
	for _, e := range journal {
		if c, ok := e.Body.(session.CallStarted); ok {
			t.Errorf("a call ran with arguments that were cut: %s", c.Arguments)
		}
	}
}
