package agent_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

// bodies are the bodies of one type among events.
func bodies[B session.Body](events []session.Event) []B {
	var out []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// ending returns the RunEnded of events, which must be their last event.
func ending(t testing.TB, events []session.Event) session.RunEnded {
	t.Helper()
	ends := bodies[session.RunEnded](events)
	if len(ends) != 1 {
		t.Fatalf("the run ended %d times:\n%s", len(ends), trace(events))
	}
	if events[len(events)-1].Body.Kind() != ends[0].Kind() {
		t.Errorf("the end of the run is not the last event:\n%s", trace(events))
	}
	return ends[0]
}

// endsWith checks why a run ended.
func endsWith(t testing.TB, events []session.Event, reason session.Reason, words string) {
	t.Helper()
	end := ending(t, events)
	if end.Reason != reason || !strings.Contains(end.Message, words) {
		t.Errorf("the run ended as %s, %q; want %s with %q\n%s", end.Reason, end.Message, reason, words, trace(events))
	}
}

// toolResults are the results among events, in their order.
func toolResults(events []session.Event) []session.Message {
	var out []session.Message
	for _, m := range bodies[session.Message](events) {
		if m.Role == llm.RoleTool {
			out = append(out, m)
		}
	}
	return out
}

// result is the one result among events.
func result(t testing.TB, events []session.Event) session.Message {
	t.Helper()
	all := toolResults(events)
	if len(all) != 1 {
		t.Fatalf("%d results, want one:\n%s", len(all), trace(events))
	}
	return all[0]
}

// hasResult checks a result's outcome and words in its text.
func hasResult(t testing.TB, m session.Message, outcome session.Outcome, words string) {
	t.Helper()
	if m.Outcome != outcome || !strings.Contains(m.Text(), words) {
		t.Errorf("the result is %q, %q; want %q with %q", m.Outcome, m.Text(), outcome, words)
	}
	if m.IsError != (outcome != session.OutcomeOK) {
		t.Errorf("IsError = %v of a result that is %q", m.IsError, outcome)
	}
}

// same compares texts line by line of what they say.
func same(t testing.TB, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(undent(want)) {
		t.Errorf("got:\n%s\nwant:\n%s", got, undent(want))
	}
}

// undent takes the indentation of the first line with words from all lines.
func undent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "\t"))]
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, indent)
	}
	return strings.Join(lines, "\n")
}

// does is a tool without arguments that declares to touch nothing that does what f does.
func does(name string, f func(ctx context.Context, report tool.Report) (tool.Result, error)) tool.Tool {
	return tool.New(name, "Does something.", tool.Nothing,
		func(ctx context.Context, _ struct{}, report tool.Report) (tool.Result, error) { return f(ctx, report) })
}

// with adds tools to those of the bench.
func with(tools ...tool.Tool) func(*agent.Options) {
	return func(o *agent.Options) { o.Tools = append(o.Tools, tools...) }
}

// text is a text message of a user.
func text(s string) llm.Message { return llm.UserText(s) }

// outcomes is the conversation as texts prints it, with the outcome "ok" written out.
func (b *bench) outcomes() string {
	b.t.Helper()
	messages, err := view.Messages(context.WithoutCancel(b.t.Context()), b.Path())
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, e := range messages {
		m := e.Body.(session.Message)
		if m.Role == llm.RoleTool && m.Outcome == session.OutcomeOK {
			m.Outcome = "ok"
		}
		lines = append(lines, message(m))
	}
	return strings.Join(lines, "\n")
}

// hook adds a hook to options.
func hook(o *agent.Options, h agent.Hook) {
	h.Name = cmp.Or(h.Name, fmt.Sprintf("h%d", len(o.Hooks)))
	o.Hooks = append(o.Hooks, h)
}

// reopen closes the agent and opens its session again.
func (b *bench) reopen(change func(*agent.Options)) {
	b.t.Helper()
	if err := b.Close(); err != nil {
		b.t.Fatal(err)
	}
	o := agent.Options{Client: b.client, Tools: b.log.tools(), Gate: agent.AllowAll()}
	if change != nil {
		change(&o)
	}
	a, err := agent.Open(b.t.Context(), b.store, b.Session(), o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := a.Close(); err != nil {
			b.t.Error(err)
		}
	})
	b.Agent = a
}
