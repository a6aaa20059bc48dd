package window

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

var errNothing = errors.New("there is nothing that a summary could stand for: the last answers and their results stay word for word, and before them is next to nothing")

// plan decides what a digest will stand for: all but the end of the conversation.
func (w *Window) plan(d *draft, reason, focus string) (plan, error) {
	v := d.view
	tail := min(int(w.options.KeepTail*float64(d.usable)), d.estimate().Tokens/4)
	cut, through := v.cut(tail)
	if cut == 0 || v.Digest.Body == nil && v.gain(d.header, cut) < d.estimate().Tokens/10 {
		return plan{}, errNothing // nobody is paid for what would take no effect
	}
	p := plan{through: through, cut: cut, before: v.Digest.ID}
	p.task = v.task(cut)
	p.task.Live, p.task.Model = d.header.request(v.Messages), d.header.Model
	p.task.Tail = answersIn(v.entries[cut:])
	p.task.Reason, p.task.Focus, p.task.Limit = reason, focus, max(d.usable/20, 500)
	return p, nil
}

// gain is the most tokens that a first digest could save: those of what it stands for, but for the context, which it tells again.
func (v *View) gain(h Header, cut int) int {
	n := 0
	for _, e := range v.entries[:cut] {
		n += countMessages([]llm.Message{e.Body.(session.Message).Message})
	}
	return v.scale(h.Model).Tokens(n - countMessages([]llm.Message{llm.UserText(contextText(v.Context))}))
}

// task is what is known of a digest that is to stand for the entries before cut. The request is that of the epoch.
func (v *View) task(cut int) Task {
	t := Task{Events: v.original(cut), Todo: v.todos()}
	epoch, _ := v.Epoch.Body.(session.Epoch)
	t.Live = Header{System: epoch.System, Tools: epoch.Tools, Thinking: epoch.Thinking}.request(v.Messages)
	t.Model = epoch.Model
	if before, ok := v.Digest.Body.(session.Digest); ok {
		t.Before = &before
	}
	answers := answersIn(v.entries[:cut])
	for _, b := range v.begun {
		if b.answer <= answers {
			t.Calls = append(t.Calls, b.call)
		}
	}
	return t
}

// keepTurns is the tokens of what the person said that stay word for word.
func (w *Window) keepTurns(usable int) int {
	if w.options.KeepTurns > 0 {
		return w.options.KeepTurns
	}
	return usable / 20
}

// cut is the place among the entries up to which a digest may stand, and the newest entry of the journal before it; 0 when there is none.
// Behind it are as many tokens as asked for, and the last answer with its results, unless so much was said since that it lies far back.
func (v *View) cut(tail int) (at int, through session.ID) {
	ends := v.ends()
	size, answers := 0, 0
	for i := len(v.entries) - 1; i > 0; i-- {
		m := v.entries[i].Body.(session.Message)
		size += countMessages([]llm.Message{m.Message})
		if m.Role == llm.RoleAssistant {
			answers++
		}
		if ends[i] == "" {
			continue
		}
		if at == 0 || size <= tail || answers <= 1 && size <= 3*tail {
			at, through = i, ends[i]
		}
		if size > tail && (answers > 0 || size > 3*tail) {
			break
		}
	}
	return at, through
}

// ends says for each place among the entries whether a digest may stand for all before it: the newest entry of the journal that is
// before it, or nothing where the order of the view and that of the journal do not part there alike, or where a call would lose
// its result.
func (v *View) ends() []session.ID {
	age := make(map[session.ID]int, len(v.journal)) // 1 is the newest; 0 has those that are not written yet
	for i, id := range v.journal {
		if id != "" {
			age[id] = i + 1
		}
	}
	oldestBehind := make([]int, len(v.entries)+1)
	for i, e := range slices.Backward(v.entries) {
		oldestBehind[i] = max(oldestBehind[i+1], age[e.ID])
	}
	ends := make([]session.ID, len(v.entries))
	newest := len(v.journal) + 1
	var through session.ID
	waits := v.resultsWait()
	for i, e := range v.entries {
		if i > 0 && newest > oldestBehind[i] && !waits[i] {
			ends[i] = through
		}
		if a := age[e.ID]; a < newest {
			newest, through = a, e.ID
		}
	}
	return ends
}

// resultsWait says for each place among the entries whether results stand there or behind it that belong to an answer before it.
func (v *View) resultsWait() []bool {
	waits := make([]bool, len(v.entries)+1)
	for i, e := range slices.Backward(v.entries) {
		role := e.Body.(session.Message).Role
		waits[i] = role == llm.RoleTool || waits[i+1] && role != llm.RoleAssistant
	}
	return waits
}

// original is the entries before cut as the journal has them, without what stands for them in the view.
func (v *View) original(cut int) []session.Event {
	out := slices.Clone(v.entries[:cut])
	for i, e := range out {
		if o, ok := v.originals[e.ID]; ok {
			out[i] = o
		}
	}
	return out
}

func answersIn(entries []session.Event) int {
	n := 0
	for _, e := range entries {
		if m := e.Body.(session.Message); m.Role == llm.RoleAssistant {
			n++
		}
	}
	return n
}

// has reports whether an entry is in the view, so that a digest can stand for it and what is before it.
func (d *draft) has(id session.ID) bool {
	return slices.ContainsFunc(d.view.entries, func(e session.Event) bool { return e.ID == id })
}

// The names under which a digest tells the open points again, and begins those of files in work.
const (
	todoBlock = "todo"
	fileBlock = "file "
)

// todos is what is to be done, as of the view.
func (v *View) todos() []session.TodoItem {
	if v.todo != nil {
		return v.todo.Items
	}
	before, _ := v.Digest.Body.(session.Digest)
	return before.Todo
}

// todoText is a list of what is to be done, for a model.
func todoText(items []session.TodoItem) string {
	var b strings.Builder
	for _, i := range items {
		mark := " "
		switch i.Status {
		case "completed":
			mark = "x"
		case "in_progress":
			mark = ">"
		}
		fmt.Fprintf(&b, "[%s] %s\n", mark, i.Text)
	}
	return b.String()
}

// largest names what takes the most room in a view.
func (v *View) largest() string {
	at, size := -1, 0
	for i, m := range v.Messages {
		if n := countMessages([]llm.Message{m}); n > size {
			at, size = i, n
		}
	}
	if at < 0 {
		return "it has no messages: the system prompt and the tools alone are too long"
	}
	m := v.Messages[at]
	what := "a message of the " + string(m.Role)
	if m.Role == llm.RoleTool {
		what = "a result of " + m.Tool
	}
	return fmt.Sprintf("the largest part is %s with about %d tokens", what, size)
}
