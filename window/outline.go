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
)

var sections = []string{"Goal", "Decisions", "State", "Files", "Errors", "Open", "Next step"}

// Sections returns the sections of a summary in their order. Each has a heading "## Name".
func Sections() []string { return slices.Clone(sections) }

// Extract is a [Summarizer] without a model. It lists the first and last prompts, the last words of the model, calls, files and failures.
// The same events give the same summary.
type Extract struct{}

// Summarize implements [Summarizer]. It never fails.
func (Extract) Summarize(_ context.Context, t Task) (session.Summarized, error) {
	o := outline{task: t, calls: make(map[string]int)}
	for _, e := range t.Events {
		o.take(e.Body.(session.Message))
	}
	d := session.Summarized{Files: o.files()}
	d.Summary = fit(o.text(d.Files), t.Limit)
	return d, nil
}

// outline collects the facts of an Extract.
type outline struct {
	task   Task
	first  string         // prompt
	asked  string         // the last prompt
	said   string         // the last words of the model
	calls  map[string]int // by tool
	errors []string
}

func (o *outline) take(m session.Message) {
	switch {
	case m.ByPerson():
		o.asked = m.Text()
		if o.first == "" {
			o.first = o.asked
		}
	case m.Role == llm.RoleAssistant:
		if text := strings.TrimSpace(m.Text()); text != "" {
			o.said = text
		}
	case m.Role == llm.RoleTool:
		if o.calls[m.Tool]++; !m.IsError {
			return
		}
		o.errors = append(o.errors, m.Tool+": "+excerpt.HeadTail(strings.TrimSpace(m.Text()), 200))
	}
}

// files are the files that calls have read and written, the newest last.
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

const (
	sectionBytes = 1500 // of one section
	noneKnown    = "None known."
	earlier      = "\nEarlier: "
)

func (o *outline) text(files []string) string {
	said := o.before()
	if said["Goal"] == "" { // otherwise the first prompt of all stays the goal
		said["Goal"] = o.first
	}
	said["State"] = o.state(said["State"])
	said["Files"] = strings.Join(files, "\n")
	if len(o.errors) > 0 {
		said["Errors"] = strings.Join(o.errors[max(0, len(o.errors)-5):], "\n")
	}
	said["Open"] = todoText(slices.DeleteFunc(slices.Clone(o.task.Todo), func(i session.TodoItem) bool { return i.Status == "completed" }))
	if o.asked != "" {
		said["Next step"] = o.asked
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

// state is the last words of the model, the previous state, and the numbers of calls.
func (o *outline) state(before string) string {
	now := excerpt.HeadTail(o.said, sectionBytes/3)
	if len(o.calls) > 0 {
		var parts []string
		for name, n := range o.calls {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
		slices.Sort(parts)
		now += "\nCalls so far: " + strings.Join(parts, ", ") + "."
	}
	now = strings.TrimSpace(now)
	before, _, _ = strings.Cut(before, earlier) // even older states fade
	if before = strings.TrimSpace(before); before != "" {
		now += earlier + excerpt.HeadTail(before, sectionBytes/3)
	}
	return now
}

// before is the sections of the previous summary. Text without a section counts as decisions.
func (o *outline) before() map[string]string {
	found := make(map[string]string)
	if o.task.Before == nil {
		return found
	}
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
