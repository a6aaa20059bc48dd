package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// later lets the remembered facts of a project be older, as if that time had passed.
func (p *project) later(d time.Duration) {
	p.t.Helper()
	name := filepath.Join(p.data, "state.json")
	data, err := os.ReadFile(name)
	if err != nil {
		p.t.Fatal(err)
	}
	var facts map[string]map[string]any
	if err := json.Unmarshal(data, &facts); err != nil || len(facts) == 0 {
		p.t.Fatalf("%v in %s", err, data)
	}
	for _, f := range facts {
		for _, field := range []string{"at", "until"} {
			at, err := time.Parse(time.RFC3339Nano, f[field].(string))
			if err != nil {
				p.t.Fatal(err)
			}
			f[field] = at.Add(-d)
		}
	}
	if data, err = json.Marshal(facts); err != nil {
		p.t.Fatal(err)
	}
	p.write(name, string(data))
}

// The second run begins with the key that answered the first one, without asking the key that rests. The lists show it. When it has rested, or
// after a test, Tenon asks it again.
func TestAKeyRestsBeyondTheProcess(t *testing.T) {
	t.Parallel()
	const first, second = "sk-first-0123456789abcdefghij", "sk-second-0123456789abcdefghij"
	w := wayOf(t, "anthropic")
	w.key = ""
	p := newProject(t)
	var limited atomic.Bool
	limited.Store(true)
	srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if r.Key == first && limited.Load() {
			return modelserver.Fail(429).RetryAfter(10 * time.Minute)
		}
		return say()
	}))
	p.secrets = append(p.secrets, first, second)
	p.config(fmt.Sprintf(`{"providers": {"anthropic": {"api_keys": [{"name": "mine", "key": %q}, {"name": "ours", "key": %q}]}}}`, first, second))
	run := func(want ...string) {
		t.Helper()
		before := len(srv.Requests())
		r := p.tenon("run", "--model", w.ref(), "How many keys?")
		if r.code != 0 || r.stdout != answer+"\n" {
			t.Errorf("exit code %d, answer %q; %s", r.code, r.stdout, r.stderr)
		}
		var keys []string
		for _, q := range srv.Requests()[before:] {
			keys = append(keys, q.Key)
		}
		if strings.Join(keys, " ") != strings.Join(want, " ") {
			t.Errorf("it used the keys %v, want %v", keys, want)
		}
	}
	run(first, second)
	run(second)
	r := p.tenon("auth", "list")
	text := strings.Join(strings.Fields(r.stdout), " ")
	if !strings.Contains(text, "key mine rests for "+w.ref()+" until 20") || strings.Count(text, "rests") != 1 || !strings.HasSuffix(text, ": rate limited") {
		t.Errorf("tenon auth list says\n%s", r.stdout)
	}
	if r = p.tenon("auth", "list", "--json"); !strings.Contains(r.stdout, `"resting":[{"model":"`+w.ref()+`","key":"mine","state":"cooling","until":"`) {
		t.Errorf("tenon auth list --json says\n%s", r.stdout)
	}
	if r = p.tenon("models"); !strings.Contains(strings.Join(strings.Fields(r.stdout), " "), "key mine rests for "+w.ref()+" until 20") {
		t.Errorf("tenon models says\n%s", r.stdout)
	}
	if r = p.tenon("models", "--json"); !strings.Contains(r.stdout, `"state": "cooling"`) && !strings.Contains(r.stdout, `"state":"cooling"`) {
		t.Errorf("tenon models --json says\n%.3000s", r.stdout)
	}
	p.keepsSecretOnDisk()

	p.later(9 * time.Minute)
	run(second)
	limited.Store(false)
	p.later(time.Minute)
	if r = p.tenon("auth", "list"); strings.Contains(r.stdout, "rests") {
		t.Errorf("tenon auth list says\n%s", r.stdout)
	}
	run(first)

	limited.Store(true)
	run(first, second)
	limited.Store(false)
	if r = p.tenon("models", "test", w.ref()); r.code != 0 {
		t.Error(r.stderr)
	}
	run(first)
}

// The next run begins with the model of a pool that answered the last one. Half an hour later the first model goes first again.
func TestThePickOfAPoolSurvives(t *testing.T) {
	t.Parallel()
	first, second := wayOf(t, "anthropic"), wayOf(t, "gemini")
	p := newProject(t)
	var down atomic.Bool
	down.Store(true)
	failing := first.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step {
		if down.Load() {
			return modelserver.Fail(503)
		}
		return say()
	}))
	second.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step { return say() }))
	p.config(fmt.Sprintf(`{"pools": {"both": [%q, %q]}, "providers": {"anthropic": {"retry": {"retries": 0}}}}`, first.ref(), second.ref()))
	run := func(want int) {
		t.Helper()
		before := len(failing.Requests())
		r := p.tenon("run", "--model", "both", "How many keys?")
		if n := len(failing.Requests()) - before; r.code != 0 || n != want {
			t.Errorf("exit code %d, the first model was asked %d times, want %d; %s", r.code, n, want, r.stderr)
		}
	}
	run(1)
	down.Store(false)
	run(0)
	r := p.tenon("models")
	if text := strings.Join(strings.Fields(r.stdout), " "); !strings.Contains(text, "; "+second.ref()+" answers until 20") {
		t.Errorf("tenon models says\n%s", r.stdout)
	}
	p.later(31 * time.Minute)
	run(1)
}

// Programs that ask no model, and a run that learns nothing, write no facts. A damaged file of facts stops nothing.
func TestFactsAreWrittenWhenThereAreSome(t *testing.T) {
	t.Parallel()
	w := wayOf(t, "anthropic")
	p := newProject(t)
	w.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step { return say() }))
	for _, args := range [][]string{{"version"}, {"models"}, {"auth", "list"}, {"run", "--model", w.ref(), "How many keys?"}} {
		if r := p.tenon(args...); r.code != 0 {
			t.Errorf("%v: exit code %d; %s", args, r.code, r.stderr)
		}
	}
	name := filepath.Join(p.data, "state.json")
	if all, err := filepath.Glob(name + "*"); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	for _, damage := range []string{"", "[]", `{"rest anthropic  x": {"until": 5}}`, strings.Repeat("\x00", 100)} {
		p.write(name, damage)
		for _, args := range [][]string{{"models"}, {"auth", "list"}, {"run", "--model", w.ref(), "How many keys?"}} {
			if r := p.tenon(args...); r.code != 0 {
				t.Errorf("%q, %v: exit code %d; %s", damage, args, r.code, r.stderr)
			}
		}
	}
}

// Short runs on a session whose summaries fail ask for a summary twice, not once per run. A person's request asks again.
func TestFailedSummariesSurvive(t *testing.T) {
	t.Parallel()
	w := wayOf(t, "anthropic")
	p := newProject(t)
	var asked atomic.Int32
	w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if strings.Contains(string(r.Body), "Write a summary of this conversation") {
			asked.Add(1)
			return modelserver.Fail(400).Message("no summaries today")
		}
		return say()
	}))
	p.config(fmt.Sprintf(`{"models": {%q: {"context": 30000, "max_output": 2000}}}`, w.ref()))
	run := func(args ...string) {
		t.Helper()
		if r := p.tenon(args...); r.code != 0 {
			t.Fatalf("exit code %d; %s", r.code, r.stderr)
		}
	}
	prompt := "How many keys? " + strings.Repeat("Look into the drawer, and count them. ", 300)
	run("run", "--model", w.ref(), prompt)
	for asked.Load() == 0 {
		run("run", "--continue", prompt)
	}
	for range 25 {
		run("run", "--continue", prompt)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("%d requests for a summary", n)
	}
	r := p.tenon("models")
	if text := strings.Join(strings.Fields(r.stdout), " "); !strings.Contains(text, ": "+w.ref()+": invalid request") || !strings.Contains(text, "2 summaries failed, last at 20") {
		t.Errorf("tenon models says\n%s", r.stdout)
	}
	if r := p.tenon("sessions", "compact", p.session()); asked.Load() != 3 {
		t.Errorf("a request of a person: %d requests; %s", asked.Load(), r.stderr)
	}
}
