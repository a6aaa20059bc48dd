package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// A window can be too small for what no digest leaves out: for the end of the conversation, when several results came at once or the model
// was changed for one with less room, and for what is pinned. Then the longest of it is told in short. The journal has all of it.

// leastPart is the tokens that a message keeps which is told in short.
const leastPart = 50

// squeeze tells the longest messages in short until the request fits: results of calls first, then what was said, and what is pinned last.
// What a person has said last stays: people can say it in another way. Where it does not fit even then, fits is false, and what could be
// done is done.
func (d *draft) squeeze(ctx context.Context) (told []session.Notice, fits bool, _ error) {
	pins, err := d.kept(ctx)
	if err != nil {
		return nil, false, err
	}
	var last []session.Reduction
	classes := d.view.squeezable(ids(pins))
	for n := 1; n <= len(classes) && !fits; n++ {
		parts := slices.Concat(classes[:n]...)
		for limit := d.usable / 2; limit > leastPart && !fits; {
			limit = max(limit/2, leastPart)
			shorter := d.view.inShort(parts, limit)
			if len(shorter) == 0 {
				continue
			}
			v, err := Look(ctx, extended{d.path, []session.Body{session.Reduced{Messages: shorter}}})
			if err != nil {
				return nil, false, err
			}
			last, fits = shorter, v.Estimate(d.header).Tokens <= d.usable
		}
	}
	if len(last) == 0 {
		return nil, false, nil
	}
	told = d.view.notices(last, d.usable)
	d.begin("reduction")
	d.add(session.Reduced{Messages: last})
	return told, fits, d.look(ctx)
}

// squeezable is the places of the messages that may be told in short, by how much they are worth: results, words, and what is pinned.
func (v *View) squeezable(pins []session.ID) (classes [3][]int) {
	asked := len(v.Messages) > 0 && v.Messages[len(v.Messages)-1].Role == llm.RoleUser // the last message is a question
	answered := asked
	for i, b := range slices.Backward(v.Blocks) {
		m := v.Messages[i]
		last := asked && i == len(v.Blocks)-1 || m.Role == llm.RoleAssistant && !answered // its calls have their results behind it
		answered = answered || m.Role == llm.RoleAssistant
		switch {
		case last, b.Why != Said && b.Why != Shorter:
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

// inShort is shorter texts for those messages that have more than so many tokens. An answer loses its calls, and they their results.
func (v *View) inShort(parts []int, limit int) []session.Reduction {
	var out []session.Reduction
	for _, i := range parts {
		if m := v.Messages[i]; countMessages([]llm.Message{m}) > limit {
			out = append(out, session.Reduction{Entry: v.Blocks[i].Entries[0], Reason: "long", Text: inShort(m, limit)})
		}
	}
	return out
}

// inShort is the beginning and the end of a message, in so many tokens.
func inShort(m llm.Message, limit int) string {
	text, _ := strings.CutSuffix(fit(m.Text(), limit*9/10), "\n")
	for _, c := range m.Calls() {
		text += "\n[called " + c.Name + "; what it was called with and its result are left out]"
	}
	if slices.ContainsFunc(m.Content, isMedium) {
		text += "\n[Pictures and documents are left out.]"
	}
	if text == "" { // nothing but thinking
		return "[left out]"
	}
	return text
}

func isMedium(p llm.Part) bool {
	switch p.(type) {
	case llm.Image, llm.Document:
		return true
	default:
		return false
	}
}

// notices says which words of people are told in short.
func (v *View) notices(shorter []session.Reduction, usable int) (told []session.Notice) {
	for i, b := range v.Blocks {
		m := v.Messages[i]
		byEntry := func(r session.Reduction) bool { return r.Entry == b.Entries[0] }
		if m.Role == llm.RoleUser && b.turn && slices.ContainsFunc(shorter, byEntry) {
			told = append(told, tooLong("a message of yours", b.Entries[0], m, usable))
		}
	}
	return told
}

// boundPins tells the longest pinned messages in short where all of them would have more than so many tokens, and says which.
func boundPins(kept []session.Kept, most int) (bounded []session.Kept, told []session.Notice) {
	size := func(limit int) (n int) {
		for _, k := range kept {
			if k.Pinned {
				n += min(limit, countMessages([]llm.Message{k.Message}))
			}
		}
		return n
	}
	limit := max(most, leastPart)
	for limit > leastPart && size(limit) > most {
		limit = max(limit*3/4, leastPart)
	}
	bounded = slices.Clone(kept)
	for i, k := range kept {
		if !k.Pinned || countMessages([]llm.Message{k.Message}) <= limit {
			continue
		}
		told = append(told, tooLong("a pinned message", k.Entry, k.Message, most))
		text := inShort(k.Message, limit)
		short := llm.UserText(text)
		if marked(k.Message) && !marked(short) { // it says itself that it is pinned
			short = llm.UserText(text + "\n[[keep]]")
		}
		bounded[i].Message = short
	}
	return bounded, told
}

// tooLong says that a message is told in short, where it is, and what can be done.
func tooLong(what string, entry session.ID, m llm.Message, most int) session.Notice {
	begin := strings.Join(strings.Fields(m.Text()), " ")
	if runes := []rune(begin); len(runes) > 40 {
		begin = string(runes[:40]) + "…"
	}
	advice := "say what matters of it in a shorter one"
	if what == "a pinned message" {
		advice = "unpin it, or leave out its [[keep]], and pin a shorter one that says what matters"
	}
	return session.Notice{Text: fmt.Sprintf(
		"%s is too long for the context window: entry %s, %q, has about %d tokens, of %d that there may be. The model is told its beginning "+
			"and end; %s, or take a model with a larger window", what, entry, begin, countMessages([]llm.Message{m}), most, advice)}
}

// parts says what takes the room of a request that is too long.
func (v *View) parts(h Header) string {
	h.Schema = nil
	fixed := (&View{}).Estimate(h).Tokens
	var place, pinned, rest int
	scale := v.scale(h.Model)
	for i, b := range v.Blocks {
		n := scale.Tokens(countMessages(v.Messages[i : i+1]))
		switch b.Why {
		case Told:
			place += n
		case Pinned:
			pinned += n
		default:
			rest += n
		}
	}
	return fmt.Sprintf("system prompt and tools have about %d tokens, context files and what else is told of the place %d, pinned messages %d, "+
		"the conversation %d; %s. Take a model with a larger window, or have less of these", fixed, place, pinned, rest, v.largest())
}
