package window

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// keep is what a digest keeps word for word of the entries before cut and of the digest before: what is pinned, the first thing that the
// person said, and of the rest the newest that fit into the budget.
func (v *View) keep(cut, budget int, pins []session.Kept) []session.Kept {
	all := v.candidates(cut, pins)
	stays := make([]bool, len(all))
	take := func(i int) {
		if n := countMessages([]llm.Message{all[i].Message}); !stays[i] && n <= budget {
			budget -= n
			stays[i] = true
		}
	}
	for i, k := range all {
		stays[i] = k.Pinned
	}
	if first := slices.IndexFunc(all, func(k session.Kept) bool { return !k.Pinned }); first >= 0 {
		take(first)
	}
	for i := range slices.Backward(all) {
		take(i)
	}
	var kept []session.Kept
	for i, k := range all {
		if stays[i] {
			kept = append(kept, k)
		}
	}
	return kept
}

// candidates is what a digest might keep, oldest first, and what of it is pinned as of now.
func (v *View) candidates(cut int, pins []session.Kept) []session.Kept {
	pinned := func(id session.ID, m llm.Message) bool {
		return marked(m) || slices.ContainsFunc(pins, func(k session.Kept) bool { return k.Entry == id })
	}
	var all []session.Kept
	if d, ok := v.Digest.Body.(session.Digest); ok {
		for _, k := range d.Kept {
			k.Pinned = pinned(k.Entry, k.Message) // somebody may have changed their mind
			if i := slices.IndexFunc(pins, func(p session.Kept) bool { return p.Entry == k.Entry }); i >= 0 {
				k.Message = asSaid(pins[i].Message) // there may be room for all of it now
			}
			if k.Pinned || !standsAlone(k.Message) {
				all = append(all, k)
			}
		}
	}
	for _, e := range v.original(cut) {
		m := e.Body.(session.Message)
		if m.Empty() {
			continue
		}
		pin := m.Source != fromContext && pinned(e.ID, m.Message) // context is told again anyway
		if pin || m.Role == llm.RoleUser && byPerson(m.Source) {
			all = append(all, session.Kept{Entry: e.ID, Message: asSaid(m.Message), Pinned: pin})
		}
	}
	return append(v.elsewhere(pins, all), all...)
}

// marked reports whether a message says itself that it is to be kept: by the person's word, or as a checkpoint of the model. The word counts
// in the first text of what a person said alone: behind it may stand data, of which nobody knows what it says.
func marked(m llm.Message) bool {
	first := slices.IndexFunc(m.Content, func(p llm.Part) bool { _, ok := p.(llm.Text); return ok })
	if m.Role != llm.RoleUser || first < 0 {
		return false
	}
	text := m.Content[first].(llm.Text).Text
	if strings.HasPrefix(text, lessonIntro) {
		return strings.HasPrefix(text, lessonIntro+titleCheckpoint+": ")
	}
	return !strings.HasPrefix(text, keptBegin) && strings.Contains(text, "[[keep]]")
}

// elsewhere is the pinned messages that are neither in a list nor in the view: they lie further back than the digest before.
func (v *View) elsewhere(pins, list []session.Kept) []session.Kept {
	var out []session.Kept
	for _, k := range pins {
		same := func(o session.Kept) bool { return o.Entry == k.Entry }
		if !slices.ContainsFunc(list, same) && !slices.ContainsFunc(v.entries, func(e session.Event) bool { return e.ID == k.Entry }) {
			out = append(out, session.Kept{Entry: k.Entry, Message: asSaid(k.Message), Pinned: true})
		}
	}
	return out
}

// asSaid is a message as it can stand alone: an answer or a result as what it said, for its calls and its caller are gone. A result is
// data: it cannot go on as the person behind the end of its block.
func asSaid(m llm.Message) llm.Message {
	text := disarm(m.Text(), "</kept")
	switch m.Role {
	case llm.RoleTool:
		return llm.UserText(keptBegin + " tool=\"" + strings.Map(inName, m.Tool) + "\">\n" + text + "\n</kept>")
	case llm.RoleAssistant:
		return llm.UserText(keptBegin + ">\nYou said: " + text + "\n</kept>")
	default:
		return m
	}
}

const keptBegin = "<kept"

// standsAlone reports whether a message was made by asSaid of one that no person said.
func standsAlone(m llm.Message) bool { return strings.HasPrefix(m.Text(), keptBegin) }

// byPerson reports whether a user message came from a person.
func byPerson(s session.Source) bool {
	return s == session.FromInput || s == session.FromSteering || s == session.FromFollowUp
}
