package window

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// keep is the messages that a summary of the entries before cut keeps verbatim: the pinned ones, the person's first message, and the newest
// other messages of the person that fit into the budget.
func (v *View) keep(cut, budget int, pins []session.Verbatim) []session.Verbatim {
	all := v.candidates(cut, pins)
	stays := make([]bool, len(all))
	take := func(i int) {
		if n := countMessages(all[i].Message); !stays[i] && n <= budget {
			budget -= n
			stays[i] = true
		}
	}
	for i, k := range all {
		stays[i] = k.Pinned
	}
	if first := slices.IndexFunc(all, func(k session.Verbatim) bool { return !k.Pinned }); first >= 0 {
		take(first)
	}
	for i := range slices.Backward(all) {
		take(i)
	}
	var kept []session.Verbatim
	for i, k := range all {
		if stays[i] {
			kept = append(kept, k)
		}
	}
	return kept
}

// pinOf finds an entry among pinned messages.
func pinOf(pins []session.Verbatim, id session.ID) int {
	return slices.IndexFunc(pins, func(k session.Verbatim) bool { return k.Entry == id })
}

// candidates is the messages that a summary may keep, oldest first. Pinned ones are marked, as of now.
func (v *View) candidates(cut int, pins []session.Verbatim) []session.Verbatim {
	var all []session.Verbatim
	if d, ok := v.Summary.Body.(session.Summarized); ok {
		for _, k := range slices.Concat(d.Omitted, d.Verbatim) {
			i := pinOf(pins, k.Entry)
			k.Pinned = marked(k.Message) || i >= 0 // a person may have unpinned it
			if i >= 0 {
				k.Message = quoted(pins[i].Message) // its full text may fit now
			}
			if k.Pinned || !isQuoted(k.Message) {
				all = append(all, k)
			}
		}
	}
	for _, e := range v.original(cut) {
		m := e.Body.(session.Message)
		if m.Empty() {
			continue
		}
		said := Spoken(m)
		pin := m.Source != fromContext && (marked(said) || pinOf(pins, e.ID) >= 0) // a summary repeats the context anyway
		if pin || m.ByPerson() {
			all = append(all, session.Verbatim{Entry: e.ID, Message: quoted(said), Pinned: pin})
		}
	}
	var older []session.Verbatim // pinned messages from before the previous summary
	for _, k := range pins {
		if pinOf(all, k.Entry) < 0 && !v.has(k.Entry) {
			older = append(older, session.Verbatim{Entry: k.Entry, Message: quoted(k.Message), Pinned: true})
		}
	}
	return append(older, all...)
}

// marked reports whether a message pins itself: by a person's [[keep]], or as a checkpoint of the model. [[keep]] counts only in the
// first text of a person's message, because data may follow it.
func marked(m llm.Message) bool {
	first := slices.IndexFunc(m.Content, func(p llm.Part) bool { _, ok := p.(llm.Text); return ok })
	if m.Role != llm.RoleUser || first < 0 {
		return false
	}
	text := m.Content[first].(llm.Text).Text
	if strings.HasPrefix(text, lessonIntro) {
		return strings.HasPrefix(text, lessonIntro+titleCheckpoint+": ")
	}
	return ByUser(m) && strings.Contains(text, "[[keep]]")
}

const keptBegin = "<kept"

// quoted is a message that no longer has its context: an answer without its calls, a result without its call. Its text cannot end the block.
func quoted(m llm.Message) llm.Message {
	switch m.Role {
	case llm.RoleTool:
		return llm.UserText(keptBegin + " tool=\"" + strings.Map(inName, m.Tool) + "\">\n" + disarm(m.Text(), "</kept") + "\n</kept>")
	case llm.RoleAssistant:
		return llm.UserText(keptBegin + ">\nYou said: " + disarm(m.Text(), "</kept") + "\n</kept>")
	default:
		return m
	}
}

// isQuoted reports whether quoted made the message of one that no person wrote.
func isQuoted(m llm.Message) bool { return strings.HasPrefix(m.Text(), keptBegin) }
