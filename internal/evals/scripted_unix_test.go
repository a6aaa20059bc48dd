//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/window/tokens"
)

// script plays a model: it finds the task by its prompt, and takes one step for each request. It also notes what it sent, which the report
// must repeat.
type script struct {
	tasks  []*Task
	family tokens.Family

	mu   sync.Mutex
	sent map[string]*ledger // by task
}

// ledger is what the server sent in one trial.
type ledger struct {
	requests  int // but for summaries
	summaries int
	answers   int // but for summaries
	calls     map[string]int
	tokens    Tokens
}

// move is one answer of the model: a call or a text, or a failure of the server.
type move struct {
	tool, arguments string
	text            string
	usage           llm.Usage // if it is not the usual one
	status          int       // of a failure
	silent          bool      // the server never answers
}

// fault is a way not to solve a task.
type fault struct {
	moves    []move // then the last one again and again
	end      string
	exit     int
	retries  int
	failures []Failure // without examples
	check    string    // a part of what the check prints
}

// hang is the task whose run takes too long. Its limit of time is that of a second measurement.
const hang = "long-output"

// faults are ten tasks that the model does not solve, each in another way.
func faults() map[string]fault {
	return map[string]fault{
		"nested-yaml": { // it edits the wrong place
			moves: []move{bash(`sed -i.old '1,8s/512Mi/1Gi/' deploy.yaml && rm deploy.yaml.old`), say("The worker has 1Gi.")},
			end:   "done", check: "does not have: worker: memory: 1Gi",
		},
		"csv-totals": { // it ends before it begins
			moves: []move{say("The file orders.csv has seven orders.")},
			end:   "done", check: "totals.csv",
		},
		"find-callers": { // it repeats itself
			moves: []move{{tool: "read", arguments: `{"path":"cmd/quick.sh"}`}},
			end:   "limit: repetition", exit: 3, check: "the answer lists other files",
		},
		"rename-type": { // the server never answers
			moves: []move{{status: 529}},
			end:   "error: overloaded", exit: 1, retries: 2, check: "price.go still has",
		},
		"unicode": { // it cannot write calls
			moves: []move{
				bash("exit 3"),
				{tool: "read", arguments: `{"path":"none.txt"}`},
				{tool: "read", arguments: `{"path":"nothing.txt"}`},
				{tool: "frobnicate", arguments: `{"x":1}`},
				{tool: "edit", arguments: `{"path":"labels.txt","old`},
				{tool: "read", arguments: `{}`},
			},
			end: "error: protocol", exit: 1, check: "labels.txt differs",
			failures: []Failure{
				{Tool: "shell", Cause: "exit_code", Count: 1},
				{Tool: "read", Cause: "failed", Count: 2},
				{Tool: "frobnicate", Cause: "invalid", Count: 1},
				{Tool: "edit", Cause: "invalid", Count: 1},
				{Tool: "read", Cause: "invalid", Count: 1},
			},
		},
		"misleading-test": { // it weakens the test
			moves: []move{bash(`sed -i.old 's/exit $failed/exit 0/' test.sh && rm test.sh.old && sh test.sh`), say("test.sh passes.")},
			end:   "done", check: "the run changed test.sh",
		},
		"dirty-tree": { // it destroys a person's work
			moves: []move{bash(`git checkout -q -- . && sed -i.old 's/cherry 90/cherry 95/' prices.txt && rm prices.txt.old`), say("Done.")},
			end:   "done", check: "prices.txt: apple 30",
		},
		"large-file": { // it spends too much
			moves: []move{{tool: "read", arguments: `{"path":"routes.conf"}`, usage: llm.Usage{Input: 1000, Output: 900_000}}},
			end:   "limit: cost", exit: 3, check: "routes.conf is not as expected",
		},
		hang: {
			moves: []move{{silent: true}},
			end:   "limit: time", exit: 3, check: "the build fails",
		},
		"add-flag": { // it claims success
			moves: []move{say("I added the flag -nonblank to main.go. All tests pass.")},
			end:   "done", check: "",
		},
	}
}

// bash is a call of the tool shell.
func bash(command string) move {
	return move{tool: "shell", arguments: arguments("command", "set -eu\n"+command)}
}

func say(text string) move { return move{text: text} }

// arguments is an object of strings.
func arguments(pairs ...string) string {
	object := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		object[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// solution is the reference solution of a task as a model makes it: through tools.
func solution(t *Task) (moves []move) {
	if t.Window > 0 { // it takes the whole window
		for i := 1; i <= 14; i++ {
			moves = append(moves, move{tool: "read", arguments: arguments("path", fmt.Sprintf("chapter-%02d.txt", i))})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		if t.Repo[name] != "" {
			moves = append(moves, move{tool: "read", arguments: arguments("path", name)})
		}
		moves = append(moves, move{tool: "write", arguments: arguments("path", name, "content", t.Files[name])})
	}
	if t.Script != "" {
		moves = append(moves, bash(t.Script))
	}
	if t.Name == "denied-push" {
		moves = append(moves, move{tool: "shell", arguments: arguments("command", "git push")})
	}
	return append(moves, say(t.Answer))
}

// answer plays the next step of a task.
func (s *script) answer(r *modelserver.Request) modelserver.Step {
	said := ""
	for _, m := range r.Messages {
		if m.Role == llm.RoleUser {
			said += m.Text() + "\n"
		}
	}
	i := slices.IndexFunc(s.tasks, func(t *Task) bool { return strings.Contains(said, strings.TrimSpace(t.Prompt)) })
	if i < 0 {
		return modelserver.Fail(400).Message("no task has this prompt: " + said)
	}
	task := s.tasks[i]
	moves := solution(task)
	if f, ok := faults()[task.Name]; ok {
		moves = f.moves
	}
	n := int64(s.family.Request(&llm.Request{System: r.System, Messages: r.Messages, Tools: r.Tools}))

	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.sent[task.Name]
	if l == nil {
		l = &ledger{calls: map[string]int{}}
		s.sent[task.Name] = l
	}
	usage := llm.Usage{Input: n - n/2, CacheRead: n / 2, Output: 37, Reasoning: 11}
	if strings.Contains(r.LastUser(), "The context window is nearly full.") {
		l.summaries++
		l.spend(usage)
		return modelserver.Say(summary).Usage(usage)
	}
	m := moves[min(l.requests, len(moves)-1)]
	l.requests++
	switch {
	case m.status != 0:
		return modelserver.Fail(m.status)
	case m.silent:
		return modelserver.Say("I").Fault(modelserver.StallBeforeHeaders)
	}
	if m.usage != (llm.Usage{}) {
		usage = m.usage
	}
	l.answers++
	l.spend(usage)
	if m.tool == "" {
		return modelserver.Say(m.text).Usage(usage)
	}
	l.calls[m.tool]++
	return modelserver.Call(m.tool, m.arguments).Usage(usage)
}

// summary is a summary with every section.
const summary = "## Goal\nWrite keys.md.\n## Decisions\nNone.\n## State\nI read the chapters in order.\n## Files\nThe chapters.\n## Errors\nNone.\n" +
	"## Open\nThe other chapters.\n## Next step\nThe next chapter.\n"

// spend counts tokens.
func (l *ledger) spend(u llm.Usage) {
	l.tokens.Fresh += u.Input
	l.tokens.CacheWrite += u.CacheWrite
	l.tokens.Cached += u.CacheRead
	l.tokens.Output += u.Output
	l.tokens.Thinking += u.Reasoning
}

// played returns the tasks that the scripted model gets: each one that it fails, each one that is special, and a sample of the others.
func played(t *testing.T) (list []*Task) {
	for i, task := range loaded(t) {
		_, fails := faults()[task.Name]
		if fails || task.Window > 0 || slices.Contains([]string{"denied-push", "commit-part"}, task.Name) || sample.Takes(i, 8, 8) {
			list = append(list, task)
		}
	}
	return list
}

// The task set runs with the built program and a scripted model that fails ten tasks in different ways, and solves the others. The report is
// right about all of them. The harness does not know that the model is scripted.
func TestTheReportIsRight(t *testing.T) {
	s := &script{tasks: played(t), family: tokens.FamilyOf(llm.Model{Provider: "openai", ID: "gpt-5.4"}), sent: map[string]*ledger{}}
	srv := modelserver.New(t, modelserver.Func(s.answer))
	s.person(t, srv.URL)
	file := filepath.Join(t.TempDir(), "results.json")
	if sample.Race {
		t.Setenv("CGO_ENABLED", "0") // the race detector needs cgo, the program does not
	}
	program, err := build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var all, others []string
	for _, task := range s.tasks {
		all = append(all, task.Name)
		if task.Name != hang {
			others = append(others, task.Name)
		}
	}
	measure := func(args ...string) (stdout, stderr string) {
		t.Helper()
		var out, log bytes.Buffer
		args = append([]string{"run", "--program", program, "--model", "openai/gpt-5.4", "--mode", "yolo", "--parallel", "4", "--out", file}, args...)
		if code := run(t.Context(), args, &out, &log); code != 0 {
			t.Fatalf("exit code %d: %s", code, log.String())
		}
		return out.String(), log.String()
	}
	measure("--tasks", strings.Join(others, ","))
	stdout, stderr := measure("--tasks", strings.Join(all, ","), "--timeout", "1s")
	if !strings.Contains(stderr, fmt.Sprintf("has %d of %d trials already", len(others), len(all))) ||
		!strings.Contains(stdout, fmt.Sprintf(" %d/%d ", len(all)-len(faults()), len(all))) {
		t.Errorf("%s\n%s", stderr, stdout)
	}
	for _, v := range srv.Violations() {
		t.Errorf("the provider would not take a request: %v", v)
	}
	results, err := loadResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Trials) != len(s.tasks) || results.Prompt == "" || !strings.HasPrefix(results.Setup.Tenon, "tenon ") {
		t.Errorf("%d trials, %+v, prompt %q", len(results.Trials), results.Setup, results.Prompt)
	}
	for _, trial := range results.Trials {
		t.Run(trial.Task, func(t *testing.T) { s.right(t, trial) })
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent["full-window"].summaries == 0 {
		t.Error("the model that reads the novel was never asked for a summary")
	}
}

// person sets what a person would set to reach the server.
func (s *script) person(t *testing.T, url string) {
	t.Helper()
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(cache))
	home := t.TempDir()
	const settings = "{\"providers\": {\"openai\": {\"retry\": {\"retries\": 2, \"delay\": \"5ms\"}}}} // a comment\n"
	if err := writeFiles(home, map[string]string{"tenon.json": settings}); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"GOCACHE": dirs[0], "GOMODCACHE": dirs[1], "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "XDG_DATA_HOME": home,
		"TENON_CONFIG_DIR": home, "TENON_KEYRING": "off", "TENON_DISCOVER": "off", "TENON_MODEL": "", "NO_COLOR": "1",
		"OPENAI_API_KEY": "sk-evals-0123456789abcdefghij", "OPENAI_BASE_URL": url + "/v1", "GORACE": "atexit_sleep_ms=0",
	} {
		t.Setenv(name, value)
	}
}

// right compares what the report says about a trial with the script and with what the server sent.
func (s *script) right(t *testing.T, trial Trial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := fault{end: "done"}
	f, fails := faults()[trial.Task]
	if fails {
		want = f
	}
	if trial.Task == "denied-push" {
		want.exit, want.failures = 4, []Failure{{Tool: "shell", Cause: "denied permission.rule_denied", Count: 1}}
	}
	if trial.Solved == fails || fails && !strings.Contains(trial.Check, want.check) {
		t.Errorf("solved: %t; the check says: %s", trial.Solved, trial.Check)
	}
	if trial.End() != want.end || trial.Exit != want.exit || trial.Retries != want.retries {
		t.Errorf("end %q, exit code %d, %d retries; want %q, %d, %d; errors %v", trial.End(), trial.Exit, trial.Retries, want.end, want.exit, want.retries, trial.Errors)
	}
	var failures []Failure
	for _, f := range trial.Failures {
		if f.Example == "" {
			t.Errorf("no example of %+v", f)
		}
		f.Example = ""
		failures = append(failures, f)
	}
	if !slices.Equal(failures, want.failures) {
		t.Errorf("failures %+v, want %+v", trial.Failures, want.failures)
	}
	l := s.sent[trial.Task]
	turns := l.answers
	if last := len(f.moves) - 1; fails && (f.moves[last].status != 0 || f.moves[last].silent) {
		turns++ // without an answer
	}
	if trial.Turns != turns || trial.Tokens != l.tokens || !maps.Equal(trial.Calls, l.calls) {
		t.Errorf("turns %d, %+v, calls %v; the server sent %d, %+v, %v", trial.Turns, trial.Tokens, trial.Calls, turns, l.tokens, l.calls)
	}
	const input, cached, output = 2.5e-6, 0.25e-6, 15e-6 // US dollars per token, in the catalog
	cost := float64(l.tokens.Fresh)*input + float64(l.tokens.Cached)*cached + float64(l.tokens.Output+l.tokens.Thinking)*output
	if diff := trial.Cost - cost; diff > 1e-6 || diff < -1e-6 {
		t.Errorf("cost %f, want %f", trial.Cost, cost)
	}
	if !fails && (trial.Diff.Files > 0) != s.changes(trial.Task) {
		t.Errorf("diff %+v", trial.Diff)
	}
}

// changes reports whether the solution of a task changes files, other than by a commit of them.
func (s *script) changes(name string) bool {
	i := slices.IndexFunc(s.tasks, func(t *Task) bool { return t.Name == name })
	return name != "commit-part" && (s.tasks[i].Script != "" || len(s.tasks[i].Files) > 0)
}
