package transfer

import (
	"iter"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// lostResult is what the model is told of a call whose result the other program does not have.
const lostResult = "The result of this call is not in the session that was imported: nobody knows what it did."

// maxKept is how many bytes of messages a digest keeps word for word.
const maxKept = 4 << 20

// entries yields the journal: branches of sub-agents, abandoned branches, the branch that goes on, and what hangs on none. Where a
// branch leaves another, a head says so.
func (b *builder) entries(c session.Created, r *Report) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		id := session.NewSessionID()
		e := emitter{b: b, report: r, yield: yield, root: id, tip: id, ends: make([]session.ID, len(b.nodes))}
		first := b.created
		if !plausible(first) {
			first = b.firstTime()
		}
		if !e.send(session.Event{ID: id, Time: first, Body: b.clean(c)}) {
			return
		}
		if err := e.all(); err != nil {
			yield(session.Event{}, err)
		}
	}
}

// emitter is one pass over the tree.
type emitter struct {
	b      *builder
	report *Report
	yield  func(session.Event, error) bool
	root   session.ID
	tip    session.ID   // the last entry on a branch
	ends   []session.ID // of each node that was sent, its last entry
	last   session.Event
	left   bool // nobody listens any more
}

func (e *emitter) send(ev session.Event) bool {
	if e.left {
		return false
	}
	if session.OnBranch(ev.Body) {
		e.tip = ev.ID
	}
	e.last = ev
	e.report.count(ev)
	e.left = !e.yield(ev, nil)
	return !e.left
}

func (e *emitter) all() error {
	for _, n := range e.b.order() {
		if err := e.node(n); err != nil || e.left {
			return err
		}
	}
	if end := e.end(e.b.leaf); end != e.tip {
		e.send(session.Event{ID: session.NewID(), Time: e.last.Time, Body: session.Head{To: end, Reason: "rewind"}})
	}
	for _, seg := range e.b.loose {
		ev, err := e.b.spool.get(seg)
		if err != nil || !e.send(ev) {
			return err
		}
	}
	return nil
}

// end is the entry from which children of a node go on.
func (e *emitter) end(n int) session.ID {
	if n == root {
		return e.root
	}
	return e.ends[n]
}

// node sends an answer with its results, or what else a node is.
func (e *emitter) node(i int) error {
	n := &e.b.nodes[i]
	events, err := e.b.load(i)
	if err != nil {
		return err
	}
	from := e.end(n.parent)
	if from != e.tip {
		h := session.Head{To: from, Reason: "branch"}
		if n.side && n.parent == root {
			h.Reason = "sub-agent"
		}
		e.report.Branches++
		if !e.send(session.Event{ID: session.NewID(), Time: events[0].Time, Body: h}) {
			return nil
		}
	}
	for _, ev := range events {
		if d, ok := ev.Body.(session.Digest); ok {
			d.Through = from
			if d.Kept, err = e.kept(n.kept); err != nil {
				return err
			}
			ev.Body = d
		}
		if !e.send(ev) {
			return nil
		}
	}
	if err := e.results(n); err != nil {
		return err
	}
	e.ends[i] = e.tip
	return nil
}

// results sends one result for each call.
func (e *emitter) results(n *node) error {
	for _, seg := range n.results {
		ev, err := e.b.spool.get(seg)
		if err != nil || !e.send(ev) {
			return err
		}
	}
	for _, c := range n.calls {
		if c.done {
			continue
		}
		e.report.Unanswered++
		m := session.Result(llm.ToolCall{ID: c.id, Name: c.name}, session.OutcomeUnknown, lostResult)
		if !e.send(session.Event{ID: session.NewID(), Time: e.last.Time, Body: m}) {
			return nil
		}
	}
	return nil
}

// kept reads the messages that a digest keeps word for word.
func (e *emitter) kept(nodes []int) ([]session.Kept, error) {
	var out []session.Kept
	room := maxKept
	for _, n := range nodes {
		if e.ends[n] == "" {
			continue // on another branch
		}
		events, err := e.b.load(n)
		if err != nil {
			return nil, err
		}
		for _, seg := range e.b.nodes[n].results {
			ev, err := e.b.spool.get(seg)
			if err != nil {
				return nil, err
			}
			events, room = append(events, ev), room-seg.size
		}
		for _, seg := range e.b.nodes[n].parts {
			room -= seg.size
		}
		if room < 0 {
			e.b.losses.add("message that a summary keeps word for word", "", "the summary keeps more than 4 MB")
			return out, nil
		}
		for _, ev := range events {
			if m, ok := ev.Body.(session.Message); ok {
				out = append(out, session.Kept{Entry: ev.ID, Message: m.Message})
			}
		}
	}
	return out, nil
}

// load reads the events of a node, without its results. The pieces of an answer are one message.
func (b *builder) load(i int) ([]session.Event, error) {
	n := &b.nodes[i]
	var events []session.Event
	var answer *session.Event
	for _, seg := range n.parts {
		ev, err := b.spool.get(seg)
		if err != nil {
			return nil, err
		}
		m, ok := ev.Body.(session.Message)
		switch {
		case !ok || m.Role != llm.RoleAssistant:
			events = append(events, ev)
		case answer == nil:
			events = slices.Insert(events, 0, ev)
			answer = &session.Event{ID: ev.ID, Time: ev.Time, Body: m}
		default:
			answer.Body = joined(answer.Body.(session.Message), m)
		}
	}
	if answer != nil {
		m := answer.Body.(session.Message)
		if n.usage != nil {
			m.Usage = *n.usage
		}
		m.Stop = stopOf(m)
		answer.Body = m
		events[0] = *answer
	}
	return events, nil
}

// joined is an answer and a further piece of it, whose facts are the newer ones.
func joined(a, piece session.Message) session.Message {
	a.Content = append(slices.Clip(a.Content), piece.Content...)
	if piece.Stop != "" {
		a.Stop = piece.Stop
	}
	if piece.Usage != (llm.Usage{}) {
		a.Usage = piece.Usage
	}
	if piece.Model != "" {
		a.Model = piece.Model
	}
	return a
}

// stopOf is why an answer ended: with calls, to wait for them.
func stopOf(m session.Message) llm.StopReason {
	calls := len(m.Calls()) > 0
	switch {
	case calls && (m.Stop == "" || m.Stop == llm.StopEnd || m.Stop == llm.StopAborted):
		return llm.StopCalls
	case m.Stop == "":
		return llm.StopEnd
	}
	return m.Stop
}

// order is the nodes, each behind its parent, branch by branch; the branch that goes on is the last.
func (b *builder) order() []int {
	main := make([]bool, len(b.nodes))
	for n := b.leaf; n != root; n = b.nodes[n].parent {
		main[n] = true
	}
	children := make([][]int, len(b.nodes)+1) // of each node, and at last those of the root
	at := func(n int) *[]int {
		if n == root {
			n = len(b.nodes)
		}
		return &children[n]
	}
	for i := range b.nodes {
		list := at(b.nodes[i].parent)
		*list = append(*list, i)
	}
	for _, list := range children {
		slices.SortStableFunc(list, func(x, y int) int { return rank(main[x]) - rank(main[y]) })
	}
	out := make([]int, 0, len(b.nodes))
	var stack []int
	push := func(n int) {
		for _, c := range slices.Backward(*at(n)) {
			stack = append(stack, c)
		}
	}
	for push(root); len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		out = append(out, n)
		push(n)
	}
	return out
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// firstTime is when the first of the nodes happened.
func (b *builder) firstTime() (first time.Time) {
	for i := range b.nodes {
		for _, seg := range b.nodes[i].parts {
			if e, err := b.spool.get(seg); err == nil {
				return e.Time
			}
		}
	}
	return first
}
