package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

// touch is the arguments of a tool that takes its time: "r:/a", "w:/a" and "x" for its effects.
type touch struct {
	What string `json:"what"`
	For  string `json:"for,omitzero"` // default 1s
}

// touching is a tool with effects of choice. It logs when it begins and ends, in seconds since start.
func (l *callLog) touching(start time.Time) tool.Tool {
	return tool.New("touch", "Touch something for a while.",
		func(_ context.Context, a touch) (tool.Effects, error) {
			kind, path, _ := strings.Cut(a.What, ":")
			switch kind {
			case "r":
				return tool.Effects{Reads: []tool.Path{tool.File(path)}}, nil
			case "w":
				return tool.Effects{Writes: []tool.Path{tool.File(path)}}, nil
			default:
				return tool.Effects{Unknown: true, Exclusive: true}, nil
			}
		},
		func(_ context.Context, a touch, _ tool.Report) (tool.Result, error) {
			d, err := time.ParseDuration(a.For)
			if err != nil {
				d = time.Second
			}
			began := time.Since(start)
			time.Sleep(d)
			l.add("%s %v-%v,", a.What, began.Seconds(), time.Since(start).Seconds())
			return tool.TextResult(a.What), nil
		})
}

// touches is a script with a call for each word, such as "r:/a" or "w:/a=5s".
func touches(words string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(words) {
		what, d, _ := strings.Cut(word, "=")
		fmt.Fprintf(&b, "call touch {\"what\":%q,\"for\":%q}\n", what, d)
	}
	return b.String() + "---\ntext Done."
}

// Calls run side by side unless their effects collide; those that do keep their order.
func TestParallelByEffects(t *testing.T) {
	tests := []struct {
		name, calls string
		how         agent.Execution
		want        string // when each began and ended
	}{
		{"reads side by side", "r:/a r:/b r:/a=2s", agent.Parallel(), "r:/a 0-1, r:/b 0-1, r:/a 0-2,"},
		{"writes to two paths", "w:/a w:/b=2s", agent.Parallel(), "w:/a 0-1, w:/b 0-2,"},
		{"two writes to one path", "w:/a=2s w:/a", agent.Parallel(), "w:/a 0-2, w:/a 2-3,"},
		{"a read after a write", "w:/a r:/a r:/b=500ms", agent.Parallel(), "r:/b 0-0.5, w:/a 0-1, r:/a 1-2,"},
		{"a write after reads", "r:/a r:/a=3s w:/a", agent.Parallel(), "r:/a 0-1, r:/a 0-3, w:/a 3-4,"},
		{"a command is a barrier", "r:/a x r:/b", agent.Parallel(), "r:/a 0-1, x 1-2, r:/b 2-3,"},
		{"nothing overtakes what waits for the same", "w:/a=2s w:/a w:/a=500ms", agent.Parallel(), "w:/a 0-2, w:/a 2-3, w:/a 3-3.5,"},
		{"each as soon as it can", "w:/a=3s w:/b r:/b r:/a", agent.Parallel(), "w:/b 0-1, r:/b 1-2, w:/a 0-3, r:/a 3-4,"},
		{"sequential", "r:/a r:/b r:/c", agent.Sequential(), "r:/a 0-1, r:/b 1-2, r:/c 2-3,"},
		{"batches", "r:/a=3s r:/b r:/c r:/d r:/e", agent.Batched(2), "r:/b 0-1, r:/a 0-3, r:/c 3-4, r:/d 3-4, r:/e 4-5,"},
		{"batches by effects", "w:/a w:/a r:/b", agent.Batched(2), "w:/a 0-1, w:/a 1-2, r:/b 2-3,"},
		{"batches of less than one", "r:/a r:/b", agent.Batched(0), "r:/a 0-1, r:/b 1-2,"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &callLog{}
				b := newBench(t, touches(test.calls), func(o *agent.Options) {
					o.Tools = append(o.Tools, log.touching(time.Now()))
					o.Execution = test.how
				})
				b.run("go")
				if got := sortedByEnd(log.done); got != sortedByEnd(strings.SplitAfter(test.want, ", ")) {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				var viewed []string
				for l := range strings.Lines(b.texts()) {
					if _, what, ok := strings.Cut(strings.TrimSpace(l), `tool touch "`); ok {
						viewed = append(viewed, strings.TrimSuffix(what, `"`))
					}
				}
				var called []string
				for word := range strings.FieldsSeq(test.calls) {
					what, _, _ := strings.Cut(word, "=")
					called = append(called, what)
				}
				same(t, strings.Join(viewed, " "), strings.Join(called, " "))
				checkJournal(t, b)
			})
		})
	}
}

// sortedByEnd joins logged calls; those that ended at the same moment in the order of their names.
func sortedByEnd(calls []string) string {
	out := make([]string, 0, len(calls))
	for _, c := range calls {
		out = append(out, strings.TrimSpace(c))
	}
	end := func(c string) string {
		_, end, _ := strings.Cut(c, "-")
		return end
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(end(a), end(b)), cmp.Compare(a, b)) })
	return strings.Join(out, " ")
}

func TestEightNapsTakeOneSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Repeat("call nap {\"for\":\"1s\"}\n", 8)+"---\ntext Done.", nil)
		start := time.Now()
		b.run("go")
		if took := time.Since(start); took != time.Second {
			t.Errorf("eight naps of a second took %s", took)
		}
		checkJournal(t, b)
	})
}

// However many calls there are, no more than sixteen run at a time, and all get their results.
func TestManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Repeat("call nap {\"for\":\"1s\"}\n", 100)+"---\ntext Done.", nil)
		start := time.Now()
		events := b.run("go")
		if took := time.Since(start); took != 7*time.Second || len(toolResults(events)) != 100 {
			t.Errorf("a hundred naps of a second took %s and had %d results", took, len(toolResults(events)))
		}
	})
}

// Results are entries as soon as calls end; views and requests have them in the order of the calls.
func TestResultsAsTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, `
			call nap {"for":"3s"}
			call nap {"for":"1s"}
			call nap {"for":"2s"}
			---
			text Done.`, nil)
		texts := func(events []session.Event) string {
			var out []string
			for _, m := range toolResults(events) {
				out = append(out, m.Text())
			}
			return strings.Join(out, ", ")
		}
		same(t, texts(b.run("go")), "slept 1s, slept 2s, slept 3s")
		messages, err := view.Messages(t.Context(), b.Path())
		if err != nil {
			t.Fatal(err)
		}
		same(t, texts(messages), "slept 3s, slept 1s, slept 2s")
		var sent []string
		for _, m := range b.client.Requests()[1].Messages {
			if m.Role == llm.RoleTool {
				sent = append(sent, m.Text())
			}
		}
		same(t, strings.Join(sent, ", "), "slept 3s, slept 1s, slept 2s")
		checkJournal(t, b)
	})
}

// A slow consumer does not delay what is durable: results are in the journal while it still looks at the first event.
func TestSlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "call nap {\"for\":\"1s\"}\ncall nap {\"for\":\"2s\"}\n---\ntext Done.", nil)
		looked := false
		for e, err := range b.Run(t.Context(), text("go")) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Body.(session.CallStarted); ok && !looked {
				looked = true
				continue // the calls begin when the consumer has seen that they do
			}
			if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleTool && m.Text() == "slept 1s" {
				time.Sleep(time.Minute)
				if got := len(toolResults(b.journal())); got != 2 {
					t.Errorf("%d results are in the journal while the consumer slept", got)
				}
			}
		}
	})
}

// Progress that comes faster than the consumer takes it is put together, and what is held for it is bounded.
func TestProgress(t *testing.T) {
	const lines, line = 10_000, "a line of thirty-two characters\n"
	synctest.Test(t, func(t *testing.T) {
		talkative := does("talkative", func(_ context.Context, report tool.Report) (tool.Result, error) {
			report("")
			report("first\n")
			time.Sleep(time.Second)
			for range lines {
				report(line)
			}
			report(strings.Repeat("é", 10<<20))
			report("last\n")
			time.Sleep(time.Second)
			return tool.TextResult("done"), nil
		})
		b := newBench(t, "call talkative\n---\ntext Done.", with(talkative))
		var got []string
		for e, err := range b.Run(t.Context(), text("go")) {
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := e.Body.(live.Progress); ok {
				got = append(got, p.Text)
				time.Sleep(90 * time.Second) // the tool has long ended when the consumer comes back
			}
		}
		if len(got) != 2 || got[0] != "first\n" {
			t.Fatalf("progress came %d times", len(got))
		}
		if last := got[1]; len(last) > 17<<10 || !strings.HasSuffix(last, "éélast\n") {
			t.Errorf("what was put together has %d bytes and ends with %q", len(last), last[max(0, len(last)-20):])
		}
		checkJournal(t, b)
	})
}

// Progress comes before the result of its call and keeps its order, even while other calls run.
func TestProgressBeforeResult(t *testing.T) {
	b := newBench(t, strings.Repeat("call command {\"path\":\"x\"}\n", 20)+"---\ntext Done.", nil)
	open := ""
	for _, e := range b.run("go") {
		switch body := e.Body.(type) {
		case session.CallStarted:
			open = body.Call
		case live.Progress:
			if body.Call != open {
				t.Errorf("progress of %s while %s runs", body.Call, open)
			}
		case session.Message:
			if body.Role == llm.RoleTool {
				open = ""
			}
		}
	}
}
