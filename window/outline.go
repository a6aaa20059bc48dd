package window

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/internal/excerpt"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Sections is what the summary of a digest must speak of, in this order, each under a heading "## Name".
var sections = []string{"Goal", "Decisions", "State", "Files", "Errors", "Open", "Next step"}

// Sections is what the summary of a digest must speak of, in this order, each under a heading "## Name".
func Sections() []string { return slices.Clone(sections) }

// Outline is a [Digester] that needs no model: it lists what was asked, what was said last, what was called and changed, and what failed.
// The same events have the same outline.
type Outline struct{}

// Digest implements [Digester]. It never fails.
func (Outline) Digest(_ context.Context, t Task) (session.Digest, error) {
	o := outline{task: t}
	for _, e := range t.Events {
		o.take(e.Body.(session.Message))
	}
	d := session.Digest{Files: o.files()}
	d.Summary = fit(o.text(d.Files), t.Limit)
	return d, nil
}

// outline gathers what an Outline tells.
type outline struct {
	task   Task
	first  string         // what was asked first
	asked  string         // and last
	said   string         // the last words of the model
	calls  map[string]int // by tool
	errors []string
}

func (o *outline) take(m session.Message) {
	switch {
	case m.Role == llm.RoleUser && byPerson(m.Source):
		o.asked = m.Text()
		if o.first == "" {
			o.first = o.asked
		}
	case m.Role == llm.RoleAssistant:
		if text := strings.TrimSpace(m.Text()); text != "" {
			o.said = text
		}
		for _, c := range m.Calls() {
			if o.calls == nil {
				o.calls = make(map[string]int)
			}
			o.calls[c.Name]++
		}
	case m.Role == llm.RoleTool && m.IsError:
		o.errors = append(o.errors, m.Tool+": "+excerpt.HeadTail(strings.TrimSpace(m.Text()), 200))
	}
}

// files is what calls have read and written, the newest last, from their effects.
func (o *outline) files() []string {
	var names []string
	if o.task.Before != nil {
		names = slices.Clone(o.task.Before.Files)
	}
	for _, c := range o.task.Calls {
		var effects struct{ Reads, Writes []struct{ Name string } }
		if json.Unmarshal(c.Effects, &effects) != nil {
			continue
		}
		for _, p := range slices.Concat(effects.Reads, effects.Writes) {
			names = append(slices.DeleteFunc(names, func(n string) bool { return n == p.Name }), p.Name)
		}
	}
	return names[max(0, len(names)-50):]
}

func (o *outline) text(files []string) string {
	before := o.before()
	goal := before["Goal"] // what was asked first of all stays the goal
	if goal == "" {
		goal = o.first
	}
	errors := o.errors[max(0, len(o.errors)-5):]
	if len(errors) == 0 {
		errors = []string{before["Errors"]}
	}
	next := o.asked
	if next == "" {
		next = before["Next step"]
	}
	open := todoText(slices.DeleteFunc(slices.Clone(o.task.Todo), func(i session.TodoItem) bool { return i.Status == "completed" }))
	said := map[string]string{
		"Goal":      goal,
		"Decisions": before["Decisions"],
		"State":     o.state(before["State"]),
		"Files":     strings.Join(files, "\n"),
		"Errors":    strings.Join(errors, "\n"),
		"Open":      open,
		"Next step": next,
	}
	each := sectionBytes
	if o.task.Limit > 0 {
		const bytesPerToken = 3
		each = min(each, max(60, o.task.Limit*bytesPerToken/len(sections)))
	}
	var b strings.Builder
	for _, name := range sections {
		text := excerpt.HeadTail(strings.TrimSpace(said[name]), each)
		if text == "" {
			text = noneKnown
		}
		fmt.Fprintf(&b, "## %s\n%s\n\n", name, text)
	}
	return strings.TrimSpace(b.String())
}

const (
	sectionBytes = 1500 // of one section
	noneKnown    = "None known."
	earlier      = "\nEarlier: "
)

// state is what was said last, what it was before, and what was called.
func (o *outline) state(before string) string {
	now := strings.TrimSpace(excerpt.HeadTail(o.said, sectionBytes/3) + o.called())
	before, _, _ = strings.Cut(before, earlier) // what was even earlier fades
	if before = strings.TrimSpace(before); before != "" {
		now += earlier + excerpt.HeadTail(before, sectionBytes/3)
	}
	return now
}

// before is the sections of the digest before; of one that has none all of it is decisions.
func (o *outline) before() map[string]string {
	if o.task.Before == nil {
		return nil
	}
	found := make(map[string]string)
	name := ""
	for line := range strings.Lines(o.task.Before.Summary) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok && slices.Contains(sections, title) {
			name = title
		} else {
			found[name] += line
		}
	}
	for name, text := range found {
		if found[name] = strings.TrimSpace(text); found[name] == noneKnown {
			delete(found, name)
		}
	}
	if loose := found[""]; loose != "" {
		found["Decisions"] = loose + "\n" + found["Decisions"]
	}
	return found
}

// called says how often which tools were called.
func (o *outline) called() string {
	if len(o.calls) == 0 {
		return ""
	}
	var parts []string
	for name, n := range o.calls {
		parts = append(parts, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(parts)
	return "\nCalls so far: " + strings.Join(parts, ", ") + "."
}

// fit cuts a text to so many tokens, or to what is left of it when that is next to nothing.
func fit(text string, limit int) string {
	const note = 64 // bytes that say what was left out
	for n := tokens.Text(text); limit > 0 && n > limit && len(text) > 2*note; n = tokens.Text(text) {
		text = excerpt.HeadTail(text, max(len(text)*limit/n-note, note/2))
	}
	return text
}
