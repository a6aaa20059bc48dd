package agent_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

var update = flag.Bool("update", false, "rewrite the event trees in docs/developers/events.md")

const eventsDoc = "../docs/developers/events.md"

// scenario is one tree of docs/developers/events.md: the steps, and the events that follow.
type scenario struct {
	name   string
	script string
	change func(*agent.Options)
	do     func(t *testing.T, b *bench) []session.Event
}

func say(text string) func(*testing.T, *bench) []session.Event {
	return func(_ *testing.T, b *bench) []session.Event { return b.run(text) }
}

// TestEventTrees runs every scenario and compares its events with the tree of its name in docs/developers/events.md. The document is
// thereby a specification. To rewrite the trees, run the test with -update and read the difference.
func TestEventTrees(t *testing.T) {
	data, err := os.ReadFile(eventsDoc)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, s.script, s.change)
				events := s.do(t, b)
				checkStream(t, b, events)
				got := trace(events)
				if *update {
					doc = replaceTree(t, doc, s.name, got)
					return
				}
				if want := tree(t, doc, s.name); got != want {
					t.Errorf("what happened is not what %s says\ngot:\n%s\nwant:\n%s", eventsDoc, got, want)
				}
				checkJournal(t, b)
			})
		})
	}
	if *update {
		if err := os.WriteFile(eventsDoc, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkStream checks that the entries of a stream are those of the journal: who attaches later misses nothing.
func checkStream(t *testing.T, b *bench, events []session.Event) {
	t.Helper()
	streamed, journal := entries(events), b.journal()
	if !reflect.DeepEqual(streamed, journal[len(journal)-len(streamed):]) {
		t.Errorf("the stream had the entries\n%v\nand the journal has\n%v", streamed, journal)
	}
}

func treeBounds(t *testing.T, doc, name string) (from, to int) {
	t.Helper()
	head := "```events " + name + "\n"
	from = strings.Index(doc, head)
	if from < 0 {
		t.Fatalf("%s has no tree named %q", eventsDoc, name)
	}
	from += len(head)
	return from, from + strings.Index(doc[from:], "```")
}

func tree(t *testing.T, doc, name string) string {
	from, to := treeBounds(t, doc, name)
	return doc[from:to]
}

func replaceTree(t *testing.T, doc, name, got string) string {
	from, to := treeBounds(t, doc, name)
	return doc[:from] + got + doc[to:]
}

// checkJournal checks what holds of every journal: numbers without gaps, every run with one end, every call with exactly
// one result.
func checkJournal(t *testing.T, b *bench) {
	t.Helper()
	checkEntries(t, b.journal())
}

func checkEntries(t *testing.T, events []session.Event) {
	t.Helper()
	open := make(map[session.RunID]bool)
	calls := make(map[string]int)
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Fatalf("entry %d has number %d", i+1, e.Seq)
		}
		switch body := e.Body.(type) {
		case session.RunStarted:
			open[body.Run] = true
		case session.RunEnded:
			if !open[e.Run] {
				t.Errorf("run %s ends without having started", e.Run)
			}
			delete(open, e.Run)
		case session.Message:
			if body.Role == llm.RoleTool {
				calls[body.CallID]--
			}
			for _, c := range body.Calls() {
				calls[c.ID]++
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("runs without an end: %v", open)
	}
	for id, n := range calls {
		if n != 0 {
			t.Errorf("call %s: %d results missing", id, n)
		}
	}
}

var scenarios = []scenario{
	{name: "answer", script: "text Hello,\ntext  world.", do: say("hi")},
	{
		name: "tools",
		script: `
			text I look.
			call look {"path":"/a"}
			call command {"path":"x"}
			---
			text Done.`,
		do: say("go"),
	},
	{
		name:   "denied",
		script: "call change {\"path\":\"/a\"}\n---\ntext I may not.",
		change: func(o *agent.Options) { o.Gate = agent.ReadOnly() },
		do:     say("go"),
	},
	{
		name: "steering",
		script: `
			call command {"path":"1"}
			call command {"path":"2"}
			---
			text As you wish.`,
		do: func(t *testing.T, b *bench) []session.Event {
			var once sync.Once
			b.log.working = func() {
				once.Do(func() { queued(t, b, "only-one", "") })
			}
			return b.run("do two things")
		},
	},
	{
		name:   "follow-up",
		script: "text One.\n---\ntext Two.",
		do: func(t *testing.T, b *bench) []session.Event {
			if _, err := b.FollowUp(t.Context(), llm.UserText("and two")); err != nil {
				t.Fatal(err)
			}
			return b.run("one")
		},
	},
	{
		name:   "limit",
		script: "call look {\"path\":\"/a\"}\n---\ntext never asked",
		change: func(o *agent.Options) { o.Limits.Turns = 1 },
		do:     say("go"),
	},
	{
		name:   "retry",
		script: "text Hel\nreset network \"it broke\"\ntext Hello.",
		do:     say("hi"),
	},
	{
		name:   "error",
		script: "text Hel\nerror auth status=401 \"wrong key\"",
		do: func(t *testing.T, b *bench) []session.Event {
			got, err := drain(b.Run(t.Context(), llm.UserText("hi")))
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindAuth {
				t.Errorf("error = %v, want auth", err)
			}
			return got
		},
	},
	{
		name:   "cancelled",
		script: "call nap\ncall look {\"path\":\"/a\"}\ncall command {\"path\":\"b\"}",
		change: func(o *agent.Options) { o.Execution = agent.Sequential() },
		do: func(t *testing.T, b *bench) []session.Event {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return collect(t, b.Run(ctx, llm.UserText("sleep")))
		},
	},
	{
		name:   "continued",
		script: "text Hel\nerror auth \"wrong key\"\n---\ntext Hello.",
		do: func(t *testing.T, b *bench) []session.Event {
			first, _ := drain(b.Run(t.Context(), llm.UserText("hi")))
			return append(first, collect(t, b.Continue(t.Context(), agent.Continuation{}))...)
		},
	},
	{
		name:   "rerun",
		script: "text Four.\n---\ntext Five.",
		do: func(t *testing.T, b *bench) []session.Event {
			b.run("two and two?")
			how := agent.Continuation{Kind: session.ContinuesRerun, Tag: "again"}
			return collect(t, b.Continue(t.Context(), how))
		},
	},
	{
		name:   "rejected",
		script: "text never asked",
		change: func(o *agent.Options) {
			hook(o, agent.Hook{Prompt: func(context.Context, session.Message) (string, error) { return "", errors.New("not in this house") }})
		},
		do: say("hi"),
	},
	{
		name:   "vetoed",
		script: "text never asked",
		change: func(o *agent.Options) {
			hook(o, agent.Hook{BeforeRun: func(context.Context, session.RunStarted) error { return errors.New("not today") }})
		},
		do: say("hi"),
	},
	{
		name:   "hooks",
		script: "call change {\"path\":\"/a\"}\n---\ntext Done.\n---\ntext The tests pass.",
		change: func(o *agent.Options) {
			asked := false
			hook(o, agent.Hook{
				Prompt: func(context.Context, session.Message) (string, error) { return "The build is broken.", nil },
				BeforeCall: func(context.Context, agent.Proposed) (string, error) {
					return `{"path":"/b"}`, nil
				},
				AfterCall: func(_ context.Context, _ agent.Proposed, m session.Message) (session.Message, error) {
					m.Content = append(m.Content, llm.Text{Text: "; gofmt: ok"})
					return m, nil
				},
				BeforeEnd: func(context.Context, llm.Message) (again string) {
					if !asked {
						asked, again = true, "Run the tests."
					}
					return again
				},
			})
		},
		do: say("go"),
	},
	{
		name:   "length",
		script: "text It was a dark and\nstop length\n---\ntext  stormy night.",
		do:     say("a story"),
	},
}
