package transfer

import (
	"iter"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// lostResult is the result of a call that has none in the source.
const lostResult = "The imported session has no result for this call. Its effects are unknown."

// maxKept is how many bytes of messages a summary keeps word for word.
const maxKept = 4 << 20

// entries yields the journal: branches of sub-agents, abandoned branches, the branch that goes on, and what hangs on none. Where a
// branch leaves another, a head says so.
func (b *builder) entries(c session.Created, r *Report) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		e := emitter{b: b, report: r, yield: yield, root: session.NewSessionID(), ids: make([][]session.ID, len(b.nodes))}
		if !e.begin(c) {
			return
		}
		if err := e.all(); err != nil && !e.left {
			yield(session.Event{}, err)
		}
	}
}

// emitter makes one pass over the tree.
type emitter struct {
	b      *builder
	report *Report
	yield  func(session.Event, error) bool
	root   session.ID
	tip    session.ID     // the last entry on a branch
	ids    [][]session.ID // of the entries of each emitted node
	at     time.Time      // of the last entry
	left   bool           // the consumer has left
}

func (e *emitter) begin(c session.Created) bool {
	first := e.b.created
	if !plausible(first) {
		first = e.b.firstTime()
	}
	return e.send(session.Event{ID: e.root, Time: first, Body: e.b.clean(c)})
}

func (e *emitter) send(ev session.Event) bool {
	if e.left {
		return false
	}
	if ev.ID == "" {
		ev.ID = session.NewID()
	}
	if ev.OnBranch() {
		e.tip = ev.ID
	}
	e.at = ev.Time
	e.report.count(ev)
	e.left = !e.yield(ev, nil)
	return !e.left
}

// put emits the follower of an entry and returns its ID.
func (e *emitter) put(from session.ID, ev session.Event, reason string) session.ID {
	if from != e.tip {
		e.report.Branches++
		if !e.send(session.Event{Time: ev.Time, Body: session.Head{To: from, Reason: reason}}) {
			return e.tip
		}
	}
	e.send(ev)
	return e.tip
}

func (e *emitter) all() error {
	for _, n := range e.b.order() {
		if err := e.node(n); err != nil || e.left {
			return err
		}
	}
	if err := e.ending(); err != nil {
		return err
	}
	for _, a := range e.b.loose {
		ev, err := e.b.spool.get(a.segment)
		if err != nil {
			return err
		}
		if note, ok := ev.Body.(session.Note); ok && a.about != root && len(e.ids[a.about]) > 0 {
			note.Text += " at entry " + string(e.ids[a.about][0])
			ev.Body = note
		}
		if !e.send(ev) {
			return nil
		}
	}
	if e.b.title != "" {
		e.send(e.b.event(e.b.newest, session.Title{Title: brief(e.b.title, 200)}))
	}
	return nil
}

// ending moves to where the session continues and adds the todo list.
func (e *emitter) ending() error {
	end := e.end(e.b.leaf)
	if e.b.todo != nil {
		todo, err := e.b.spool.get(*e.b.todo)
		if err != nil {
			return err
		}
		end = e.put(end, todo, "rewind")
	}
	if end != e.tip {
		e.send(session.Event{Time: e.at, Body: session.Head{To: end, Reason: "rewind"}})
	}
	return nil
}

// end is the entry that the children of a node follow.
func (e *emitter) end(n int) session.ID {
	if n == root {
		return e.root
	}
	return e.ids[n][len(e.ids[n])-1]
}

// node emits an answer with its results, or any other node.
func (e *emitter) node(i int) error {
	n := &e.b.nodes[i]
	events, err := e.b.load(i)
	if err != nil {
		return err
	}
	from, reason := e.end(n.parent), "branch"
	if n.side && n.parent == root {
		reason = "sub-agent"
	}
	put := func(ev session.Event) {
		from = e.put(from, ev, reason)
		e.ids[i] = append(e.ids[i], from)
	}
	for _, ev := range events {
		if d, ok := ev.Body.(session.Summarized); ok {
			d.Through = from
			if d.Verbatim, err = e.kept(n.kept); err != nil {
				return err
			}
			ev.Body = d
		}
		put(ev)
	}
	for _, seg := range n.started {
		ev, err := e.b.spool.get(seg)
		if err != nil {
			return err
		}
		from = e.put(from, ev, reason)
	}
	for _, seg := range n.results {
		ev, err := e.b.spool.get(seg)
		if err != nil {
			return err
		}
		put(ev)
	}
	for _, c := range n.calls { // every call gets exactly one result
		if !c.done {
			e.report.Unanswered++
			put(session.Event{Time: e.at, Body: view.Result(llm.ToolCall{ID: c.id, Name: c.name}, session.OutcomeUnknown, lostResult)})
		}
	}
	return nil
}

// kept reads the messages that a summary keeps word for word.
func (e *emitter) kept(nodes []int) ([]session.Verbatim, error) {
	var out []session.Verbatim
	room := maxKept
	for _, n := range nodes {
		if len(e.ids[n]) == 0 {
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
		for i, ev := range events {
			if m, ok := ev.Body.(session.Message); ok {
				out = append(out, session.Verbatim{Entry: e.ids[n][i], Message: m.Message})
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
			answer = &session.Event{Time: ev.Time, Body: m}
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

// joined merges an answer with a further fragment, whose facts are newer.
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

// stopOf is the stop reason of an answer: calls if it has any.
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

// order returns the nodes, each after its parent, branch by branch; the current branch is last.
func (b *builder) order() []int {
	main := make([]bool, len(b.nodes))
	for n := b.leaf; n != root; n = b.nodes[n].parent {
		main[n] = true
	}
	children := make([][]int, len(b.nodes)+1) // of each node; the root's are last
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

// firstTime is the time of the earliest node.
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
