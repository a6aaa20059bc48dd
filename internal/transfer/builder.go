package transfer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// root is the parent of what has none: the beginning of the session.
const root = -1

// node is a message of a person, an answer with its results, or something that stands between such.
type node struct {
	parent  int
	parts   []segment // of an answer the pieces in which it came; else the event, and what follows it
	results []segment
	calls   []call
	kept    []int      // of a digest: the nodes whose messages it keeps
	usage   *llm.Usage // of an answer, when it came later
	side    bool       // of a sub-agent
}

// aside is what hangs on no branch.
type aside struct {
	segment
	about int // the node that a note is about; root: none
}

// call is a call of a tool in an answer.
type call struct {
	source, id string // the ID as the source has it, and ours, which no other call of the answer has
	name       string
	done       bool
}

// builder collects what a parser reads.
type builder struct {
	spool  *spool
	losses losses
	redact func(string) string // takes keys out
	nodes  []node
	byCall map[string]int // the node of each call
	loose  []aside        // what hangs on no branch
	todo   *segment       // what is to be done at the end
	leaf   int            // where the session goes on; the last node that is of no sub-agent, unless a parser says otherwise
	newest time.Time      // the last time that made sense
	size   int64          // what was read

	// What is known about the session.
	id, dir, title, version string
	created                 time.Time
}

func newBuilder(redact func(string) string) (*builder, error) {
	s, err := newSpool()
	if err != nil {
		return nil, err
	}
	return &builder{spool: s, redact: redact, byCall: map[string]int{}, leaf: root}, nil
}

// add appends a node. A side is a branch of a sub-agent.
func (b *builder) add(parent int, side bool, at time.Time, body session.Body) (int, error) {
	b.nodes = append(b.nodes, node{parent: parent, side: side})
	n := len(b.nodes) - 1
	if !side {
		b.leaf = n
	}
	return n, b.grow(n, at, body)
}

// grow appends to a node: another piece of its answer, or something that stands behind it.
func (b *builder) grow(n int, at time.Time, body session.Body) error {
	if m, ok := body.(session.Message); ok {
		m.Content = b.named(n, b.fitting(m))
		body = m
	}
	seg, err := b.spool.add(b.event(at, body))
	b.nodes[n].parts = append(b.nodes[n].parts, seg)
	return err
}

// named gives each call of an answer an ID of its own.
func (b *builder) named(n int, c llm.Content) llm.Content {
	calls := &b.nodes[n].calls
	for i, p := range c {
		p, ok := p.(llm.ToolCall)
		if !ok {
			continue
		}
		one := call{source: p.ID, id: p.ID, name: cmp.Or(p.Name, "unknown")}
		for k := len(*calls) + 1; one.id == "" || slices.ContainsFunc(*calls, func(other call) bool { return other.id == one.id }); k++ {
			one.id = fmt.Sprintf("%s-%d", cmp.Or(p.ID, "call"), k)
		}
		p.ID, p.Name = one.id, one.name
		c[i] = p
		*calls, b.byCall[one.source] = append(*calls, one), n
	}
	return c
}

// fitting leaves out the parts that a message of its role cannot have.
func (b *builder) fitting(m session.Message) llm.Content {
	return slices.DeleteFunc(m.Content, func(p llm.Part) bool {
		fits := m.Role == llm.RoleAssistant
		switch p.(type) {
		case llm.Text:
			fits = true
		case llm.Image, llm.Document:
			fits = !fits
		}
		if !fits {
			b.losses.add("part that such a message cannot have", "", fmt.Sprintf("%T in a message of the role %q", p, m.Role))
		}
		return !fits
	})
}

// result adds the result of a call to the answer that has the call, and returns its node. A result without a call is lost: -1.
func (b *builder) result(at time.Time, place string, m session.Message) (int, error) {
	n, ok := b.byCall[m.CallID]
	if !ok {
		b.losses.add("result of a call that is not there", place, m.CallID+" "+m.Text())
		return root, nil
	}
	calls := b.nodes[n].calls
	i := slices.IndexFunc(calls, func(c call) bool { return c.source == m.CallID && !c.done })
	if i < 0 {
		b.losses.add("second result of a call", place, m.CallID+" "+m.Text())
		return n, nil
	}
	calls[i].done = true
	m.Role, m.CallID, m.Tool = llm.RoleTool, calls[i].id, calls[i].name
	m.Content = b.fitting(m)
	if m.IsError && m.Outcome == "" {
		m.Outcome = session.OutcomeFailed
	}
	seg, err := b.spool.add(b.event(at, m))
	b.nodes[n].results = append(b.nodes[n].results, seg)
	return n, err
}

// aside adds what hangs on no branch.
func (b *builder) aside(at time.Time, about int, body session.Body) error {
	seg, err := b.spool.add(b.event(at, body))
	b.loose = append(b.loose, aside{seg, about})
	return err
}

// descend reads what the sub-agents of a session did, each before its own ones. Whatever names what as its parent, each is read
// once.
func descend(id string, children func(string) ([]string, error), read func(string) error) error {
	const deepest = 4
	seen := map[string]bool{id: true}
	var below func(id string, depth int) error
	below = func(id string, depth int) error {
		if depth == deepest {
			return nil
		}
		all, err := children(id)
		if err != nil {
			return err
		}
		for _, child := range all {
			if seen[child] {
				continue
			}
			seen[child] = true
			if err := read(child); err != nil {
				return err
			}
			if err := below(child, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return below(id, 0)
}

// toDo is the list of what is to be done at the end.
func (b *builder) toDo(items session.Todo) error {
	if len(items.Items) == 0 || b.leaf == root {
		return nil
	}
	seg, err := b.spool.add(b.event(b.newest, items))
	b.todo = &seg
	return err
}

// event makes an entry: with a time that makes sense, in valid UTF-8 and without keys. It gets its ID when it is sent.
func (b *builder) event(at time.Time, body session.Body) session.Event {
	if m, ok := body.(session.Message); ok {
		m.Message = m.Valid()
		body = m
	}
	return session.Event{Time: b.when(at), Body: b.clean(body)}
}

// clean takes keys out of a body.
func (b *builder) clean(body session.Body) session.Body {
	if b.redact == nil {
		return body
	}
	kind, data, err := session.EncodeBody(body)
	if err != nil {
		return body
	}
	text := b.redact(string(data))
	if text == string(data) {
		return body
	}
	out, err := session.DecodeBody(kind, []byte(text))
	if err != nil { // a key that is a piece of the JSON itself
		return session.Note{Text: "[an entry that could not be kept without a key]"}
	}
	if m, ok := out.(session.Message); ok {
		m.Content = unsigned(m.Content)
		out = m
	}
	return out
}

// unsigned takes the proofs from thinking that was changed.
func unsigned(c llm.Content) llm.Content {
	for i, p := range c {
		if t, ok := p.(llm.Thinking); ok {
			c[i] = llm.Thinking{Text: t.Text}
		}
	}
	return c
}

// when is at, or the last time before it that makes sense.
func (b *builder) when(at time.Time) time.Time {
	at = at.UTC().Truncate(time.Microsecond)
	if plausible(at) {
		b.newest = at
		return at
	}
	if b.newest.IsZero() {
		b.newest = session.Now()
	}
	return b.newest
}

// plausible reports whether a program of this kind can have written at that time.
func plausible(at time.Time) bool {
	return at.Year() >= 2020 && at.Before(time.Now().Add(48*time.Hour))
}

// setDir takes the working directory that a file names, if it can be one.
func (b *builder) setDir(dir, place string) {
	if dir == "" || b.dir != "" {
		return
	}
	if d, ok := cleanDir(dir); ok {
		b.dir = d
		return
	}
	b.losses.add("working directory that is no absolute path", place, dir)
}

// cleanDir is an absolute path without surprises.
func cleanDir(dir string) (string, bool) {
	windows := len(dir) > 2 && dir[1] == ':' && (dir[2] == '\\' || dir[2] == '/')
	if !utf8.ValidString(dir) || strings.ContainsFunc(dir, unicode.IsControl) || len(dir) > 4096 {
		return "", false
	}
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir), true
	case windows || strings.HasPrefix(dir, "/"): // of another operating system
		return dir, true
	}
	return "", false
}

// ---- Small conversions that the parsers share.

// stamp is a time as programs write it in text.
func stamp(text string) time.Time {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// unix is a time in seconds or milliseconds since 1970: whichever makes sense.
func unix(n float64) time.Time {
	switch {
	case !(n > 0 && n < 1e14):
		return time.Time{}
	case n > 1e11:
		return time.UnixMilli(int64(n))
	}
	return time.Unix(int64(n), 0)
}

// arguments is the JSON of a call's arguments.
func arguments(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	return string(raw)
}

// decode reads the JSON of a row or a file.
func decode(data []byte, v any) error {
	if err := checkValues(data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// partsOf reads what was said, which is a list of parts, or one text, of which text makes a part.
func partsOf[P any](raw json.RawMessage, text func(string) P) (parts []P, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		var one string
		err = json.Unmarshal(raw, &one)
		return []P{text(one)}, err
	}
	if len(raw) > 0 {
		err = json.Unmarshal(raw, &parts)
	}
	return parts, err
}

// contentOf makes parts of ours; nil is none.
func contentOf[P any](parts []P, part func(P) llm.Part) (c llm.Content) {
	for _, p := range parts {
		if ours := part(p); ours != nil {
			c = append(c, ours)
		}
	}
	return c
}

// tokens is a count from a file: never negative, never absurd.
func tokens(n float64) int64 {
	if n > 0 && n < 1e12 {
		return int64(n)
	}
	return 0
}

// dollars is a cost from a file.
func dollars(n float64) float64 {
	if n > 0 && n < 1e6 {
		return n
	}
	return 0
}

// modelOf is a model's name as people write it.
func modelOf(provider, id string) string {
	switch {
	case id == "":
		return ""
	case provider == "":
		return "unknown/" + id
	}
	return provider + "/" + id
}

// todoStatus is one of ours.
func todoStatus(s string) string {
	switch s {
	case "in_progress", "completed":
		return s
	case "in-progress", "inProgress":
		return "in_progress"
	case "done", "cancelled", "canceled":
		return "completed"
	}
	return "pending"
}

// shortName is the end of a path, for places in messages.
func shortName(path string) string { return filepath.Base(path) }
