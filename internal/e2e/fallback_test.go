package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// apart returns ways that can be set up together: no two read the same variables.
func apart(t *testing.T) []way {
	t.Helper()
	var all []way
	for _, name := range []string{"anthropic", "azure", "openai", "gemini", "bedrock", "vertex-claude"} {
		all = append(all, wayOf(t, name))
	}
	return all
}

// forGood is a way in which a model fails so that no other try helps, and the answers that it takes.
type forGood struct {
	name  string
	steps []modelserver.Step
	reset bool // something of an answer had come
}

func waysToFail() []forGood {
	return []forGood{
		{"529", times(4, modelserver.Fail(529)), false},
		{"cut in the text", times(4, wrong().Fault(modelserver.CutInText)), true},
		{"401", times(1, modelserver.Fail(401)), false},
		{"stall in the stream", times(2, wrong().Fault(modelserver.StallInStream)), true},
		{"error event", times(4, wrong().Fault(modelserver.ErrorEvent)), true},
	}
}

// TestAnotherProtocolTakesOver lets each protocol fail for good in the middle of a tool loop, and each other one continue the
// conversation: with reasoning, parallel calls and their results, one of them an error.
func TestAnotherProtocolTakesOver(t *testing.T) {
	n := 0
	for _, first := range apart(t) {
		for _, second := range apart(t) {
			if first.name == second.name {
				continue
			}
			how := waysToFail()[n%len(waysToFail())]
			if n++; !sample.Takes(n, 3, 4) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %s, %s", first.name, how.name, second.name), func(t *testing.T) {
				t.Parallel()
				takeOver(t, first, second, how)
			})
		}
	}
}

func takeOver(t *testing.T, first, second way, how forGood) {
	p := newProject(t)
	begin := modelserver.Think("Both files.").Say("I look.").Call("read", readFact).Call("read", `{"path":"missing.txt"}`)
	failing := first.serve(p, modelserver.Steps(append([]modelserver.Step{begin}, how.steps...)...))
	helping := second.serve(p, modelserver.Steps(modelserver.Think("Again.").Call("list", `{}`), say()))
	const settings = `{"retry": {"delay": "5ms"}, "timeouts": {"idle": "400ms"}}`
	p.config(fmt.Sprintf(`{"pools": {"both": [%q, %q]}, "providers": {%q: %s, %q: %s}}`,
		first.ref(), second.ref(), first.of(), settings, second.of(), settings))

	r := p.tenon("run", "--model", "both", "--thinking", "high", "--output", "stream-json", "How many keys?")
	events, end := streamed(t, r.stdout)
	if r.code != 0 || end.Answer != answer {
		t.Errorf("exit code %d, answer %q; %s", r.code, end.Answer, r.stderr)
	}
	for name, srv := range map[string]*modelserver.Server{first.name: failing, second.name: helping} {
		for _, v := range srv.Violations() {
			t.Errorf("%s does not accept a request: %v", name, v)
		}
		if srv.Left() > 0 {
			t.Errorf("%s was asked %d times too seldom", name, srv.Left())
		}
	}
	routed, reset := 0, 0
	for _, e := range events {
		switch b := e.Body.(type) {
		case live.Routed:
			routed++
			if b.Model != second.ref() || b.Cause == nil || b.Cause.Model != first.ref() {
				t.Errorf("the journal says that %s continues because of %v", b.Model, b.Cause)
			}
		case live.Reset:
			reset++
		}
	}
	if wantReset := len(how.steps); routed != 1 || how.reset && reset != wantReset || !how.reset && reset != 0 {
		t.Errorf("the journal has %d changes of the model and %d voided answers", routed, reset)
	}
	resultsHave(t, helping, fact, "missing.txt", "fact.txt")
	journal := p.journal()
	if all := answers(journal); len(all) != 3 || all[0].Model != first.ref() || all[1].Model != second.ref() || all[2].Model != second.ref() {
		t.Errorf("the journal has these answers: %v", all)
	}
	ended(t, journal)
	p.keepsSecretOnDisk()
}

// streamed reads what --output stream-json wrote: the events, and what came of it.
func streamed(t testing.TB, out string) (events []session.Event, end struct {
	Answer   string
	Data     json.RawMessage
	ExitCode int `json:"exit_code"`
},
) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 2 || !strings.Contains(lines[0], `"tenon.stream"`) || !strings.Contains(lines[len(lines)-1], `"tenon.result"`) {
		t.Fatalf("this is no stream of events: %.500s", out)
	}
	for _, line := range lines[1 : len(lines)-1] {
		var e session.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %.300s", err, line)
		}
		events = append(events, e)
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil {
		t.Fatal(err)
	}
	return events, end
}

// TestAnotherKeyTakesOver gives each provider that has keys two of them, of which the first is refused or used up.
func TestAnotherKeyTakesOver(t *testing.T) {
	for n, w := range ways() {
		if w.key == "" || w.key == googleToken || len(w.secrets) > 0 {
			continue // it has no keys to choose from
		}
		for i, status := range []int{401, 402, 429} {
			if !w.takes(n, i) {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d", w.name, status), func(t *testing.T) {
				t.Parallel()
				anotherKey(t, w, status)
			})
		}
	}
}

func anotherKey(t *testing.T, w way, status int) {
	const first, second = "sk-first-0123456789abcdefghij", "sk-second-0123456789abcdefghij"
	p := newProject(t)
	w.key = ""
	srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		switch {
		case r.Key == first:
			return modelserver.Fail(status)
		case len(r.Results()) == 0:
			return modelserver.Call("read", readFact)
		default:
			return say()
		}
	}))
	p.secrets = append(p.secrets, first, second)
	p.config(fmt.Sprintf(`{"providers": {%q: {"retry": {"delay": "5ms"}, "api_keys": [{"name": "mine", "key": %q}, {"name": "ours", "key": %q}]}}}`,
		w.of(), first, second))
	r := p.tenon("run", "--model", w.ref(), "How many keys?")
	if r.code != 0 || r.stdout != answer+"\n" || !strings.Contains(r.stderr, "key ours") {
		t.Errorf("exit code %d, answer %q; %s", r.code, r.stdout, r.stderr)
	}
	var keys []string
	for _, q := range srv.Requests() {
		keys = append(keys, q.Key)
	}
	if got, want := strings.Join(keys, " "), strings.Join([]string{first, second, second}, " "); got != want {
		t.Errorf("it used the keys %s, want %s", got, want)
	}
	if v := srv.Violations(); len(v) > 0 {
		t.Error(v)
	}
	p.keepsSecretOnDisk()
}

// TestWhenNothingHelpsItSaysWhat is a pool of which every model fails.
func TestWhenNothingHelpsItSaysWhat(t *testing.T) {
	t.Parallel()
	first, second := wayOf(t, "anthropic"), wayOf(t, "gemini")
	p := newProject(t)
	first.serve(p, modelserver.Steps(modelserver.Fail(401)))
	second.serve(p, modelserver.Steps(times(4, modelserver.Fail(503))...))
	p.config(fmt.Sprintf(`{"pools": {"both": [%q, %q]}, "providers": {"anthropic": {"retry": {"delay": "5ms"}}}}`, first.ref(), second.ref()))
	r := p.tenon("run", "--model", "both", "How many keys?")
	if r.code != 1 || r.stdout != "" {
		t.Errorf("exit code %d, answer %q", r.code, r.stdout)
	}
	for _, want := range []string{"continuing with " + second.ref(), second.ref() + ": overloaded", "also failed: " + first.ref() + ": auth"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("%q does not say %q", r.stderr, want)
		}
	}
}
