package llmtest

import (
	"iter"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
)

// Stream yields m as a client does that streams it: texts, reasoning and the arguments of calls in deltas of about chunk
// bytes, never within a character; then Done. A chunk of 0 makes every part one delta.
func Stream(m llm.Message, chunk int) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for i, p := range m.Content {
			for _, e := range deltas(i, p, func(s string) int {
				if chunk <= 0 {
					return 1
				}
				return (len(s) + chunk - 1) / chunk
			}) {
				if !yield(e, nil) {
					return
				}
			}
		}
		yield(llm.Done{Message: m}, nil)
	}
}

// deltas returns the events that make part number i of an answer. A text s comes in pieces(s) deltas.
func deltas(i int, p llm.Part, pieces func(s string) int) []llm.Event {
	var events []llm.Event
	switch p := p.(type) {
	case llm.Text:
		for _, s := range split(p.Text, pieces(p.Text)) {
			events = append(events, llm.TextDelta{Part: i, Text: s})
		}
	case llm.Thinking:
		for _, s := range split(p.Text, pieces(p.Text)) {
			events = append(events, llm.ThinkingDelta{Part: i, Text: s})
		}
	case llm.ToolCall:
		first := llm.CallDelta{Part: i, ID: p.ID, Name: p.Name}
		for _, s := range split(p.Arguments, pieces(p.Arguments)) {
			first.Arguments = s
			events = append(events, first)
			first = llm.CallDelta{Part: i}
		}
		if first.ID != "" || first.Name != "" { // no arguments at all
			events = append(events, first)
		}
		if !p.Truncated {
			events = append(events, llm.CallReady{Part: i, Call: p})
		}
	}
	return events
}

// split cuts s into at most n parts of about the same length, none of them empty, none within a character.
func split(s string, n int) []string {
	n = max(1, min(n, len(s)))
	var out []string
	from := 0
	for i := 1; i <= n; i++ {
		to := len(s) * i / n
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		if to > from {
			out = append(out, s[from:to])
			from = to
		}
	}
	return out
}
