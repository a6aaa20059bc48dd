package agent_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// trace writes events as a tree, one line each: what docs/developers/events.md shows and what tests compare.
func trace(events []session.Event) string {
	var b strings.Builder
	depth := 0
	for _, e := range events {
		switch e.Body.(type) {
		case live.TurnEnded, session.RunEnded:
			depth--
		}
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", max(depth, 0)), line(e))
		switch e.Body.(type) {
		case live.TurnStarted, session.RunStarted:
			depth++
		}
	}
	return b.String()
}

// line describes one event. Entries of the journal begin with their kind, transient events with a dot before it.
func line(e session.Event) string {
	s := e.Body.Kind() + detail(e.Body)
	if !e.Durable() {
		s = "." + s
	}
	return s
}

func detail(b session.Body) string {
	switch b := b.(type) {
	case session.RunStarted:
		return " " + strings.TrimSpace(string(b.Trigger)+" "+string(b.Continues))
	case live.TurnStarted:
		return " " + string(b.Trigger)
	case session.RunEnded:
		return " " + strings.TrimSpace(string(b.Reason)+" "+b.Limit)
	case session.Message:
		return " " + message(b)
	case live.Delta:
		return fmt.Sprintf(" %s %q", b.Type, b.Text)
	case live.CallReady:
		return " " + b.Call.Name
	case session.CallStarted:
		return " " + b.Tool + " " + string(b.Arguments)
	case session.Decision:
		return " " + b.Verdict
	case live.Progress:
		return fmt.Sprintf(" %s %q", b.Tool, b.Text)
	case session.Partial:
		return fmt.Sprintf(" %q", b.Content.Text())
	case session.Epoch:
		return " " + b.Reason
	case session.Head:
		return " " + b.Reason
	case session.Queued:
		return " " + b.Change + " " + string(b.Lane)
	case session.Rejected:
		return fmt.Sprintf(" %q", b.Reason)
	case live.Waiting:
		return fmt.Sprintf(" attempt %d of %d", b.Attempt, b.Of)
	default:
		return ""
	}
}

func message(m session.Message) string {
	words := []string{string(m.Role)}
	if m.Source != "" {
		words = append(words, string(m.Source))
	}
	if m.Role == llm.RoleTool {
		words = append(words, m.Tool)
		if m.Outcome != "" {
			words = append(words, string(m.Outcome))
		}
	}
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			words = append(words, fmt.Sprintf("%q", p.Text))
		case llm.ToolCall:
			words = append(words, "call "+p.Name)
		case llm.Thinking:
			words = append(words, "thinking")
		}
	}
	if m.Role == llm.RoleAssistant && m.Stop != llm.StopEnd && m.Stop != llm.StopCalls {
		words = append(words, string(m.Stop))
	}
	return strings.Join(words, " ")
}

// collect takes a run to its end.
func collect(t testing.TB, events iter.Seq2[session.Event, error]) []session.Event {
	t.Helper()
	got, err := drain(events)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return got
}

func drain(events iter.Seq2[session.Event, error]) ([]session.Event, error) {
	var got []session.Event
	for e, err := range events {
		if err != nil {
			return got, err
		}
		got = append(got, e)
	}
	return got, nil
}

// entries is the part of events that is in the journal.
func entries(events []session.Event) []session.Event {
	var out []session.Event
	for _, e := range events {
		if e.Durable() {
			out = append(out, e)
		}
	}
	return out
}
