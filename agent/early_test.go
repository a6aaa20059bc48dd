package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// slow is a tool that reads a path in a while, and notes what the model knows.
func slow(l *callLog, known *[]string) tool.Tool {
	var mu sync.Mutex
	return tool.New("slow", "Look slowly.",
		func(_ context.Context, a look) (tool.Effects, error) {
			return tool.Effects{Reads: []tool.Path{tool.File(a.Path)}, Idempotent: true}, nil
		},
		func(ctx context.Context, a look, report tool.Report) (tool.Result, error) {
			l.add("slow(%s)", a.Path)
			report("looking at " + a.Path)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				l.add("stopped(%s)", a.Path)
				return tool.Result{}, ctx.Err()
			}
			tool.WhenUsed(ctx, func() {
				mu.Lock()
				defer mu.Unlock()
				*known = append(*known, a.Path)
			})
			return tool.TextResult("seen " + a.Path), nil
		})
}

// After three complete calls the stream takes three more seconds. The calls take one: they are over by then.
func TestCallsBeginEarly(t *testing.T) {
	script := `call slow {"path":"/a"}` + "\n" + `call slow {"path":"/b"}` + "\n" + `call slow {"path":"/c"}` + "\ndelay 3s\ntext I look.\n---\ntext done"
	for name, c := range map[string]struct {
		gate agent.Gate
		want time.Duration
	}{
		"with":    {agent.AllowAll(), 3 * time.Second},
		"without": {agent.GateFunc(func(context.Context, agent.Proposed) agent.Verdict { return agent.Verdict{Allow: true} }), 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var known []string
				b := newBench(t, script, func(o *agent.Options) { o.Gate = c.gate })
				if err := b.Set(t.Context(), agent.Change{Tools: append(b.log.tools(), slow(b.log, &known))}); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				events := b.run("go")
				if took := time.Since(begun); took != c.want {
					t.Errorf("the run took %s, want %s", took, c.want)
				}
				results := toolResults(events)
				if len(results) != 3 || results[0].Outcome != session.OutcomeOK || len(known) != 3 {
					t.Errorf("%s\nthe model knows %q", trace(events), known)
				}
				progress := 0
				for _, e := range events {
					if e.Body.Kind() == "progress" {
						progress++
					}
				}
				if progress != 3 {
					t.Errorf("%d reports of progress:\n%s", progress, trace(events))
				}
			})
		})
	}
}

// Some calls cannot begin early, and no call after them can.
func TestCallsThatWait(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		early  string // the calls that began before the answer was complete
		change func(o *agent.Options)
	}{
		"after a write":  {`call change {"path":"/a"}` + "\n" + `call slow {"path":"/b"}`, "", nil},
		"before a write": {`call slow {"path":"/b"}` + "\n" + `call change {"path":"/a"}`, "slow(/b)", nil},
		"a command":      {`call command {"path":"/a"}`, "", nil},
		"unknown":        {`call nothing {}` + "\n" + `call slow {"path":"/b"}`, "", nil},
		"the same twice": {`call slow {"path":"/b"}` + "\n" + `call slow {"path":"/b"}`, "slow(/b)", nil},
		"bad arguments":  {`call slow {"path":1}` + "\n" + `call slow {"path":"/b"}`, "", nil},
		"one at a time":  {`call slow {"path":"/b"}`, "", func(o *agent.Options) { o.Execution = agent.Sequential() }},
		"a gate that may ask": {`call slow {"path":"/b"}`, "", func(o *agent.Options) {
			o.Gate = agent.GateFunc(func(context.Context, agent.Proposed) agent.Verdict { return agent.Verdict{Allow: true} })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var known []string
				var atEnd string
				b := newBench(t, c.script+"\ndelay 3s\ntext x\n---\ntext done", func(o *agent.Options) {
					o.Gate = agent.AllowAll()
					if c.change != nil {
						c.change(o)
					}
				})
				if err := b.Set(t.Context(), agent.Change{Tools: append(b.log.tools(), slow(b.log, &known))}); err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(2*time.Second, func() { atEnd = b.log.String() })
				b.run("go")
				synctest.Wait() // the timer has fired
				if atEnd != c.early {
					t.Errorf("calls before the end of the answer: %q, want %q", atEnd, c.early)
				}
			})
		})
	}
}

// An answer that breaks off, a hook that changes or denies the call, and a person who steers discard the early call: it has no trace.
func TestDiscardedCalls(t *testing.T) {
	const call = `call slow {"path":"/a"}`
	for name, c := range map[string]struct {
		script string
		hook   agent.Hook
		steer  bool
		log    string
		known  string
	}{
		"the answer begins again": {call + "\ndelay 500ms\nreset\ntext never mind", agent.Hook{}, false, "slow(/a) stopped(/a)", ""},
		"the stream fails":        {call + "\ndelay 2s\nerror other \"down\"", agent.Hook{}, false, "slow(/a)", ""},
		"a hook changes it": {call + "\ndelay 2s\ntext x\n---\ntext done", agent.Hook{Name: "h", BeforeCall: func(context.Context, agent.Proposed) (string, error) {
			return `{"path":"/b"}`, nil
		}}, false, "slow(/a) slow(/b)", "/b"},
		"a hook denies it": {call + "\ndelay 2s\ntext x\n---\ntext done", agent.Hook{Name: "h", BeforeCall: func(context.Context, agent.Proposed) (string, error) {
			return "", fmt.Errorf("no")
		}}, false, "slow(/a)", ""},
		"a person steers": {call + "\ndelay 2s\ntext x\n---\ntext done", agent.Hook{}, true, "slow(/a)", ""},
		"it is used":      {call + "\ndelay 2s\ntext x\n---\ntext done", agent.Hook{}, false, "slow(/a)", "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var known []string
				b := newBench(t, c.script, func(o *agent.Options) {
					o.Gate = agent.AllowAll()
					if c.hook.Name != "" {
						o.Hooks = []agent.Hook{c.hook}
					}
				})
				if err := b.Set(t.Context(), agent.Change{Tools: append(b.log.tools(), slow(b.log, &known))}); err != nil {
					t.Fatal(err)
				}
				if c.steer {
					time.AfterFunc(1500*time.Millisecond, func() {
						if _, err := b.Steer(t.Context(), text("wait")); err != nil {
							t.Error(err)
						}
					})
				}
				for range b.Run(t.Context(), text("go")) { // some of the runs fail
				}
				synctest.Wait()
				if got := b.log.String(); got != c.log {
					t.Errorf("calls: %q, want %q", got, c.log)
				}
				if got := strings.Join(known, " "); got != c.known {
					t.Errorf("the model knows %q, want %q", got, c.known)
				}
			})
		})
	}
}

// The journal of random scripts is the same with early calls and without.
func TestTheJournalIsTheSame(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	began := 0
	for seed := range n {
		script := randomScript(rand.New(rand.NewPCG(uint64(seed), 15)))
		with, early := journalOf(t, script, true)
		without, _ := journalOf(t, script, false)
		began += early
		if with != without {
			t.Fatalf("seed %d:\n%s\n\nwith early calls:\n%s\n\nwithout:\n%s", seed, script, with, without)
		}
	}
	if began < n/2 {
		t.Errorf("only %d calls began early in %d scripts", began, n)
	}
}

// randomScript is a script of some answers with calls, delays, failures and resets.
func randomScript(rng *rand.Rand) string {
	var turns []string
	for range 1 + rng.IntN(4) {
		var lines []string
		for range rng.IntN(6) {
			path := string(rune('a' + rng.IntN(3)))
			lines = append(lines, []string{
				"text words", "delay 1500ms", fmt.Sprintf(`call slow {"path":"/%s"}`, path), fmt.Sprintf(`call look {"path":"/%s"}`, path),
				fmt.Sprintf(`call look {"path":"/%s"}`, path), fmt.Sprintf(`call change {"path":"/%s"}`, path), `call command {"path":"x"}`, `call look {"path":2}`,
				`call unknown {}`, `call look {"path":"/denied"}`, `call look {"path":"/hooked"}`,
			}[rng.IntN(11)])
		}
		switch rng.IntN(8) {
		case 0:
			lines = append(lines, "reset")
		case 1:
			lines = append(lines, "stop length")
		case 2:
			turns = append(turns, strings.Join(append(lines, "delay 100ms", `error other "down"`), "\n"))
			continue
		}
		turns = append(turns, strings.Join(append(lines, "text end"), "\n"))
	}
	return strings.Join(append(turns, "text done"), "\n---\n")
}

// journalOf runs a script and returns its journal without what differs in any two runs: times, IDs, and the order in which calls end that run at
// the same time. It also returns how many calls began early.
func journalOf(t *testing.T, script string, foresight bool) (journal string, early int) {
	synctest.Test(t, func(t *testing.T) {
		var known []string
		gate := foreseeing{on: foresight, began: &early}
		b := newBench(t, script, func(o *agent.Options) {
			o.Gate = gate
			o.Hooks = []agent.Hook{{Name: "h", BeforeCall: func(_ context.Context, p agent.Proposed) (string, error) {
				if strings.Contains(string(p.Arguments), "hooked") {
					return `{"path":"/other"}`, nil
				}
				return "", nil
			}}}
		})
		if err := b.Set(t.Context(), agent.Change{Tools: append(b.log.tools(), slow(b.log, &known))}); err != nil {
			t.Fatal(err)
		}
		for range b.Run(t.Context(), text("go")) {
		}
		var lines, together []string
		flush := func() {
			slices.Sort(together)
			lines = append(lines, together...)
			together = nil
		}
		for e, err := range b.store.Read(t.Context(), b.Session(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			line := entryLine(t, e)
			if m, ok := e.Body.(session.Message); ok && m.CallID != "" || e.Body.Kind() == "call_started" {
				together = append(together, line)
				continue
			}
			flush()
			lines = append(lines, line)
		}
		flush()
		journal = strings.Join(lines, "\n")
	})
	return journal, early
}

// entryLine is an entry without its times.
func entryLine(t *testing.T, e session.Event) string {
	t.Helper()
	if e.Body.Kind() == "requested" || e.Body.Kind() == "created" || e.Body.Kind() == "run_started" {
		return e.Body.Kind()
	}
	data, err := json.Marshal(e.Body)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	delete(fields, "elapsed")
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return e.Body.Kind() + " " + string(text)
}

// foreseeing is a gate that denies one path.
type foreseeing struct {
	on    bool
	began *int
}

func (foreseeing) allows(c agent.Proposed) bool {
	return !strings.Contains(string(c.Arguments), "denied")
}

func (g foreseeing) Decide(_ context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
	out := make([]agent.Verdict, len(calls))
	for i, c := range calls {
		out[i].Allow = g.allows(c)
	}
	return out, nil
}

func (g foreseeing) Foresee(c agent.Proposed) bool {
	if !g.on || !g.allows(c) {
		return false
	}
	*g.began++
	return true
}
