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
	"github.com/tenon-agent/tenon/tool/family"
)

// root is the parent of nodes without one: the beginning of the session.
const root = -1

// node is a message of a person, an answer with its results, or an entry between them.
type node struct {
	parent  int
	parts   []segment // of an answer its fragments; otherwise the event and its followers
	started []segment // the starts of its calls, for those of tools that Tenon has
	results []segment
	calls   []call
	kept    []int      // of a summary: the nodes with the messages that it keeps
	usage   *llm.Usage // of an answer, when it came later
	side    bool       // of a sub-agent
}

// aside is an entry aside of every branch.
type aside struct {
	segment
	about int // subject of a note; root: none
}

// call is a call of a tool in an answer.
type call struct {
	source, id string // the ID as the source has it, and ours, which no other call of the answer has
	name       string // Tenon's name for its tool, if there is one
	done       bool
}

// builder collects the output of a parser.
type builder struct {
	spool   *spool
	losses  losses
	redact  func(string) string // removes keys
	dialect *family.Dialect     // reads calls
	nodes   []node
	byCall  map[string]int // the node of each call
	loose   []aside        // entries aside of every branch
	todo    *segment       // the todo list at the end
	leaf    int            // where the session continues: by default the last node that is not of a sub-agent
	newest  time.Time      // the last plausible time
	size    int64          // bytes or rows read

	// Facts about the session.
	dir, title string
	created    time.Time
}

func newBuilder(redact func(string) string) (*builder, error) {
	s, err := newSpool()
	if err != nil {
		return nil, err
	}
	dialect, err := newDialect()
	if err != nil {
		s.close()
		return nil, err
	}
	return &builder{spool: s, redact: redact, dialect: dialect, byCall: map[string]int{}, leaf: root}, nil
}

// add appends a node. A side node belongs to a sub-agent.
func (b *builder) add(parent int, side bool, at time.Time, body session.Body) (int, error) {
	b.nodes = append(b.nodes, node{parent: parent, side: side})
	n := len(b.nodes) - 1
	if !side {
		b.leaf = n
	}
	return n, b.grow(n, at, body)
}

// grow appends to a node: another fragment of its answer, or a follower.
func (b *builder) grow(n int, at time.Time, body session.Body) error {
	if m, ok := body.(session.Message); ok {
		var err error
		if m.Content, err = b.named(n, at, b.fitting(m)); err != nil {
			return err
		}
		body = m
	}
	seg, err := b.spool.add(b.event(at, body))
	b.nodes[n].parts = append(b.nodes[n].parts, seg)
	return err
}

// named gives each call of an answer a unique ID, and notes its start in Tenon's names. The call keeps its own.
func (b *builder) named(n int, at time.Time, c llm.Content) (llm.Content, error) {
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
		if s, ok := b.started(p); ok {
			one.name = s.Tool
			seg, err := b.spool.add(b.event(at, s))
			if err != nil {
				return nil, err
			}
			b.nodes[n].started = append(b.nodes[n].started, seg)
		}
		*calls, b.byCall[one.source] = append(*calls, one), n
	}
	return c, nil
}

// fitting removes the parts that a message of its role cannot have.
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
			b.losses.add("part that does not fit the role of the message", "", fmt.Sprintf("%T in a message of the role %q", p, m.Role))
		}
		return !fits
	})
}

// result adds the result of a call to the answer that has the call, and returns its node. A result without a call is lost: -1.
func (b *builder) result(at time.Time, place string, m session.Message) (int, error) {
	n, ok := b.byCall[m.CallID]
	if !ok {
		b.losses.add("result without a call", place, m.CallID+" "+m.Text())
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

// aside adds an entry aside of every branch.
func (b *builder) aside(at time.Time, about int, body session.Body) error {
	seg, err := b.spool.add(b.event(at, body))
	b.loose = append(b.loose, aside{seg, about})
	return err
}

// descend reads the sub-agents of a session, each before its own sub-agents. It reads each once, even if parents
// form a cycle.
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

// toDo is the todo list at the end.
func (b *builder) toDo(items session.Todo) error {
	if len(items.Items) == 0 || b.leaf == root {
		return nil
	}
	seg, err := b.spool.add(b.event(b.newest, items))
	b.todo = &seg
	return err
}

// event makes an entry with a plausible time, in valid UTF-8 and without keys. The emitter assigns its ID.
func (b *builder) event(at time.Time, body session.Body) session.Event {
	if m, ok := body.(session.Message); ok {
		m.Message = m.Valid()
		body = m
	}
	return session.Event{Time: b.when(at), Body: b.clean(body)}
}

// clean removes keys from a body.
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
	if err != nil { // a key that overlaps the JSON syntax
		return session.Note{Text: "[an entry that could not be kept without a key]"}
	}
	if m, ok := out.(session.Message); ok {
		m.Content = unsigned(m.Content)
		out = m
	}
	return out
}

// unsigned removes the signatures from changed thinking.
func unsigned(c llm.Content) llm.Content {
	for i, p := range c {
		if t, ok := p.(llm.Thinking); ok {
			c[i] = llm.Thinking{Text: t.Text}
		}
	}
	return c
}

// when is at, or the last plausible time before it.
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

// plausible reports whether such a program can have written at that time.
func plausible(at time.Time) bool {
	return at.Year() >= 2020 && at.Before(time.Now().Add(48*time.Hour))
}

// setDir sets the working directory that a file names, if it is valid.
func (b *builder) setDir(dir, place string) {
	if dir == "" || b.dir != "" {
		return
	}
	if d, ok := cleanDir(dir); ok {
		b.dir = d
		return
	}
	b.losses.add("working directory that is not an absolute path", place, dir)
}

// cleanDir returns a clean absolute path.
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

// decode reads the JSON of a row or a file.
func decode(data []byte, v any) error {
	if err := checkValues(data); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// shortName is the end of a path, for messages.
func shortName(path string) string { return filepath.Base(path) }
