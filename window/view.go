package window

import (
	"context"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// View is what a model sees of a journal: less than all of it where a digest stands for its beginning, never other than it.
type View struct {
	Messages []llm.Message
	Blocks   []Block // says of each message where it comes from

	Epoch   session.Event          // the epoch that the journal is in; the zero Event before the first
	Digest  session.Event          // what stands for its beginning; the zero Event: all of it is there
	Context []session.ContextBlock // what holds of what was told of the place, in the order in which it was told first

	cleanups []session.Event // wishes of the model that no epoch has fulfilled yet, oldest first
	revert   session.Event   // its wish to go on from an earlier state; the zero Event: none
	requests []session.Event // Requested of this epoch, newest first
	entries  []session.Event // what the messages after the digest were made from, oldest first
}

// Block says where one message of a request comes from, and why it is there.
type Block struct {
	Why     Why          `json:"why"`
	Entries []session.ID `json:"entries"`          // of the journal; the first is the one that is told
	Note    string       `json:"note,omitzero"`    // more about the reason, such as that of a reduction
	Tokens  int          `json:"tokens,omitzero"`  // estimated
}

// Why says why a message is in a request.
type Why string

// The reasons for which a message is in a request.
const (
	Said    Why = "said"    // it is in the journal as it is
	Told    Why = "context" // it tells of the place: context files, skills, the environment
	Kept    Why = "kept"    // a digest keeps it word for word
	Pinned  Why = "pinned"  // a person wants it kept
	Summary Why = "summary" // it stands for what came before
	Shorter Why = "reduced" // a shorter text stands for the content
	Mended  Why = "mended"  // the journal lacks it, and no provider would take the request without
)

// Look makes the view of a path. It reads back to where the newest digest begins to stand for the rest, and no further: the cost grows
// with what the model sees, not with the age of the session. The error is that of reading p.
func Look(ctx context.Context, p session.Path) (*View, error) {
	v := new(View)
	var newestFirst, contexts []session.Event
	reduced := make(map[session.ID]session.Reduction)
	fulfilled := false // the wishes that lie further back
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if d, ok := v.Digest.Body.(session.Digest); ok && e.ID == d.Through {
			break
		}
		switch b := e.Body.(type) {
		case session.Message, session.Partial, session.Discarded:
			newestFirst = append(newestFirst, e)
		case session.Context:
			newestFirst = append(newestFirst, told(e, b))
			contexts = append(contexts, e)
		case session.Digest:
			if v.Digest.Body == nil {
				v.Digest = e
			}
		case session.Reduced:
			for _, r := range b.Messages {
				if _, newer := reduced[r.Entry]; !newer {
					reduced[r.Entry] = r
				}
			}
		case session.Epoch:
			if v.Epoch.Body == nil {
				v.Epoch = e
			}
			fulfilled = true
		case session.Requested:
			if v.Epoch.Body == nil {
				v.requests = append(v.requests, e)
			}
		case session.Cleanup:
			if !fulfilled {
				v.cleanups = append(v.cleanups, e)
			}
		case session.Revert:
			if v.revert.Body == nil && !answered(newestFirst) {
				v.revert = e
			}
		}
	}
	slices.Reverse(newestFirst)
	slices.Reverse(contexts)
	slices.Reverse(v.cleanups)
	return v, v.compose(ctx, newestFirst, contexts, reduced)
}

// answered reports whether the model has answered since.
func answered(newestFirst []session.Event) bool {
	return slices.ContainsFunc(newestFirst, func(e session.Event) bool {
		m, ok := e.Body.(session.Message)
		return ok && m.Role == llm.RoleAssistant
	})
}

// compose puts the messages of the view together: what the digest says, and what came after it.
func (v *View) compose(ctx context.Context, said, contexts []session.Event, reduced map[session.ID]session.Reduction) error {
	conversation, err := session.Messages(ctx, session.Entries(said))
	if err != nil {
		return err
	}
	v.entries = conversation
	d, _ := v.Digest.Body.(session.Digest)
	v.Context = holding(d.Context, contexts)
	v.begin(d)
	v.reduce(reduced)
	tail, blocks := repair(v.entries)
	for i := range blocks {
		if r, ok := reduced[blocks[i].Entries[0]]; ok && blocks[i].Why == Said {
			blocks[i].Why, blocks[i].Note = Shorter, r.Reason
		}
	}
	v.Messages, v.Blocks = append(v.Messages, tail...), append(v.Blocks, blocks...)
	return nil
}

// begin tells what stands for the beginning.
func (v *View) begin(d session.Digest) {
	add := func(m llm.Message, b Block) {
		if !m.Empty() {
			v.Messages, v.Blocks = append(v.Messages, m), append(v.Blocks, b)
		}
	}
	add(llm.UserText(contextText(d.Context)), Block{Why: Told, Entries: []session.ID{v.Digest.ID}})
	for _, k := range d.Kept {
		b := Block{Why: Kept, Entries: []session.ID{k.Entry, v.Digest.ID}}
		if k.Pinned {
			b.Why = Pinned
		}
		add(k.Message, b)
	}
	add(llm.UserText(summaryText(d.Summary)), Block{Why: Summary, Entries: []session.ID{v.Digest.ID}, Note: d.Reason})
}

// reduce puts the shorter texts in place.
func (v *View) reduce(reduced map[session.ID]session.Reduction) {
	if len(reduced) == 0 {
		return
	}
	for i, e := range v.entries {
		if r, ok := reduced[e.ID]; ok {
			m := e.Body.(session.Message)
			m.Content = llm.Content{llm.Text{Text: r.Text}}
			v.entries[i].Body = m
		}
	}
}

// FromContext is the source of a message that a view makes of a [session.Context].
const fromContext session.Source = "context"

// told is a context entry as a message.
func told(e session.Event, c session.Context) session.Event {
	e.Body = session.Message{Message: llm.UserText(contextText(c.Blocks)), Source: fromContext}
	return e
}

// contextText is what a model reads of the place. What a file says cannot end its block.
func contextText(blocks []session.ContextBlock) string {
	var b strings.Builder
	for _, c := range blocks {
		name := strings.NewReplacer(`"`, "'", "\n", " ", "<", "(", ">", ")").Replace(c.Name)
		if c.Text == "" {
			b.WriteString("<context name=\"" + name + "\" gone=\"true\"/>\n")
			continue
		}
		text := strings.ReplaceAll(strings.TrimRight(c.Text, "\n"), "</context", "< /context")
		b.WriteString("<context name=\"" + name + "\">\n" + text + "\n</context>\n")
	}
	return b.String()
}

// summaryText is how a digest speaks to the model.
func summaryText(summary string) string {
	if summary == "" {
		return ""
	}
	return "<summary>\nThe conversation up to here was longer. This is what it came to; the journal has all of it.\n\n" +
		strings.ReplaceAll(strings.TrimSpace(summary), "</summary", "< /summary") + "\n</summary>"
}

// holding is what holds after a beginning and what was told since.
func holding(blocks []session.ContextBlock, since []session.Event) []session.ContextBlock {
	held := slices.Clone(blocks)
	for _, e := range since {
		c := e.Body.(session.Context)
		if c.Whole {
			held = nil
		}
		for _, b := range c.Blocks {
			at := slices.IndexFunc(held, func(h session.ContextBlock) bool { return h.Name == b.Name })
			switch {
			case at < 0 && b.Text != "":
				held = append(held, b)
			case at >= 0 && b.Text != "":
				held[at] = b
			case at >= 0:
				held = slices.Delete(held, at, at+1)
			}
		}
	}
	return held
}
