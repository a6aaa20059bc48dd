package openai

import (
	"encoding/json"
	"strconv"
	"strings"
)

// maxPieces is how many calls, or pieces of reasoning that cannot be joined, an answer may have. More are no answer.
const maxPieces = 10_000

// callKeys distinguishes the calls of an answer. Servers number them, give all of them the number 0, send IDs only, or send
// neither.
type callKeys struct {
	n     int
	last  *callKey             // the one that came last
	index map[float64]*callKey // the last one of each number
	ids   map[string]*callKey
}

// callKey is one call.
type callKey struct {
	key       string // in the [wire.Answer]
	sent, id  string // the server's ID, and a unique one
	name      string
	arguments strings.Builder // of a call without a number, to detect their end
}

// find returns the call to which a piece belongs, which is a new one if need be.
func (k *callKeys) find(p *chatCallDelta) *callKey {
	id, name := string(p.ID), string(p.Function.Name)
	var found *callKey
	switch {
	case p.Index != nil:
		found = k.index[float64(*p.Index)]
		if found != nil && id != "" && found.id != "" && id != found.sent && name != "" {
			found = nil // another call, which has the same number by mistake
		}
	case id != "":
		found = k.ids[id]
	case k.last != nil && (name == "" || name == k.last.name && !k.last.whole()):
		found = k.last
	}
	if found == nil {
		found = k.add()
	}
	if p.Index != nil {
		k.index[float64(*p.Index)] = found
	}
	if found.id == "" && id != "" {
		found.sent, found.id = id, k.unique(id)
		k.ids[id] = found
	}
	if found.name == "" {
		found.name = name
	}
	k.last = found
	return found
}

func (k *callKeys) add() *callKey {
	if k.ids == nil {
		k.index, k.ids = make(map[float64]*callKey), make(map[string]*callKey)
	}
	c := &callKey{key: strconv.Itoa(k.n)}
	k.n++
	return c
}

// unique returns an ID that no other call of the answer has.
func (k *callKeys) unique(id string) string {
	if k.ids[id] == nil {
		return id
	}
	return id + "_" + strconv.Itoa(k.n)
}

// whole reports whether the arguments look complete.
func (c *callKey) whole() bool {
	s := c.arguments.String()
	return strings.HasSuffix(strings.TrimRight(s, " \t\r\n"), "}") && json.Valid([]byte(s))
}

// call takes in a piece of a call.
func (d *chatDecoder) call(p *chatCallDelta) {
	if !d.flush() {
		return
	}
	d.keepDetails()
	c := d.calls.find(p)
	if d.calls.n > maxPieces {
		d.failed = d.resp.Protocol("the answer has more than " + strconv.Itoa(maxPieces) + " calls")
		return
	}
	d.put(d.answer.Call(c.key, c.id, c.name))
	switch a := &p.Function.Arguments; {
	case a.whole:
		d.put(d.answer.WholeArguments(c.key, a.text))
	default:
		d.put(d.answer.Arguments(c.key, a.text))
	}
	if p.Index == nil {
		c.arguments.WriteString(p.Function.Arguments.text)
	}
	if there(p.Extra) {
		d.answer.OpaqueCall(c.key, keepExtra(p.Extra))
	}
}

// whole numbers the calls of a whole answer, in which each element is a call of its own.
func (m *chatDelta) whole() {
	for i := range m.Calls {
		n := looseNumber(i)
		m.Calls[i].Index = &n
	}
}

// keepExtra is the stored form of extra fields of a call.
func keepExtra(extra []byte) json.RawMessage {
	return append(append([]byte(`{"extra_content":`), extra...), '}')
}
