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
	const each = 1500 // bytes of one section
	said := map[string]string{
		"Goal":      excerpt.HeadTail(o.first, each),
		"State":     excerpt.HeadTail(o.said, each) + o.called(),
		"Files":     strings.Join(files, "\n"),
		"Errors":    strings.Join(o.errors[max(0, len(o.errors)-5):], "\n"),
		"Open":      todoText(slices.DeleteFunc(slices.Clone(o.task.Todo), func(i session.TodoItem) bool { return i.Status == "completed" })),
		"Next step": excerpt.HeadTail(o.asked, each/2),
	}
	if b := o.task.Before; b != nil {
		said["Decisions"] = "From the summary before:\n" + excerpt.HeadTail(b.Summary, 2*each)
	}
	var b strings.Builder
	for _, name := range sections {
		text := strings.TrimSpace(said[name])
		if text == "" {
			text = "None known."
		}
		fmt.Fprintf(&b, "## %s\n%s\n\n", name, text)
	}
	return strings.TrimSpace(b.String())
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

// fit cuts a text to so many tokens.
func fit(text string, limit int) string {
	for limit > 0 && tokens.Text(text) > limit {
		n := len(text) * limit / (tokens.Text(text) + 1)
		if n >= len(text)-1 {
			n = len(text) - 2
		}
		text = excerpt.HeadTail(text, n)
		if n < 200 {
			break
		}
	}
	return text
}
