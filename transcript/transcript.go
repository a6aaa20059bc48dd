package transcript

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

// Kind is the kind of an [Item].
type Kind string

// The kinds.
const (
	KindPrompt   Kind = "prompt"   // a message that the model did not write; Speaker is its author
	KindAnswer   Kind = "answer"   // an answer of the model, with its calls
	KindNote     Kind = "note"     // something between messages
	KindQuestion Kind = "question" // for a person
	KindCommand  Kind = "command"  // a call that a person made; Calls has it
)

// Item is one thing that people see. [Transcript.Add] changes it while it is Open; its owner may keep it after that.
type Item struct {
	Kind    Kind
	Seq     int64      // of its entry; 0 before it has one
	ID      session.ID // of its entry
	Time    time.Time  // of its entry; before it has one, of its first event
	Open    bool       // later events may change it
	Partial bool       // an answer that is not complete
	Body    session.Body

	Speaker  session.Speaker
	Source   session.Source // of a prompt
	Content  llm.Content    // of a prompt or a complete answer
	Calls    []*Call
	Todo     []session.TodoItem // of an answer: the list that its calls wrote
	Thought  time.Duration      // how long the model thought before the text or the calls; 0 if that is unknown
	Thinks   time.Time          // since when the model thinks; zero if it does not
	Stop     llm.StopReason
	Usage    llm.Usage
	Note     Note
	Asking   session.Asking
	Answered *session.Answered // of a question: the answer; nil without one
	Asked    session.Asked     // of a question: its end; zero before it

	text, thinking []byte // of an answer that streams
	mark, thought  int    // the parts of them that entries have
}

// Text returns the text of a prompt or an answer, without the intent that a model states.
func (it *Item) Text() string {
	switch {
	case it.Kind == KindPrompt:
		return it.Content.Text()
	case it.Partial:
		return WithoutIntent(string(it.text))
	}
	return strings.TrimSpace(WithoutIntent(it.Content.Text()))
}

// Intent returns the intent that the model states in an answer.
func (it *Item) Intent() string {
	if it.Partial {
		return view.Intent(string(it.text))
	}
	return view.Intent(it.Content.Text())
}

// Thinking returns the visible thinking of the model. hidden reports whether there is more that only the provider can read.
func (it *Item) Thinking() (text string, hidden bool) {
	if it.Partial {
		return string(it.thinking), false
	}
	var parts []string
	for _, p := range it.Content {
		switch t, ok := p.(llm.Thinking); {
		case !ok:
		case strings.TrimSpace(t.Text) == "":
			hidden = true
		default:
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n\n"), hidden
}

// think notes that the model thinks at a time, or that it does something else.
func (it *Item) think(at time.Time, thinks bool) {
	switch {
	case thinks && it.Thinks.IsZero():
		it.Thinks = at
	case !thinks && !it.Thinks.IsZero():
		it.Thought += max(at.Sub(it.Thinks), 0)
		it.Thinks = time.Time{}
	}
}

// Void reports whether the item is an unfinished answer without contents: its model began again, or a later run replaced it.
func (it *Item) Void() bool {
	return it.Kind == KindAnswer && it.Partial && len(it.text) == 0 && len(it.thinking) == 0 && len(it.Calls) == 0
}

// Call returns a call of the item by its ID; nil if there is none.
func (it *Item) Call(id string) *Call {
	for _, c := range it.Calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// Transcript folds the events of one session. It holds only the newest answer and the open requests, so the cost of an event does not depend
// on the length of the session. The zero value is ready to use. It is not safe for concurrent use.
type Transcript struct {
	Requests request.State // drafts and questions that are open
	Usage    llm.Usage     // of all answers and summaries so far

	answer *Item            // the newest
	ended  bool             // the run of that answer ended before the answer was complete
	calls  map[string]*Call // of that answer; names of calls may come again in later answers
	asking map[string]*Item // open questions by ID
	own    *Item            // the newest call of a person
	crew   crew
}

// Add folds an event. It returns the item that the event changed, or nil. begun reports whether the event began the item.
func (t *Transcript) Add(e session.Event) (it *Item, begun bool) {
	_ = t.Requests.Add(e) // the sender of a late request sees its error
	switch b := e.Body.(type) {
	case session.Message:
		t.crew.runsEnded(session.ParallelEnded{}) // if their process ended before them
		return t.message(e, b)
	case live.MessageStarted:
		t.restart(e).Speaker.Name = b.Model
		return t.answer, true
	case live.Delta:
		return t.delta(e, b)
	case session.Partial:
		return t.partial(e, b)
	case live.Reset, session.Discarded:
		if !t.unfinished() {
			return nil, false
		}
		t.void()
		return t.answer, false
	case session.Asking:
		return t.ask(e, b)
	case session.Answered:
		return t.reply(b)
	case session.Asked:
		return t.asked(b)
	case session.CallStarted:
		switch {
		case t.calls[b.Call] != nil:
		case e.Durable() && e.Run == "":
			return t.command(e, llm.ToolCall{ID: b.Call, Name: b.Tool, Arguments: string(b.Arguments)}), true
		default:
			return t.started(e, b)
		}
	case session.Head:
		t.close()
	case session.RunStarted:
		t.crew.runsEnded(session.ParallelEnded{})
		t.ended = t.unfinished()
	case session.RunEnded:
		if t.ended = t.unfinished(); !t.ended {
			t.close()
		} else {
			t.answer.think(e.Time, false)
		}
	}
	if it := t.ofCall(e); it != nil {
		return it, false
	}
	note, ok := t.crew.add(e)
	if !ok {
		note, ok = Describe(e.Body)
	}
	if !ok {
		return nil, false
	}
	if s, ok := e.Body.(session.Summarized); ok {
		t.Usage = t.Usage.Plus(s.Usage).Plus(s.Parts)
	}
	return &Item{Kind: KindNote, Seq: e.Seq, ID: e.ID, Time: e.Time, Note: note, Body: e.Body}, true
}

// Answer returns the newest answer; nil before the first.
func (t *Transcript) Answer() *Item { return t.answer }

// Running returns the running calls, oldest first.
func (t *Transcript) Running() []*Call {
	var all, calls []*Call
	if t.answer != nil {
		calls = t.answer.Calls
	}
	if t.own != nil {
		calls = slices.Concat(calls, t.own.Calls)
	}
	for _, c := range calls {
		if c.State == Running {
			all = append(all, c)
		}
	}
	return all
}

func (t *Transcript) begin(e session.Event) *Item {
	t.answer = &Item{Kind: KindAnswer, Seq: e.Seq, ID: e.ID, Time: e.Time, Open: true, Partial: true, Speaker: session.Speaker{Kind: session.SpeakerModel}}
	t.calls = make(map[string]*Call)
	return t.answer
}

// close ends the newest answer: no later event changes it.
func (t *Transcript) close() {
	t.ended = false
	if t.answer != nil {
		t.answer.Open, t.answer.Thinks = false, time.Time{}
	}
}

// unfinished reports whether later events may complete the newest answer.
func (t *Transcript) unfinished() bool { return t.answer != nil && t.answer.Partial && t.answer.Open }

// restart begins an answer. It replaces an unfinished answer of an earlier run.
func (t *Transcript) restart(e session.Event) *Item {
	if t.ended {
		t.void()
	}
	t.close()
	return t.begin(e)
}

// void removes the contents of the newest answer.
func (t *Transcript) void() {
	it := t.answer
	it.text, it.thinking, it.mark, it.thought, it.Calls = nil, nil, 0, 0, nil
	it.Thought, it.Thinks = 0, time.Time{}
	clear(t.calls)
}

func (t *Transcript) message(e session.Event, m session.Message) (*Item, bool) {
	switch m.Role {
	case llm.RoleTool:
		if c := t.calls[m.CallID]; c != nil && c.Result == nil {
			c.finish(e, m)
			t.settle()
			return t.answer, false
		}
		note := Note{Kind: NoteText, Title: "Result of " + m.Tool, Plain: m.Text()} // its call is not in this part of the journal
		c := newCall(llm.ToolCall{ID: m.CallID, Name: m.Tool})
		c.finish(e, m)
		return &Item{Kind: KindNote, Seq: e.Seq, ID: e.ID, Time: e.Time, Note: note, Calls: []*Call{c}, Body: m}, true
	case llm.RoleAssistant:
		return t.answered(e, m)
	}
	if t.ended { // no run continues the answer
		t.close()
	}
	if result, ok := view.Unframed(m); ok {
		return t.ran(e, result)
	}
	return &Item{
		Kind: KindPrompt, Seq: e.Seq, ID: e.ID, Time: e.Time, Speaker: t.crew.author(m.Author()), Source: m.Source, Content: m.Content, Body: m,
	}, true
}

// answered completes the answer that streams, or begins one that did not.
func (t *Transcript) answered(e session.Event, m session.Message) (*Item, bool) {
	begun := !t.unfinished() || t.ended && m.Stop != llm.StopAborted
	if begun {
		t.restart(e)
	}
	it := t.answer
	it.think(e.Time, false)
	t.ended = false
	it.Seq, it.ID, it.Time, it.Body, it.Partial = e.Seq, e.ID, e.Time, m, false
	it.text, it.thinking, it.Content = nil, nil, m.Content
	it.Speaker, it.Stop, it.Usage = m.Author(), m.Stop, m.Usage
	t.Usage = t.Usage.Plus(m.Usage)
	it.Calls = it.Calls[:0]
	for _, call := range m.Calls() {
		c := t.calls[call.ID]
		if c == nil || slices.Contains(it.Calls, c) {
			c = newCall(call)
			t.calls[call.ID] = c
		}
		it.Calls = append(it.Calls, c)
	}
	t.settle()
	return it, begun
}

// settle closes the newest answer when all its calls have results.
func (t *Transcript) settle() {
	for _, c := range t.answer.Calls {
		if c.Result == nil {
			return
		}
	}
	t.answer.Open = false
}

func (t *Transcript) delta(e session.Event, d live.Delta) (it *Item, begun bool) {
	if begun = !t.unfinished() || t.ended; begun {
		t.restart(e)
	}
	t.answer.think(e.Time, d.Type == live.DeltaThinking)
	switch d.Type {
	case live.DeltaText:
		t.answer.text = append(t.answer.text, d.Text...)
	case live.DeltaThinking:
		t.answer.thinking = append(t.answer.thinking, d.Text...)
	}
	return t.answer, begun
}

// partial takes the text of an unfinished answer from the journal, in place of the deltas since the entry before.
func (t *Transcript) partial(e session.Event, p session.Partial) (it *Item, begun bool) {
	if begun = !t.unfinished() || t.ended; begun {
		t.restart(e)
	}
	it = t.answer
	it.Seq, it.ID, it.Body = e.Seq, e.ID, p
	it.text, it.thinking = it.text[:it.mark], it.thinking[:it.thought]
	for _, part := range p.Content {
		switch part := part.(type) {
		case llm.Text:
			it.think(e.Time, false)
			it.text = append(it.text, part.Text...)
		case llm.Thinking:
			it.think(e.Time, true)
			it.thinking = append(it.thinking, part.Text...)
		}
	}
	it.mark, it.thought = len(it.text), len(it.thinking)
	return it, begun
}

func (t *Transcript) ask(e session.Event, a session.Asking) (*Item, bool) {
	for _, p := range a.Calls {
		if c := t.calls[p.Call]; c != nil && c.Result == nil {
			c.State, c.Name = Waiting, p.Tool
		}
	}
	it := &Item{Kind: KindQuestion, Seq: e.Seq, ID: e.ID, Time: e.Time, Open: true, Asking: a, Body: a}
	if t.asking == nil {
		t.asking = make(map[string]*Item)
	}
	t.asking[a.ID] = it
	return it, true
}

// reply takes the first answer to a question that fits it.
func (t *Transcript) reply(b session.Answered) (*Item, bool) {
	it := t.asking[b.ID]
	if it == nil || it.Answered != nil || len(b.Answers) != len(it.Asking.Calls)+len(it.Asking.Questions) {
		return nil, false
	}
	it.Answered = &b
	return it, false
}

func (t *Transcript) asked(b session.Asked) (*Item, bool) {
	it := t.asking[b.ID]
	if it == nil {
		return nil, false
	}
	delete(t.asking, b.ID)
	it.Open, it.Asked = false, b
	for _, p := range it.Asking.Calls {
		if c := t.calls[p.Call]; c != nil && c.State == Waiting {
			c.State = Proposed
		}
	}
	return it, false
}

// started begins the call of an answer that came before the first event.
func (t *Transcript) started(e session.Event, b session.CallStarted) (it *Item, begun bool) {
	if begun = t.answer == nil || !t.answer.Open; begun {
		t.begin(e).Partial = false
	}
	c := newCall(llm.ToolCall{ID: b.Call, Name: b.Tool, Arguments: string(b.Arguments)})
	t.calls[b.Call], t.answer.Calls = c, append(t.answer.Calls, c)
	c.add(e)
	return t.answer, begun
}

// command begins a call that a person made.
func (t *Transcript) command(e session.Event, call llm.ToolCall) *Item {
	c := newCall(call)
	c.add(e)
	t.own = &Item{
		Kind: KindCommand, Seq: e.Seq, ID: e.ID, Time: e.Time, Open: true, Speaker: session.Speaker{Kind: session.SpeakerPerson}, Calls: []*Call{c}, Body: e.Body,
	}
	return t.own
}

// ran ends a call that a person made.
func (t *Transcript) ran(e session.Event, result session.Message) (it *Item, begun bool) {
	if begun = t.own == nil || !t.own.Open || t.own.Calls[0].ID != result.CallID; begun { // its start is not in this part of the journal
		t.command(e, llm.ToolCall{ID: result.CallID, Name: result.Tool})
	}
	it = t.own
	it.Calls[0].finish(e, result)
	it.Open = false
	return it, begun
}

// ofCall folds the events of the calls of the newest answer. It returns the answer, or nil for other events.
func (t *Transcript) ofCall(e session.Event) *Item {
	id := ""
	switch b := e.Body.(type) {
	case live.CallReady:
		if t.answer != nil && t.answer.Partial && t.calls[b.Call.ID] == nil {
			c := newCall(b.Call)
			c.Name = cmp.Or(line(b.As), c.Name)
			t.calls[b.Call.ID], t.answer.Calls = c, append(t.answer.Calls, c)
			return t.answer
		}
		return nil
	case session.Todo:
		if t.answer != nil && t.answer.Open && len(t.calls) > 0 {
			t.answer.Todo = b.Items
			return t.answer
		}
		return nil
	case session.CallStarted:
		id = b.Call
	case live.Progress:
		id = b.Call
	case session.Decision:
		id = b.Call
	case session.FilesChanged:
		id = b.Call
	}
	c, it := t.calls[id], t.answer
	if c == nil && t.own != nil {
		c, it = t.own.Call(id), t.own
	}
	if c == nil {
		return nil
	}
	c.add(e)
	return it
}

func line(text string) string { return tool.Line(text) }
