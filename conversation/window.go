package conversation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// ContextWindow is the contents of the context window: the next request as it is now. All tokens are estimates.
type ContextWindow struct {
	Used    int          `json:"used"`
	Usable  int          `json:"usable"` // for requests, without the space for the answer
	Size    int          `json:"size"`   // of the model; 0: unknown
	Parts   []WindowPart `json:"parts"`  // one for each kind with tokens, the largest first
	Largest []WindowItem `json:"largest"`
}

// WindowPart is the share of one kind of contents.
type WindowPart struct {
	Kind   WindowKind `json:"kind"`
	Items  int        `json:"items"`
	Tokens int        `json:"tokens"`
}

// WindowItem is one tool, context block or message.
type WindowItem struct {
	Kind   WindowKind `json:"kind"`
	Name   string     `json:"name"`           // of the tool or the block; of a message, its first line
	Entry  session.ID `json:"entry,omitzero"` // of a message
	Tokens int        `json:"tokens"`
}

// WindowKind is a kind of contents.
type WindowKind string

// The kinds of contents.
const (
	WindowSystem      WindowKind = "system"      // the system prompt
	WindowTools       WindowKind = "tools"       // descriptions of tools
	WindowEnvironment WindowKind = "environment" // facts about the machine and the workspace
	WindowSkills      WindowKind = "skills"      // the list of skills
	WindowFiles       WindowKind = "files"       // context files, and files that a summary shows again
	WindowPrompts     WindowKind = "prompts"     // messages of people
	WindowNotes       WindowKind = "notes"       // messages of commands, jobs, hooks, agents and Tenon
	WindowAnswers     WindowKind = "answers"     // of the model, with their calls
	WindowResults     WindowKind = "results"     // of calls
	WindowSummary     WindowKind = "summary"     // the summary, and the messages that it keeps
	WindowPins        WindowKind = "pins"        // pinned messages that a summary keeps
)

// maxLargest is the number of items in [ContextWindow.Largest].
const maxLargest = 12

// Window implements [Conversation].
func (l *Local) Window(ctx context.Context) (ContextWindow, error) {
	v, err := window.Look(ctx, l.agent.Path())
	if err != nil {
		return ContextWindow{}, err
	}
	h := l.agent.Header()
	estimate := v.Estimate(h)
	w := ContextWindow{Used: estimate.Tokens, Usable: window.Usable(h), Size: h.Model.Context}
	if e, ok := v.Epoch.Body.(session.Epoch); ok && e.Limit > 0 {
		w.Usable = min(w.Usable, int(e.Limit))
	}
	c := counter{family: tokens.FamilyOf(h.Model), scale: estimate.Scale}
	c.header(h)
	for i, m := range v.Messages {
		c.message(m, v.Blocks[i])
	}
	c.blocks(v.Context)
	w.Parts, w.Largest = c.result()
	return w, nil
}

// counter adds up the items of a context window.
type counter struct {
	family  tokens.Family
	scale   float64
	items   []WindowItem
	context int // tokens of the messages with context blocks
}

func (c *counter) add(kind WindowKind, name string, entry session.ID, local int) {
	if local > 0 {
		c.items = append(c.items, WindowItem{Kind: kind, Name: name, Entry: entry, Tokens: int(float64(local) * c.scale)})
	}
}

func (c *counter) header(h window.Header) {
	c.add(WindowSystem, "system prompt", "", tokens.Text(h.System))
	for _, t := range h.Tools {
		c.add(WindowTools, t.Name, "", tokens.Tools([]llm.Tool{t}))
	}
}

func (c *counter) message(m llm.Message, b window.Block) {
	n := c.family.Message(m)
	kind := WindowNotes
	switch {
	case b.Why == window.Context:
		c.context += n
		return
	case b.Why == window.Summary, b.Why == window.Verbatim:
		kind = WindowSummary
	case b.Why == window.Pinned:
		kind = WindowPins
	case m.Role == llm.RoleTool:
		kind = WindowResults
	case m.Role == llm.RoleAssistant:
		kind = WindowAnswers
	case window.ByUser(m):
		kind = WindowPrompts
	}
	name := firstLine(m.Text())
	switch {
	case m.Role == llm.RoleTool:
		name = strings.TrimSpace(m.Tool + " " + name)
	case name == "" && len(m.Calls()) > 0:
		name = m.Calls()[0].Name
	}
	var entry session.ID
	if len(b.Entries) > 0 {
		entry = b.Entries[0]
	}
	c.add(kind, name, entry, n)
}

// blocks divides the tokens of context messages by their blocks. Former texts of blocks count as environment.
func (c *counter) blocks(current []session.ContextBlock) {
	for _, b := range current {
		kind := WindowFiles
		switch b.Name {
		case "environment", "todo":
			kind = WindowEnvironment
		case "skills":
			kind = WindowSkills
		}
		n := min(tokens.Text(b.Text), c.context)
		c.context -= n
		c.add(kind, b.Name, "", n)
	}
	c.add(WindowEnvironment, "former context", "", c.context)
}

func (c *counter) result() (parts []WindowPart, largest []WindowItem) {
	for _, it := range c.items {
		i := slices.IndexFunc(parts, func(p WindowPart) bool { return p.Kind == it.Kind })
		if i < 0 {
			i, parts = len(parts), append(parts, WindowPart{Kind: it.Kind})
		}
		parts[i].Items++
		parts[i].Tokens += it.Tokens
	}
	slices.SortStableFunc(parts, func(a, b WindowPart) int { return cmp.Compare(b.Tokens, a.Tokens) })
	slices.SortStableFunc(c.items, func(a, b WindowItem) int { return cmp.Compare(b.Tokens, a.Tokens) })
	return parts, c.items[:min(len(c.items), maxLargest)]
}

// firstLine returns the first line of a text, at most 100 characters of it.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 100 {
		line = string(r[:99]) + "…"
	}
	return line
}
