package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/llm"
)

// Answer puts an answer together from what a protocol sends, and yields its events on the way. Its methods report whether
// the consumer wants more; after a false the client returns. It is not for concurrent use.
//
// Text and thinking go on where the last of their kind began, until something else comes or [Answer.Break] is called. Calls
// have a key, which is whatever the protocol tells them apart by.
type Answer struct {
	Usage llm.Usage // disjoint counts, set by the client before Finish; a cost that the provider told too
	Stop  llm.StopReason
	Model string // ID of the model that answered, when it is not the one that was asked

	model  llm.Model
	id     string
	yield  func(llm.Event, error) bool
	parts  []*part
	text   *part // the last part, when it is text or thinking that goes on
	calls  map[string]*part
	open   *part  // the call whose arguments come
	schema string // name of the tool that stands for a structured answer
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
	told      int  // bytes of the arguments that were yielded
	checked   int  // bytes that there were of them when it was last asked whether they are whole
	ended     bool // no more of the call's arguments comes
	begun     bool // the call's ID and name were yielded
	ready     bool // the call's CallReady was yielded
	nameless  bool // a call whose name never came
	answer    bool // a call that stands for a structured answer
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

// SchemaTool makes calls of the tool with that name the text of the answer: it is how a structured answer is had from a model
// without a mode for it. What the model says around such a call is yielded, but is no part of the message.
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

// WholeText is the whole of the text that goes on, when a protocol repeats it at the end: what had not come yet is added.
func (a *Answer) WholeText(s string) bool { return a.whole(textPart, s, a.Text) }

// WholeThinking is WholeText for the thinking that goes on.
func (a *Answer) WholeThinking(s string) bool { return a.whole(thinkingPart, s, a.Thinking) }

func (a *Answer) whole(kind partKind, s string, add func(string) bool) bool {
	if a.text == nil || a.text.kind != kind {
		return add(s)
	}
	rest, ok := strings.CutPrefix(s, a.text.text.String())
	if !ok {
		return !a.left // what came in pieces counts
	}
	return add(rest)
}

// Sign is more of the signature of the thinking that goes on, or of thinking without text.
func (a *Answer) Sign(s string) {
	if s != "" {
		a.going(thinkingPart).signature.WriteString(s)
	}
}

// Opaque keeps what the provider wants back with the thinking that goes on, or with thinking that has no text.
func (a *Answer) OpaqueThinking(data json.RawMessage) { a.going(thinkingPart).opaque = clone(data) }

// OpaqueText keeps what the provider wants back with the text that goes on, or with text that is empty.
func (a *Answer) OpaqueText(data json.RawMessage) { a.going(textPart).opaque = clone(data) }

// Part returns the number of the part that was begun last, or -1 when there is none.
func (a *Answer) Part() int { return len(a.parts) - 1 }

// Opaque keeps what the provider wants back with the part of that number, for protocols that tell it after the part. No data
// changes nothing.
func (a *Answer) Opaque(part int, data json.RawMessage) {
	if part >= 0 && part < len(a.parts) && len(data) > 0 {
		a.parts[part].opaque = clone(data)
	}
}

// Break ends the text or thinking that goes on: more of the same kind is a part of its own.
func (a *Answer) Break() { a.text = nil }

// going returns the text or thinking that goes on, or begins it.
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

// Call says that the call with that key goes on, and begins it when it is new. The ID and the name may come with any of its
// fragments; an ID that never comes is made up, a name is not. Until another call goes on, the arguments of no other are yielded.
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
		a.settle(a.open)
	}
	a.open = p
	return a.tell(p)
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
		return a.tell(p)
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

// OpaqueCall keeps what the provider wants back with the call of that key.
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
		return a.tell(p)
	}
	return a.ready(p)
}

// tell yields what has come of a call and was not yielded. Before its name is known there is nothing to tell.
func (a *Answer) tell(p *part) bool {
	more := p.text.String()[p.told:]
	if !p.called() || p.begun && more == "" {
		return !a.left
	}
	p.told += len(more)
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

// settle ends the yielding of a call because another one goes on. It is ready when its arguments are whole. Of calls that come in turns
// that is asked again only when there is twice as much as the last time: at the latest, it is known when the answer ends.
func (a *Answer) settle(p *part) {
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
	if p.ready || !a.tell(p) || !p.called() || p.answer {
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

// called reports whether it is known what the call calls. Nothing is, when something of a call came and its name never did: whoever runs
// it tells the model so. Where nothing came but a number there is no call.
func (p *part) called() bool { return p.name != "" || p.nameless && (p.id != "" || p.text.Len() > 0) }

// Finish ends the answer after the protocol's final event: the message is yielded as [llm.Done]. A call whose arguments were cut
// by the limit of the answer is marked as truncated.
func (a *Answer) Finish() bool {
	for _, p := range a.parts {
		p.nameless = p.kind == callPart && p.name == ""
		if p.nameless && !a.tell(p) || p.kind == callPart && !a.cut(p) && !a.ready(p) {
			return false
		}
	}
	m := llm.Message{Role: llm.RoleAssistant, Content: a.content(), Model: a.model.Ref(), Stop: a.Stop, Usage: a.Usage}
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
func (a *Answer) cut(p *part) bool {
	if a.Stop != llm.StopLength {
		return false
	}
	arguments := strings.TrimSpace(p.text.String())
	if arguments == "" {
		return p.n == len(a.parts)-1
	}
	return !json.Valid([]byte(arguments))
}

func (a *Answer) content() llm.Content {
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
			call.Truncated = a.cut(p)
			c = append(c, call)
		}
	}
	return c
}

func clone(data json.RawMessage) json.RawMessage { return append(json.RawMessage(nil), data...) }
