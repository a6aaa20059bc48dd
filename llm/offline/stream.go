package offline

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
)

// stream yields the deltas of m and reports whether its end was reached.
func stream(ctx context.Context, m llm.Message, yield func(llm.Event, error) bool) bool {
	send := func(e llm.Event) bool {
		if err := ctx.Err(); err != nil {
			yield(nil, &llm.Error{Kind: llm.KindCancelled, Model: m.Model, Err: err})
			return false
		}
		return yield(e, nil)
	}
	for i, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			for rest := p.Text; rest != ""; {
				var w string
				w, rest = word(rest)
				if !send(llm.TextDelta{Part: i, Text: w}) {
					return false
				}
			}
		case llm.ToolCall:
			if !send(llm.CallDelta{Part: i, ID: p.ID, Name: p.Name}) ||
				!send(llm.CallDelta{Part: i, Arguments: p.Arguments}) {
				return false
			}
			if !p.Truncated && !send(llm.CallReady{Part: i, Call: p}) {
				return false
			}
		}
	}
	return ctx.Err() == nil || send(nil)
}

// word splits s after its first word and the space that follows, at most 64 bytes on.
func word(s string) (first, rest string) {
	const most = 64
	end := len(s)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		if j := strings.IndexFunc(s[i:], func(r rune) bool { return !unicode.IsSpace(r) }); j >= 0 {
			end = i + j
		}
	}
	if end > most {
		for end = most; end > most-utf8.UTFMax && !utf8.RuneStart(s[end]); end-- { // in bytes that are no text, no byte may start a rune
		}
	}
	return s[:end], s[end:]
}
