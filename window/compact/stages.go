package compact

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/internal/excerpt"
	"github.com/tenon-agent/tenon/window/tokens"
)

// The bounds of a summary in stages.
const (
	usualStages = 12   // messages are excerpts if more would be needed
	leastPart   = 200  // bytes of a message
	mostPart    = 8000 // bytes of a message
	tokenBytes  = 3    // bytes of a token, at least, in most texts
)

// stages summarizes a conversation that does not fit into the context window of the model: one part after the other, each with the summary
// so far. It returns the request for the last part.
func stages(
	ctx context.Context, client llm.Client, req llm.Request, messages []llm.Message, t window.Task, spent func(model string, u llm.Usage),
) (llm.Request, error) {
	req.System, req.Tools = "", nil // the parts are text, and the whole room is for them
	model := client.Model()
	family, scale := tokens.FamilyOf(model), scale(model, t)
	room := room(model, req.MaxTokens) - scale.Tokens(tokens.Text(wish(t))) - 2*t.Limit - 100
	if !scale.Counted() {
		room -= room / 5 // the estimate can be a fifth too low
	}
	if room < leastPart {
		return req, &coded{"window.summary", fmt.Sprintf("the context window of %s is too small for a summary", model.Ref())}
	}
	each := min(max(usualStages*room*tokenBytes/max(len(messages), 1), leastPart), mostPart, room)
	var parts []string
	var part strings.Builder
	size := 0
	for _, m := range messages {
		text := excerpt.HeadTail(asText(m), each)
		n := scale.Tokens(family.Message(llm.UserText(text)))
		if size+n > room && size > 0 {
			parts = append(parts, part.String())
			part.Reset()
			size = 0
		}
		part.WriteString(text)
		size += n
	}
	parts = append(parts, part.String())
	summary := ""
	for i, text := range parts {
		var b strings.Builder
		if summary != "" {
			fmt.Fprintf(&b, "<summary>\n%s\n</summary>\n\n", summary)
		}
		fmt.Fprintf(&b, "<conversation part=\"%d of %d\">\n%s</conversation>\n\n", i+1, len(parts), strings.ReplaceAll(text, "</conversation", "< /conversation"))
		req.Messages = []llm.Message{llm.UserText(b.String() + wish(t))}
		if i == len(parts)-1 {
			break
		}
		answer, err := ask(ctx, client, &req, spent)
		if err != nil {
			return req, err
		}
		spent(model.Ref(), answer.Usage)
		summary = excerpt.HeadTail(body(answer.Text()), 2*t.Limit*tokenBytes)
		t.Before = new(session.Summarized)
	}
	return req, nil
}

// asText is a message as text.
func asText(m llm.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s\n", strings.TrimSpace(string(m.Role)+" "+m.Tool), m.Text())
	for _, c := range m.Calls() {
		fmt.Fprintf(&b, "calls %s %s\n", c.Name, c.Arguments)
	}
	return b.String()
}
