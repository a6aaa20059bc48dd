package session

import (
	"context"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Messages is the conversation of a path, oldest first: events whose Body is a [Message]. Results stand behind the message
// that asked for them, in the order of its calls, whenever they came in. An answer that was cut off, and that nothing
// replaced, is the last message, with [llm.StopAborted] and the ID of its last [Partial].
func Messages(ctx context.Context, p Path) ([]Event, error) {
	var newestFirst []Event
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		switch e.Body.(type) {
		case Message, Partial, Discarded:
			newestFirst = append(newestFirst, e)
		}
	}
	slices.Reverse(newestFirst)
	return arrange(newestFirst), nil
}

// arrange makes the conversation of messages, partial answers and discards in the order of the journal.
func arrange(events []Event) []Event {
	out := make([]Event, 0, len(events))
	var open []Event // partials that nothing has made void yet
	for _, e := range events {
		switch b := e.Body.(type) {
		case Partial:
			if len(open) > 0 && !sameAnswer(open[0], e) {
				open = open[:0]
			}
			open = append(open, e)
		case Discarded:
			open = open[:0]
		case Message:
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

// orderResults sorts each run of results behind an answer by the order of the answer's calls.
func orderResults(events []Event) {
	for i := 0; i < len(events); {
		calls := events[i].Body.(Message).Calls()
		i++
		end := i
		for end < len(events) && events[end].Body.(Message).Role == llm.RoleTool {
			end++
		}
		if end-i > 1 && len(calls) > 1 {
			place := make(map[string]int, len(calls))
			for n, c := range calls {
				place[c.ID] = n
			}
			slices.SortStableFunc(events[i:end], func(a, b Event) int {
				return place[a.Body.(Message).CallID] - place[b.Body.(Message).CallID]
			})
		}
		i = end
	}
}

// sameAnswer reports whether two partials belong to one answer. A turn has one, begun anew or not; a later turn that got
// as far as a partial replaces what an earlier one left behind.
func sameAnswer(a, b Event) bool { return a.Run == b.Run && a.Turn == b.Turn }

// joinPartials makes the message of an answer that was cut off.
func joinPartials(partials []Event) (Event, bool) {
	if len(partials) == 0 {
		return Event{}, false
	}
	var j joiner
	for _, e := range partials {
		for _, part := range e.Body.(Partial).Content {
			j.add(part)
		}
	}
	m := llm.Message{Role: llm.RoleAssistant, Content: j.content(), Stop: llm.StopAborted}
	last := partials[len(partials)-1]
	last.Body = Message{Message: m}
	return last, !m.Empty()
}

// joiner puts the pieces of an answer together: neighbouring texts are one, and so is neighbouring thinking.
type joiner struct {
	done     llm.Content
	text     strings.Builder
	thinking bool // it is what text holds
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

// content is all that was added.
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

// Used is what a path consumed, in answers and summaries.
type Used struct {
	Total   llm.Usage            `json:"total"`
	ByModel map[string]llm.Usage `json:"by_model"` // by "provider/model"
	Answers int                  `json:"answers"`
}

// Uses is the usage and the cost of a path.
func Uses(ctx context.Context, p Path) (Used, error) {
	used := Used{ByModel: make(map[string]llm.Usage)}
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return Used{}, err
		}
		if m, ok := e.Body.(Message); ok && m.Role == llm.RoleAssistant {
			used.Answers++
		}
		if model, u, ok := Consumed(e.Body); ok {
			used.Total = used.Total.Plus(u)
			used.ByModel[model] = used.ByModel[model].Plus(u)
		}
	}
	return used, nil
}

// Todos is the todo list as it stands at the end of a path.
func Todos(ctx context.Context, p Path) ([]TodoItem, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if t, ok := e.Body.(Todo); ok {
			return t.Items, nil
		}
	}
	return nil, nil
}

// State is what the agent is about: for people who look over its shoulder.
type State struct {
	Intent  string     `json:"intent,omitzero"` // what the model believes is wanted, in its own words
	Model   string     `json:"model,omitzero"`  // "provider/model" of the last answer
	Run     RunID      `json:"run,omitzero"`    // the last run
	Running bool       `json:"running"`         // it has not ended
	Ended   *RunEnded  `json:"ended,omitzero"`  // how it ended
	Tools   []ToolUse  `json:"tools,omitzero"`  // what it asked for, oldest first
	Denials int        `json:"denials"`         // calls of it that were denied
	Todo    []TodoItem `json:"todo,omitzero"`
}

// ToolUse is one call of a run and what became of it.
type ToolUse struct {
	Call      string  `json:"call"`
	Tool      string  `json:"tool"`
	Arguments string  `json:"arguments"`
	Done      bool    `json:"done"` // there is a result
	Outcome   Outcome `json:"outcome,omitzero"`
}

// StateOf is the state at the end of a path. It reads no further back than the beginning of the last run, and than the
// last todo list and intent, if there are any.
func StateOf(ctx context.Context, p Path) (State, error) {
	var s State
	outcomes := make(map[string]Outcome)
	var begun, todo, moved bool // the start of the last run, a todo list, and a step back between runs, were seen
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return State{}, err
		}
		switch b := e.Body.(type) {
		case RunEnded:
			if s.Ended == nil && !begun {
				s.Ended = &b
			}
		case Head:
			moved = moved || !begun && e.Run == ""
		case Created:
			moved = moved || !begun // in a fork: the run goes on elsewhere, if it does
		case RunStarted:
			if !begun {
				begun, s.Run, s.Running = true, b.Run, s.Ended == nil && !moved
			}
		case Todo:
			if !todo {
				todo, s.Todo = true, b.Items
			}
		case Message:
			s.addMessage(b, outcomes, begun)
		}
		if begun && todo && s.Intent != "" {
			break
		}
	}
	slices.Reverse(s.Tools)
	return s, nil
}

func (s *State) addMessage(m Message, outcomes map[string]Outcome, older bool) {
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
		if m.Outcome == OutcomeDenied {
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

// Intent is what a text states between <intent> and </intent>: a model's hypothesis of what is wanted. Empty when it
// states none. Faces do not show the tag.
func Intent(text string) string {
	_, text, _ = strings.Cut(text, "<intent>")
	intent, _, ok := strings.Cut(text, "</intent>")
	if !ok {
		return ""
	}
	return strings.Join(strings.Fields(intent), " ")
}
