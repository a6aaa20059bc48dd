package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// metamorphicScript has texts, thinking, calls that may run side by side and calls that may not, failures, and slow parts.
const metamorphicScript = `
	think I must look first.
	text I look
	text  at three things.
	call look {"path":"/a"}
	call look {"path":"/b"}
	call nap {"for":"3s"}
	usage input=100 output=20
	---
	text Now I change them.
	call change {"path":"/a","content":"x"}
	call look {"path":"/a"}
	call change {"path":"/b"}
	call command {"path":"go"}
	call look {"path":"/b"}
	usage input=200 cache_read=90 output=30
	---
	call broken
	call crash
	call nowhere {"x":1}
	raw look {"path":
	---
	delay 2s
	text All is
	delay 2s
	text  done.
	usage input=300 output=5`

// TestSameJournal runs one script in many ways. How an answer comes, how calls are scheduled and how fast the consumer is
// must make no difference to what the journal says in the end.
func TestSameJournal(t *testing.T) {
	clients := map[string][]llmtest.Option{"streaming": nil, "whole answers": {llmtest.NoStream()}}
	executions := map[string]agent.Execution{
		"parallel": agent.Parallel(), "sequential": agent.Sequential(), "batched": agent.Batched(2),
	}
	consumers := map[string]time.Duration{"fast": 0, "slow": 700 * time.Millisecond}
	want := ""
	for client, options := range clients {
		for execution, how := range executions {
			for consumer, delay := range consumers {
				name := strings.Join([]string{client, execution, consumer}, ", ")
				synctest.Test(t, func(t *testing.T) {
					b := clientBench(t, llmtest.New(t, metamorphicScript, options...), func(o *agent.Options) { o.Execution = how })
					for e, err := range b.Run(t.Context(), llm.UserText("go")) {
						if err != nil {
							t.Fatal(err)
						}
						_ = e
						<-time.After(delay) // the consumer takes its time; the clock is synthetic
					}
					got := outline(b.journal()) + b.texts()
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("%s: the journal differs\ngot:\n%s\nwant:\n%s", name, got, want)
					}
					checkJournal(t, b)
				})
			}
		}
	}
	if !strings.Contains(want, "All is done.") {
		t.Errorf("the script did not come to its end:\n%s", want)
	}
}

// outline is what entries say, without ids and times. The starts and results of one answer come in the order in which they
// happen, which scheduling may change; they are sorted. A partial answer that was replaced says nothing.
func outline(events []session.Event) string {
	var out strings.Builder
	var calls []string
	flush := func() {
		slices.Sort(calls)
		out.WriteString(strings.Join(calls, ""))
		calls = nil
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.Partial:
			continue
		case session.RunStarted:
			b.Config.Execution = "" // is what the runs differ in
			flush()
			fmt.Fprintf(&out, "run_started %s %v\n", b.Trigger, b.Config.Tools)
			continue
		case session.CallStarted:
			calls = append(calls, fmt.Sprintf("%d %s\n", e.Turn, line(e)))
			continue
		case session.Message:
			if b.Role == llm.RoleTool {
				calls = append(calls, fmt.Sprintf("%d %s %s\n", e.Turn, line(e), b.Details))
				continue
			}
		}
		flush()
		fmt.Fprintf(&out, "%d %s\n", e.Turn, line(e))
	}
	flush()
	return out.String()
}
