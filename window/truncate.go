package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/window/internal/excerpt"
	"github.com/tenon-agent/tenon/window/tokens"
)

// A window can be too small for the messages that no summary replaces: the end of the conversation, if several results came at once or the
// new model has less space, and pinned messages. The window then truncates the longest ones. The journal has all of them.

// leastPart is the number of tokens that a truncated message keeps.
const leastPart = 50

// shorten truncates the longest messages. If the request has more than this many tokens even then, shorten omits everything that it can.
func (d *draft) shorten(ctx context.Context, reason string, most int) error {
	if err := d.truncate(ctx); err != nil || d.estimate().Tokens <= most {
		return err
	}
	return d.omit(ctx, reason)
}

// truncate truncates the longest messages until the request fits: first results, then other messages, pinned ones last. The person's last
// message stays: a person can shorten it. If the request does not fit even then, everything possible is truncated.
func (d *draft) truncate(ctx context.Context) error {
	pins, err := d.pinned(ctx)
	if err != nil {
		return err
	}
	var last []session.Trim
	classes := d.view.truncatable(ids(pins))
	fits := false
	for n := 1; n <= len(classes) && !fits; n++ {
		parts := slices.Concat(classes[:n]...)
		for limit := d.usable / 2; limit > leastPart && !fits; {
			limit = max(limit/2, leastPart)
			var shorter []session.Trim
			for _, i := range parts {
				if text, ok := truncated(d.view.Messages[i], limit); ok {
					shorter = append(shorter, session.Trim{Entry: d.view.Blocks[i].Entries[0], Reason: "long", Text: text})
				}
			}
			if len(shorter) == 0 {
				continue
			}
			v, err := d.with(ctx, session.Trimmed{Messages: shorter})
			if err != nil {
				return err
			}
			last, fits = shorter, v.Estimate(d.header).Tokens <= d.usable
		}
	}
	if len(last) == 0 {
		return nil
	}
	for i, b := range d.view.Blocks {
		m := d.view.Messages[i]
		if m.Role == llm.RoleUser && b.turn && slices.ContainsFunc(last, func(r session.Trim) bool { return r.Entry == b.Entries[0] }) {
			d.notices = append(d.notices, tooLong("your message", "write a shorter one", b.Entries[0], m, d.usable))
		}
	}
	d.begin("trim")
	d.add(session.Trimmed{Messages: last})
	return d.look(ctx)
}

// latest is the index of the message that the request is about: the last prompt, or the answer whose results end the conversation. It is -1
// if there is none.
func (v *View) latest() int {
	for i, b := range slices.Backward(v.Blocks) {
		if b.Why != Context && v.Messages[i].Role != llm.RoleTool {
			return i
		}
	}
	return -1
}

// truncatable is the indexes of the messages that may be truncated, in classes of increasing value: results, other messages, pinned ones.
func (v *View) truncatable(pins []session.ID) (classes [3][]int) {
	latest := v.latest()
	for i, b := range slices.Backward(v.Blocks) {
		m := v.Messages[i]
		switch {
		case i == latest, b.Why != Said && b.Why != Trimmed:
		case slices.Contains(pins, b.Entries[0]), marked(m):
			classes[2] = append(classes[2], i)
		case m.Role == llm.RoleTool:
			classes[0] = append(classes[0], i)
		default:
			classes[1] = append(classes[1], i)
		}
	}
	return classes
}

// truncated is the beginning and the end of a message that has more than this many tokens. An answer loses its calls with their results.
func truncated(m llm.Message, limit int) (text string, ok bool) {
	if countMessages(m) <= limit {
		return "", false
	}
	text = m.Text()
	for _, c := range m.Calls() {
		text += "\n[called " + c.Name + "; arguments and result omitted]"
	}
	if slices.ContainsFunc(m.Content, isMedium) {
		text += "\n[images and documents omitted]"
	}
	text, _ = strings.CutSuffix(fit(text, limit*9/10), "\n")
	if text == "" { // nothing but thinking
		text = "[omitted]"
	}
	return text, text != m.Text() // the frame of the message alone may exceed the limit
}

func isMedium(p llm.Part) bool {
	switch p.(type) {
	case llm.Image, llm.Document:
		return true
	default:
		return false
	}
}

// fit cuts a text to this many tokens, or to almost nothing.
func fit(text string, limit int) string {
	const note = 64 // bytes of the note about the omitted part
	for n := tokens.Text(text); limit > 0 && n > limit && len(text) > 2*note; n = tokens.Text(text) {
		text = excerpt.HeadTail(text, max(len(text)*limit/n-note, note/2))
	}
	return text
}

// boundPins limits pinned messages to this many tokens together: it truncates the longest ones. If they are too many for that, it omits the
// oldest ones.
func boundPins(kept []session.Verbatim, most int) (bounded, omitted []session.Verbatim, notices []live.Notice) {
	size := func(of []session.Verbatim, limit int) (n int) {
		for _, k := range of {
			if k.Pinned {
				n += min(limit, countMessages(k.Message))
			}
		}
		return n
	}
	least := size(kept, leastPart)
	for _, k := range kept {
		if k.Pinned && least > most {
			least -= min(leastPart, countMessages(k.Message))
			omitted = append(omitted, k)
		} else {
			bounded = append(bounded, k)
		}
	}
	if len(omitted) > 0 {
		notices = append(notices, live.Notice{Text: fmt.Sprintf("the model does not see %d of the pinned messages, because the context window is too "+
			"small for them: entries %s; unpin messages, or use a model with a larger context window", len(omitted), ids(omitted))})
	}
	limit := max(most, leastPart)
	for limit > leastPart && size(bounded, limit) > most {
		limit = max(limit*3/4, leastPart)
	}
	for i, k := range bounded {
		text, ok := truncated(k.Message, limit)
		if !k.Pinned || !ok {
			continue
		}
		notices = append(notices, tooLong("a pinned message", "unpin it or remove its [[keep]], and pin a shorter one", k.Entry, k.Message, most))
		short := llm.UserText(text)
		if marked(k.Message) && !marked(short) { // it pins itself
			short = llm.UserText(text + "\n[[keep]]")
		}
		bounded[i].Message = short
	}
	return bounded, omitted, notices
}

// tooLong says that a message is truncated, and how to avoid it.
func tooLong(what, advice string, entry session.ID, m llm.Message, most int) live.Notice {
	begin := strings.Join(strings.Fields(m.Text()), " ")
	if runes := []rune(begin); len(runes) > 40 {
		begin = string(runes[:40]) + "…"
	}
	return live.Notice{Text: fmt.Sprintf(
		"%s is too long for the context window: entry %s, %q, has about %d tokens of %d available. The model sees its beginning and end; "+
			"%s, or use a model with a larger context window", what, entry, begin, countMessages(m), most, advice)}
}

// parts lists the largest parts of a request that is too long.
func (v *View) parts(h Header) string {
	h.Schema = nil
	fixed := (&View{}).Estimate(h).Tokens
	var place, pinned, rest, largest int
	what := "there are no messages"
	scale := v.scale(h.Model)
	for i, b := range v.Blocks {
		m := v.Messages[i]
		n := scale.Tokens(countMessages(m))
		switch b.Why {
		case Context:
			place += n
		case Pinned:
			pinned += n
		default:
			rest += n
		}
		if n > largest {
			largest, what = n, fmt.Sprintf("the largest part is a message of the %s with about %d tokens", m.Role, n)
			if m.Role == llm.RoleTool {
				what = fmt.Sprintf("the largest part is a result of %s with about %d tokens", m.Tool, n)
			}
		}
	}
	return fmt.Sprintf("system prompt and tools have about %d tokens, the context %d, pinned messages %d, the conversation %d; %s. "+
		"Shorten these, or use a model with a larger context window", fixed, place, pinned, rest, what)
}
