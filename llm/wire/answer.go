package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Answer assembles an answer from the fragments of a protocol and yields its events on the way. Its methods report whether
// the consumer wants more; after a false the client returns. It is not safe for concurrent use.
//
// Text and thinking extend the last part of their kind until another part begins or the client calls [Answer.Break]. Calls
// have a key: the value by which the protocol distinguishes them.
type Answer struct {
	Usage llm.Usage // disjoint counts, set by the client before Finish; also a cost that the provider reported
	Stop  llm.StopReason
	Model string // ID of the model that answered, when it is not the one that was asked

	model  llm.Model
	id     string
	yield  func(llm.Event, error) bool
	parts  []*part
	text   *part // the last part, if it is unfinished text or thinking
	calls  map[string]*part
	open   *part  // the call that receives arguments
	schema string // name of the tool that gives a structured answer
	left   bool   // the consumer has left
}

// part is one part of the message while it grows.
type part struct {
	n         int
	kind      partKind
	text      strings.Builder
	signature strings.Builder
	opaque    json.RawMessage
	id, name  string
	yielded   int  // bytes of the arguments that the consumer has
	checked   int  // bytes that there were of them when it was last asked whether they are whole
	ended     bool // no more of the call's arguments comes
	begun     bool // the call's ID and name were yielded
	ready     bool // the call's CallReady was yielded
	nameless  bool // a call without a name
	answer    bool // a call that is a structured answer
}

type partKind int

const (
	textPart partKind = iota
	thinkingPart
	callPart
)

// NewAnswer begins an answer of model. When resp has something to say of rate limits, they are yielded first. Yield is that
// of the client's Stream.
func NewAnswer(model llm.Model, resp *Response, yield func(llm.Event, error) bool) *Answer {
	a := &Answer{model: model, yield: yield}
	if resp != nil {
		a.id = resp.RequestID
		if limits, ok := resp.Limits(); ok {
			a.emit(limits)
		}
	}
	return a
}

// SchemaTool makes the arguments of calls to the named tool the text of the answer: the way to get a structured answer from a
// model without a mode for it. Text of the model around such a call is yielded, but is not part of the message.
func (a *Answer) SchemaTool(name string) { a.schema = name }

// ID sets the provider's name for the request when the headers have none.
func (a *Answer) ID(id string) { a.id = cmp.Or(a.id, id) }

// Left reports whether the consumer has left.
func (a *Answer) Left() bool { return a.left }

func (a *Answer) emit(e llm.Event) bool {
	if !a.left && !a.yield(e, nil) {
		a.left = true
	}
	return !a.left
}

// End yields the usage of an answer that ended with an error, and returns the error.
func (a *Answer) End(err error) error {
	if err != nil && a.Usage != (llm.Usage{}) {
		a.Usage.Cost = a.model.Price.Cost(a.Usage)
		a.emit(llm.Charged{Model: a.model.Ref(), Usage: a.Usage})
	}
	return err
}

// Text is more text of the answer.
func (a *Answer) Text(s string) bool {
	if s == "" {
		return !a.left
	}
	p := a.going(textPart)
	p.text.WriteString(s)
	return a.emit(llm.TextDelta{Part: p.n, Text: s})
}

// Thinking is more reasoning.
func (a *Answer) Thinking(s string) bool {
	if s == "" {
		return !a.left
	}
	p := a.going(thinkingPart)
	p.text.WriteString(s)
	return a.emit(llm.ThinkingDelta{Part: p.n, Text: s})
}

// WholeText takes the complete current text if a protocol repeats it at the end, and adds the missing rest.
func (a *Answer) WholeText(s string) bool { return whole(a, textPart, s, a.Text) }

// WholeThinking is [Answer.WholeText] for thinking.
func (a *Answer) WholeThinking(s string) bool { return whole(a, thinkingPart, s, a.Thinking) }

func whole(a *Answer, kind partKind, s string, add func(string) bool) bool {
	if a.text == nil || a.text.kind != kind {
		return add(s)
	}
	rest, ok := strings.CutPrefix(s, a.text.text.String())
	if !ok {
		return !a.left // what came in pieces counts
	}
	return add(rest)
}

// Sign extends the signature of the current thinking, or begins thinking without text.
func (a *Answer) Sign(s string) {
	if s != "" {
		a.going(thinkingPart).signature.WriteString(s)
	}
}

// OpaqueThinking attaches data that the provider wants back to the current thinking, or to thinking without text.
func (a *Answer) OpaqueThinking(data json.RawMessage) { a.going(thinkingPart).opaque = clone(data) }

// OpaqueText attaches data that the provider wants back to the current text, or to an empty text.
func (a *Answer) OpaqueText(data json.RawMessage) { a.going(textPart).opaque = clone(data) }

// Part returns the number of the part that was begun last, or -1 when there is none.
func (a *Answer) Part() int { return len(a.parts) - 1 }

// Opaque attaches data that the provider wants back to the part of that number, for protocols that send it after the part.
// Empty data changes nothing.
func (a *Answer) Opaque(part int, data json.RawMessage) {
	if part >= 0 && part < len(a.parts) && len(data) > 0 {
		a.parts[part].opaque = clone(data)
	}
}

// Break ends the current text or thinking: more of the same kind begins a new part.
func (a *Answer) Break() { a.text = nil }

// going returns the current text or thinking, or begins it.
func (a *Answer) going(kind partKind) *part {
	if a.text == nil || a.text.kind != kind {
		a.text = a.add(kind)
	}
	return a.text
}

func (a *Answer) add(kind partKind) *part {
	if n := len(a.parts); n > 0 && a.parts[n-1].ended && a.parts[n-1].text.Len() == 0 {
		a.ready(a.parts[n-1]) // something follows, so the call was not cut
	}
	p := &part{n: len(a.parts), kind: kind}
	a.parts = append(a.parts, p)
	return p
}

// Call selects the call with that key, and begins it if it is new. The ID and the name may come with any of its fragments.
// Answer makes up a missing ID but not a missing name. Only the selected call's arguments are yielded.
func (a *Answer) Call(key, id, name string) bool {
	p := a.calls[key]
	if p == nil {
		a.text = nil
		p = a.add(callPart)
		if a.calls == nil {
			a.calls = make(map[string]*part)
		}
		a.calls[key] = p
	}
	p.id = cmp.Or(p.id, id)
	p.name = cmp.Or(p.name, name)
	p.answer = a.schema != "" && p.name == a.schema
	if a.open != nil && a.open != p {
		settle(a, a.open)
	}
	a.open = p
	return a.yieldNew(p)
}

// Arguments is more of the arguments of the call with that key, as JSON text.
func (a *Answer) Arguments(key, s string) bool {
	p := a.calls[key]
	if p == nil {
		a.Call(key, "", "")
		p = a.calls[key]
	}
	p.text.WriteString(s)
	if p == a.open {
		return a.yieldNew(p)
	}
	return !a.left
}

// WholeArguments replaces the arguments of the call with that key, when a protocol repeats them at the end.
func (a *Answer) WholeArguments(key, s string) bool {
	p := a.calls[key]
	switch {
	case p == nil, !strings.HasPrefix(s, p.text.String()):
		return !a.left // what came in pieces counts
	default:
		return a.Arguments(key, s[p.text.Len():])
	}
}

// OpaqueCall attaches data that the provider wants back to the call with that key.
func (a *Answer) OpaqueCall(key string, data json.RawMessage) {
	if p := a.calls[key]; p != nil {
		p.opaque = clone(data)
	}
}

// EndCall says that no more of the arguments of the call with that key comes. The call is ready when they are whole; whether
// the limit of the answer cut them is known only when it ends.
func (a *Answer) EndCall(key string) bool {
	p := a.calls[key]
	if p == nil {
		return !a.left
	}
	if a.open == p {
		a.open = nil
	}
	if p.ended = true; !json.Valid([]byte(p.text.String())) {
		return a.yieldNew(p)
	}
	return a.ready(p)
}

// yieldNew yields the arguments of a call that the consumer does not have yet. It yields nothing before the name is known.
func (a *Answer) yieldNew(p *part) bool {
	more := p.text.String()[p.yielded:]
	if !p.called() || p.begun && more == "" {
		return !a.left
	}
	p.yielded += len(more)
	if p.answer {
		p.begun = true
		if more == "" {
			return !a.left
		}
		return a.emit(llm.TextDelta{Part: p.n, Text: more})
	}
	e := llm.CallDelta{Part: p.n, Arguments: more}
	if !p.begun {
		p.begun = true
		p.id = cmp.Or(p.id, "call_"+strconv.Itoa(p.n))
		e.ID, e.Name = p.id, p.name
	}
	return a.emit(e)
}

// settle stops yielding a call because another one continues. The call is ready if its arguments are complete. For interleaved calls
// settle checks that again only when the arguments have doubled; the end of the answer decides at the latest.
func settle(a *Answer, p *part) {
	a.open = nil
	n := p.text.Len()
	if n < 2*p.checked {
		return
	}
	p.checked = n
	if json.Valid([]byte(p.text.String())) {
		a.ready(p)
	}
}

// ready yields that a call is complete.
func (a *Answer) ready(p *part) bool {
	if p.ready || !a.yieldNew(p) || !p.called() || p.answer {
		return !a.left
	}
	p.ready = true
	return a.emit(llm.CallReady{Part: p.n, Call: p.call()})
}

// call returns the call as the message has it. A tool without arguments is called with none, which is an empty object.
func (p *part) call() llm.ToolCall {
	arguments := p.text.String()
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	return llm.ToolCall{ID: p.id, Name: p.name, Arguments: arguments, Opaque: p.opaque}
}

// called reports whether the fragments amount to a call. A call without a name counts: its result says that the name was
// missing. A bare number is not a call.
func (p *part) called() bool { return p.name != "" || p.nameless && (p.id != "" || p.text.Len() > 0) }

// Finish ends the answer after the protocol's final event: it yields the message as [llm.Done]. It marks a call as truncated if
// the limit of the answer cut its arguments.
func (a *Answer) Finish() bool {
	for _, p := range a.parts {
		p.nameless = p.kind == callPart && p.name == ""
		if p.nameless && !a.yieldNew(p) || p.kind == callPart && !cut(a, p) && !a.ready(p) {
			return false
		}
	}
	m := llm.Message{Role: llm.RoleAssistant, Content: content(a), Model: a.model.Ref(), Stop: a.Stop, Usage: a.Usage}
	if a.Model != "" {
		m.Model = a.model.Provider + "/" + a.Model
	}
	switch calls := m.Calls(); {
	case len(calls) > 0 && (m.Stop == llm.StopEnd || m.Stop == ""):
		m.Stop = llm.StopCalls
	case len(calls) == 0 && (m.Stop == llm.StopCalls || m.Stop == ""):
		m.Stop = llm.StopEnd
	}
	m.Usage.Cost = a.model.Price.Cost(m.Usage)
	return a.emit(llm.Done{Message: m.Valid(), RequestID: a.id})
}

// cut reports whether the limit of the answer cut a call. One without any arguments may have been cut when nothing follows it.
func cut(a *Answer, p *part) bool {
	if a.Stop != llm.StopLength {
		return false
	}
	arguments := strings.TrimSpace(p.text.String())
	if arguments == "" {
		return p.n == len(a.parts)-1
	}
	return !json.Valid([]byte(arguments))
}

func content(a *Answer) llm.Content {
	var c llm.Content
	structured := slices.ContainsFunc(a.parts, func(p *part) bool { return p.answer })
	for _, p := range a.parts {
		text := p.text.String()
		switch {
		case p.kind == textPart && structured:
		case p.kind == textPart && (text != "" || p.opaque != nil), p.answer:
			c = append(c, llm.Text{Text: text, Opaque: p.opaque})
		case p.kind == thinkingPart && (text != "" || p.signature.Len() > 0 || p.opaque != nil):
			c = append(c, llm.Thinking{Text: text, Signature: p.signature.String(), Opaque: p.opaque})
		case p.kind == callPart && p.called():
			call := p.call()
			call.Truncated = cut(a, p)
			c = append(c, call)
		}
	}
	return c
}

func clone(data json.RawMessage) json.RawMessage { return append(json.RawMessage(nil), data...) }
