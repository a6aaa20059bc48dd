package view

import (
	"context"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Messages returns the conversation of a path, oldest first: events whose Body is a [session.Message]. Results follow the message with their
// calls, in the order of the calls. An unfinished answer that no other answer replaced is the last message, with [llm.StopAborted] and the
// ID of its last [session.Partial].
func Messages(ctx context.Context, p Path) ([]session.Event, error) {
	if all, ok := p.(Entries); ok {
		return arrange(all), nil
	}
	var newestFirst []session.Event
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		switch e.Body.(type) {
		case session.Message, session.Partial, session.Discarded:
			newestFirst = append(newestFirst, e)
		}
	}
	slices.Reverse(newestFirst)
	return arrange(newestFirst), nil
}

// arrange makes the conversation from messages, partial answers and discards in the order of the journal.
func arrange(events []session.Event) []session.Event {
	out := make([]session.Event, 0, len(events))
	var open []session.Event // partials that are still valid
	for _, e := range events {
		switch b := e.Body.(type) {
		case session.Partial:
			if len(open) > 0 && !sameAnswer(open[0], e) {
				open = open[:0]
			}
			open = append(open, e)
		case session.Discarded:
			open = open[:0]
		case session.Message:
			if b.Role == llm.RoleAssistant {
				open = open[:0]
			}
			out = append(out, e)
		}
	}
	orderResults(out)
	if m, ok := joinPartials(open); ok {
		out = append(out, m)
	}
	return out
}

// orderResults sorts the results after each answer by the order of its calls.
func orderResults(events []session.Event) {
	for i := 0; i < len(events); {
		calls := events[i].Body.(session.Message).Calls()
		i++
		end := i
		for end < len(events) && events[end].Body.(session.Message).Role == llm.RoleTool {
			end++
		}
		if end-i > 1 && len(calls) > 1 {
			place := make(map[string]int, len(calls))
			for n, c := range calls {
				place[c.ID] = n
			}
			slices.SortStableFunc(events[i:end], func(a, b session.Event) int {
				return place[a.Body.(session.Message).CallID] - place[b.Body.(session.Message).CallID]
			})
		}
		i = end
	}
}

// sameAnswer reports whether two partials belong to one answer. A turn has one answer. A later turn with a partial replaces the unfinished
// answer of an earlier one.
func sameAnswer(a, b session.Event) bool { return a.Run == b.Run && a.Turn == b.Turn }

// joinPartials makes the message of an unfinished answer.
func joinPartials(partials []session.Event) (session.Event, bool) {
	if len(partials) == 0 {
		return session.Event{}, false
	}
	var j joiner
	for _, e := range partials {
		for _, part := range e.Body.(session.Partial).Content {
			j.add(part)
		}
	}
	m := llm.Message{Role: llm.RoleAssistant, Content: j.content(), Stop: llm.StopAborted}
	last := partials[len(partials)-1]
	last.Body = session.Message{Message: m}
	return last, !m.Empty()
}

// joiner joins the pieces of an answer: adjacent texts become one part, and so does adjacent thinking.
type joiner struct {
	done     llm.Content
	text     strings.Builder
	thinking bool // text holds thinking
}

func (j *joiner) add(part llm.Part) {
	switch p := part.(type) {
	case llm.Text:
		j.grow(p.Text, false)
	case llm.Thinking:
		j.grow(p.Text, true)
	default:
		j.done = append(j.content(), part)
	}
}

func (j *joiner) grow(text string, thinking bool) {
	if thinking != j.thinking {
		j.done = j.content()
		j.thinking = thinking
	}
	j.text.WriteString(text)
}

// content returns all parts.
func (j *joiner) content() llm.Content {
	if j.text.Len() > 0 {
		var part llm.Part = llm.Text{Text: j.text.String()}
		if j.thinking {
			part = llm.Thinking{Text: j.text.String()}
		}
		j.done = append(j.done, part)
		j.text = strings.Builder{}
	}
	return j.done
}

// Used is the usage of a path: its answers, summaries and titles.
type Used struct {
	Total   llm.Usage            `json:"total"`
	ByModel map[string]llm.Usage `json:"by_model"` // by "provider/model"
	Answers int                  `json:"answers"`
}

// Uses returns the usage of a path.
func Uses(ctx context.Context, p Path) (Used, error) {
	used := Used{ByModel: make(map[string]llm.Usage)}
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return Used{}, err
		}
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			used.Answers++
		}
		if model, u, ok := Consumed(e.Body); ok {
			used.Total = used.Total.Plus(u)
			used.ByModel[model] = used.ByModel[model].Plus(u)
		}
	}
	return used, nil
}

// Consumed returns the usage of an entry, and the model that was used. It reports false if there is none.
func Consumed(b session.Body) (model string, u llm.Usage, ok bool) {
	switch b := b.(type) {
	case session.Message:
		if b.Role == llm.RoleAssistant {
			model, u = b.Model, b.Usage
		}
	case session.Summarized:
		model, u = b.By, b.Usage
	case session.Title:
		model, u = b.By, b.Usage
	case session.Note:
		model, u = b.By, b.Usage
	case session.ParallelEnded:
		u = b.Usage // of the model that judged
	}
	return model, u, u != (llm.Usage{})
}

// Todos returns the todo list at the end of a path.
func Todos(ctx context.Context, p Path) ([]session.TodoItem, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if t, ok := e.Body.(session.Todo); ok {
			return t.Items, nil
		}
	}
	return nil, nil
}

// State is the state of an agent, for people who watch it.
type State struct {
	Intent  string             `json:"intent,omitzero"` // the model's hypothesis of the person's goal
	Model   string             `json:"model,omitzero"`  // "provider/model" of the last answer
	Run     session.RunID      `json:"run,omitzero"`    // the last run
	Running bool               `json:"running"`         // it has not ended
	Ended   *session.RunEnded  `json:"ended,omitzero"`  // how it ended
	Tools   []ToolUse          `json:"tools,omitzero"`  // its calls, oldest first
	Denials int                `json:"denials"`         // number of denied calls
	Todo    []session.TodoItem `json:"todo,omitzero"`
}

// ToolUse is one call of a run and its outcome.
type ToolUse struct {
	Call      string          `json:"call"`
	Tool      string          `json:"tool"`
	Arguments string          `json:"arguments"`
	Done      bool            `json:"done"` // there is a result
	Outcome   session.Outcome `json:"outcome,omitzero"`
}

// StateOf returns the state at the end of a path. It reads back to the start of the last run, the last todo list and the last intent.
func StateOf(ctx context.Context, p Path) (State, error) {
	var s State
	outcomes := make(map[string]session.Outcome)
	var begun, todo, moved bool // seen: the start of the last run, a todo list, a rewind between runs
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return State{}, err
		}
		switch b := e.Body.(type) {
		case session.RunEnded:
			if s.Ended == nil && !begun {
				s.Ended = &b
			}
		case session.Head:
			moved = moved || !begun && e.Run == ""
		case session.Created:
			moved = moved || !begun // in a fork: the run belongs to the other session
		case session.RunStarted:
			if !begun {
				begun, s.Run, s.Running = true, b.Run, s.Ended == nil && !moved
			}
		case session.Todo:
			if !todo {
				todo, s.Todo = true, b.Items
			}
		case session.Message:
			s.addMessage(b, outcomes, begun)
		}
		if begun && todo && s.Intent != "" {
			break
		}
	}
	slices.Reverse(s.Tools)
	return s, nil
}

func (s *State) addMessage(m session.Message, outcomes map[string]session.Outcome, older bool) {
	if m.Role == llm.RoleAssistant {
		if s.Intent == "" {
			s.Intent = Intent(m.Text())
		}
		if s.Model == "" {
			s.Model = m.Model
		}
	}
	if older {
		return
	}
	if m.Role == llm.RoleTool {
		outcomes[m.CallID] = m.Outcome
		if m.Outcome == session.OutcomeDenied {
			s.Denials++
		}
		return
	}
	for _, c := range slices.Backward(m.Calls()) {
		outcome, done := outcomes[c.ID]
		delete(outcomes, c.ID)
		s.Tools = append(s.Tools, ToolUse{Call: c.ID, Tool: c.Name, Arguments: c.Arguments, Done: done, Outcome: outcome})
	}
}

// Intent returns the text between <intent> and </intent>: a model's hypothesis of the person's goal. Frontends do not show the tag.
func Intent(text string) string {
	_, text, _ = strings.Cut(text, "<intent>")
	intent, _, ok := strings.Cut(text, "</intent>")
	if !ok {
		return ""
	}
	return strings.Join(strings.Fields(intent), " ")
}
