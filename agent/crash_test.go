package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
)

// TestKilledAtEveryPoint kills a process that works through a run with file writes and commands: before and after every
// append to the journal and around every effect, and then lets another process go on. A sample of the points runs by default. Whatever
// the point,
//   - no entry is lost that the consumer had seen,
//   - no step with effects happens twice unless its outcome was reported as unknown in between,
//   - the journal is whole: no gaps, one end for every run, one result for every call,
//   - and the conversation ends as that of a run that was left alone, apart from what reports the interruption.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	calm := newCrash(t)
	points := calm.finish(t)
	calm.check(t)
	want := calm.conversation(t)
	if points < 100 {
		t.Fatalf("the run has %d points to die at; at least 100 are wanted", points)
	}
	t.Logf("%d points", points)
	for at := range points {
		if !sample.Takes(at, 5, 9) { // odd steps meet both sides of appends and effects
			continue
		}
		t.Run(fmt.Sprint(at+1), func(t *testing.T) {
			t.Parallel()
			c := newCrash(t)
			if c.work(t, at+1) {
				t.Fatalf("the process was not killed at point %d of %d", at+1, points)
			}
			c.finish(t)
			c.check(t)
			if got := c.conversation(t); got != want {
				t.Errorf("after a kill at point %d the conversation is\n%s\nwant\n%s", at+1, got, want)
			}
		})
	}
}

// TestKilledAgainAndAgain kills every process that continues the session at a random point, until one reaches the end.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	calm := newCrash(t)
	points := calm.finish(t)
	want := calm.conversation(t)
	for round := range 25 {
		if !sample.Takes(round, 3, 6) {
			continue
		}
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			c := newCrash(t)
			for kills := 0; kills < 12 && !c.work(t, 1+random.IntN(points/2)); kills++ {
			}
			c.finish(t)
			c.check(t)
			if got := c.conversation(t); got != want {
				t.Errorf("the conversation is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestKilledInTheMiddleOfAnAnswer kills a process from outside after it saved a part of an answer. The session shows that part.
// Continue replaces it. New input keeps it for the model.
func TestKilledInTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]struct {
		run  func(*agent.Agent) iter.Seq2[session.Event, error]
		want []string
	}{
		"continue": {
			run: func(a *agent.Agent) iter.Seq2[session.Event, error] {
				return a.Continue(t.Context(), agent.Continuation{})
			},
			want: []string{`user "do the work"`, `user hook "Mind the order."`, `assistant "All is well."`},
		},
		"new input": {
			run:  func(a *agent.Agent) iter.Seq2[session.Event, error] { return a.Run(t.Context(), llm.UserText("what?")) },
			want: []string{`user "do the work"`, `user hook "Mind the order."`, `assistant "All is " aborted`, `user "what?"`, `assistant "All is well."`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrash(t)
			c.killAt(t, "partial", "text All is \ndelay 300ms\ntext w\nhang")
			store, _ := c.store(t)
			b := &bench{t: t, store: store}
			var err error
			b.Agent, err = openOnly(t.Context(), store, agent.Options{Client: llmtest.New(t, "text All is well.")})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if got := b.texts(); !strings.HasPrefix(got, `user "do the work"`+"\n"+`user hook "Mind the order."`+"\n"+`assistant "All is `) || !strings.HasSuffix(got, "aborted") {
				t.Errorf("after the kill the conversation is\n%s", got)
			}
			collect(t, then.run(b.Agent))
			if got := strings.ReplaceAll(b.texts(), `is w"`, `is "`); got != strings.Join(then.want, "\n") {
				t.Errorf("the conversation is\n%s\nwant\n%s", got, strings.Join(then.want, "\n"))
			}
		})
	}
}

// crash is a session that processes work on and die of.
type crash struct {
	dir  string
	seen map[int64]session.ID // what consumers were shown, by number
}

func newCrash(t *testing.T) *crash {
	t.Helper()
	c := &crash{dir: t.TempDir(), seen: make(map[int64]session.ID)}
	files := filepath.Join(c.dir, "files")
	if err := os.Mkdir(files, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(files, "input"), []byte("what to do"), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// work runs one process, which kills itself at a point, and reports whether it came to its end instead.
func (c *crash) work(t *testing.T, at int) (finished bool) {
	t.Helper()
	_, finished = c.process(t, at)
	return finished
}

// finish runs one process to its end and returns how many points it passed.
func (c *crash) finish(t *testing.T) (points int) {
	t.Helper()
	points, finished := c.process(t, 0)
	if !finished {
		t.Fatal("the process did not come to its end")
	}
	return points
}

func (c *crash) process(t *testing.T, at int) (points int, finished bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashDir+"="+c.dir, fmt.Sprintf("%s=%d", crashPoint, at))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	failed := cmd.Run()
	for l := range strings.Lines(stdout.String()) {
		var seq int64
		var id session.ID
		if n, _ := fmt.Sscanf(l, "entry %d %s", &seq, &id); n == 2 {
			c.seen[seq] = id
		} else if n, _ := fmt.Sscanf(l, "finished %d", &points); n == 1 {
			finished = true
		}
	}
	if failed != nil && cmd.ProcessState.ExitCode() == 1 && stderr.Len() > 0 {
		t.Fatalf("the process failed: %s", stderr.String())
	}
	return points, finished
}

// killAt runs a process with a scripted model and kills it as soon as it has shown an entry of a kind.
func (c *crash) killAt(t *testing.T, kind, script string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), crashDir+"="+c.dir, crashModel+"="+script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && !strings.HasSuffix(lines.Text(), " "+kind); {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

func (c *crash) store(t *testing.T) (index.Store, session.SessionID) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(c.dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for s, err := range store.List(t.Context(), index.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		return store, s.ID
	}
	t.Fatal("there is no session")
	return nil, ""
}

// check looks at all that a crash must not break.
func (c *crash) check(t *testing.T) {
	t.Helper()
	store, id := c.store(t)
	events := collect(t, store.Read(t.Context(), id, 0))
	checkEntries(t, events)
	for seq, want := range c.seen {
		if seq > int64(len(events)) || events[seq-1].ID != want {
			t.Errorf("entry %d was shown and is lost", seq)
		}
	}
	starts := checkOutcomes(t, events)
	unknown := unknownOf(events)
	for step, traces := range tracesOf(c.dir) {
		if len(traces) > 1+unknown[step] {
			t.Errorf("step %s happened %d times and was reported as unknown %d times", step, len(traces), unknown[step])
		}
		if len(traces) > starts[step] {
			t.Errorf("step %s happened %d times, and the journal has %d starts of it", step, len(traces), starts[step])
		}
	}
	for name, want := range map[string]string{"a.txt": "by step 5.0", "b.txt": "by step 3.0", "g.txt": "by step 11.0"} {
		if got, err := os.ReadFile(filepath.Join(c.dir, "files", name)); err != nil || string(got) != want {
			t.Errorf("%s is %q (%v), want %q", name, got, err, want)
		}
	}
}

// checkOutcomes checks that the journal claims no more about a lost call than it knows: a call without a start did not run. A call
// with a start has an unknown outcome, unless it only reads. checkOutcomes returns how often each step was started.
func checkOutcomes(t *testing.T, events []session.Event) (starts map[string]int) {
	t.Helper()
	starts = make(map[string]int)
	asked := callsOf(events)
	begun := make(map[string]session.CallStarted)
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.CallStarted:
			begun[b.Call] = b
			starts[asked[b.Call].Step]++
		case session.Message:
			start, started := begun[b.CallID]
			want := session.OutcomeOK
			switch {
			case b.Role != llm.RoleTool || b.Outcome == session.OutcomeOK && started:
				continue
			case !started:
				want = session.OutcomeNotStarted
			case start.Again:
				want = session.OutcomeInterrupted
			default:
				want = session.OutcomeUnknown
			}
			if b.Outcome != want {
				t.Errorf("the result of call %s of %s is %q, want %q", b.CallID, b.Tool, b.Outcome, want)
			}
		}
	}
	return starts
}

// unknownOf counts for each step how often its outcome was reported as unknown.
func unknownOf(events []session.Event) map[string]int {
	unknown := make(map[string]int)
	asked := callsOf(events)
	for _, e := range events {
		m, ok := e.Body.(session.Message)
		if ok && m.Outcome == session.OutcomeUnknown && strings.Contains(m.Text(), "unknown") { // the model reads only the text
			unknown[asked[m.CallID].Step]++
		}
	}
	return unknown
}

func callsOf(events []session.Event) map[string]stepArgs {
	asked := make(map[string]stepArgs)
	for _, e := range events {
		m, _ := e.Body.(session.Message)
		for _, c := range m.Calls() {
			asked[c.ID] = argsOf(c)
		}
	}
	return asked
}

// conversation is the session's conversation without reports of interruptions: without results of lost calls, the calls
// themselves, and the checks of their effects. A step with an unknown outcome that a check found done appears with its
// result.
func (c *crash) conversation(t *testing.T) string {
	t.Helper()
	store, id := c.store(t)
	messages, err := view.Messages(context.WithoutCancel(t.Context()), view.Stored(store, id, ""))
	if err != nil {
		t.Fatal(err)
	}
	asked := callsOf(messages)
	results := make(map[string]string)
	var others []string
	for _, e := range messages {
		m := e.Body.(session.Message)
		step := asked[m.CallID]
		switch {
		case m.Role == llm.RoleTool && m.Tool == "check":
			if m.Text() == "done" {
				results[step.Step] = stepResult(step)
			}
		case m.Role == llm.RoleTool && !m.IsError:
			results[step.Step] = m.Text()
		case m.Role == llm.RoleTool, len(m.Calls()) > 0:
		default:
			others = append(others, message(m))
		}
	}
	for _, step := range slices.Sorted(maps.Keys(results)) {
		others = append(others, step+" "+results[step])
	}
	return strings.Join(others, "\n")
}
