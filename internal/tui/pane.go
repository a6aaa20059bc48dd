package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/activity"
	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/transcript"
)

// pane is the open conversation as the person sees it: its items, its facts and what happens in it.
type pane struct {
	gen      int // a message of an earlier conversation has another one
	opened   *Opened
	follower *follower

	fold  transcript.Transcript
	facts facts
	act   activity.Activity
	state conversation.State // as of the last turn

	list    *list.List
	cards   []*card.Card                    // of all branches, oldest first; the list has those of the current one, inline only the live ones
	open    map[*transcript.Item]*card.Card // that later events may change
	agents  map[session.ID]*child           // of tasks
	listed  bool                            // the person asked for the list of agents
	options *card.Options
	after   int64          // the entries up to this one are read after the recent ones
	reading int            // parts of the session that are not here yet
	rest    func() tea.Msg // reads earlier items of a long session; nil: they are here, or come
	step    func(through, n int64) func() tea.Msg
	size    int64                // entries of the next step
	beyond  int                  // lines that the person scrolled beyond the first item that is here
	upward  bool                 // the person wants to see the first item, which is not here yet
	waiting func(a *app) tea.Cmd // for all items
	inline  bool                 // the scrollback of the terminal has what the list has not
}

func newPane(gen int, l *list.List, o *card.Options, inline bool) *pane {
	l.Clear()
	return &pane{gen: gen, list: l, options: o, inline: inline, facts: newFacts(), open: make(map[*transcript.Item]*card.Card), agents: make(map[session.ID]*child)}
}

// session returns the ID of the open session; empty while it opens.
func (p *pane) session() session.SessionID {
	if p.opened == nil {
		return ""
	}
	return p.opened.Session
}

// conversation returns the open conversation, or nil.
func (p *pane) conversation() conversation.Conversation {
	if p.opened == nil {
		return nil
	}
	return p.opened.Conversation
}

// begin follows a conversation that was opened. The recent entries come first, the earlier ones later.
func (p *pane) begin(ctx context.Context, o *Opened, s conversation.State) tea.Cmd {
	p.opened, p.state = o, s
	p.facts.dir, p.facts.title = o.Dir, s.Title
	p.act.Running = s.Run != ""
	p.after = max(s.Seq-recent, 0)
	for _, e := range o.Tasks {
		p.fold.Add(e)
	}
	p.follower = follow(ctx, o.Conversation.Follow, p.after, p.gen)
	next, after := tea.Cmd(p.follower.next), p.after
	first := all
	if s.Seq > whole {
		first = outline
		p.step = func(through, n int64) func() tea.Msg {
			return func() tea.Msg { return beginning(ctx, o, span{max(through-n, 0), through, s.Seq}, p.gen, details) }
		}
		p.size, p.rest = some, p.step(after, some)
	}
	earlier := func(time.Time) tea.Msg { return beginning(ctx, o, span{0, after, s.Seq}, p.gen, first) }
	wait := time.Duration(0)
	switch {
	case after > 0:
		wait = afterwards
	case len(o.Inherited) == 0:
		return next
	}
	p.reading++
	return tea.Batch(next, tea.Tick(wait, earlier))
}

// end stops following.
func (p *pane) end() {
	if p.follower != nil {
		p.follower.cancel()
	}
	for _, c := range p.agents {
		if c.follower != nil {
			c.follower.cancel()
		}
	}
}

// add folds events.
func (p *pane) add(all []session.Event, now time.Time) {
	for _, e := range all {
		p.facts.add(e)
		p.act.Add(e, now)
		it, begun := p.fold.Add(e)
		switch b := e.Body.(type) {
		case live.Spending:
			p.spend(b)
		case session.Head:
			p.turn()
		case session.Asking, session.Asked: // they change the calls of the answer, too
			if c := p.open[p.fold.Answer()]; c != nil {
				c.Changed()
			}
		}
		if it != nil {
			p.show(it, begun)
		}
	}
}

// show adds the card of an item, or draws it again.
func (p *pane) show(it *transcript.Item, begun bool) {
	if begun { // an answer that replaces another empties it
		for old, c := range p.open {
			if c.Changed(); !old.Open {
				delete(p.open, old)
			}
		}
	}
	c := p.open[it]
	if c == nil && !begun { // the result of a call may come in a later run
		for i := len(p.cards) - 1; i >= 0 && c == nil; i-- {
			if p.cards[i].Item() == it {
				c = p.cards[i]
			}
		}
	}
	switch {
	case c != nil:
		c.Changed()
	case begun && shown(it):
		c = card.New(it, p.options)
		p.cards = append(p.cards, c)
		p.list.Append(c)
		p.open[it] = c
	}
	if !it.Open {
		delete(p.open, it)
	}
}

// note shows a remark that is not part of the session.
func (p *pane) note(n transcript.Note, now time.Time) {
	p.show(&transcript.Item{Kind: transcript.KindNote, Time: now, Note: n}, true)
}

// more reads earlier items of a long session, unless it does so already.
func (p *pane) more() tea.Cmd {
	rest := p.rest
	if rest != nil {
		p.rest = nil
		p.reading++
	}
	return rest
}

// partial reports whether a part of the session is not here yet.
func partial(p *pane) bool { return p.rest != nil || p.reading > 0 }

// prepend shows an earlier part of the session.
func (p *pane) prepend(o older) {
	p.reading--
	if o.part != details {
		p.facts.join(o.facts)
	}
	if o.part == outline {
		if p.facts.turned {
			p.turn()
		}
		return
	}
	if o.from > 0 {
		p.size *= 4
		p.rest = p.step(o.from, p.size)
	}
	earlier := make([]*card.Card, len(o.items))
	items := make([]list.Item, len(o.items))
	results := make(map[int64]bool)
	for i, it := range o.items {
		earlier[i] = card.New(it, p.options)
		items[i] = earlier[i]
		for _, call := range it.Calls {
			results[call.Seq] = true
		}
	}
	for i := 0; i < len(p.cards); i++ { // results whose calls are here now
		it := p.cards[i].Item()
		if it.Kind == transcript.KindAnswer {
			break
		}
		if it.Kind == transcript.KindNote && len(it.Calls) == 1 && results[it.Seq] {
			if at := p.list.Index(p.cards[i]); at >= 0 {
				p.list.Remove(at)
			}
			p.cards = slices.Delete(p.cards, i, i+1)
			i--
		}
	}
	p.cards = append(earlier, p.cards...)
	switch {
	case p.facts.turned:
		p.turn()
	case !p.inline:
		p.list.Prepend(items...)
	}
	beyond := p.beyond
	p.beyond = 0
	if p.upward {
		p.list.Top()
		p.upward = partial(p)
	} else if beyond > 0 {
		p.scrolled(p.list.Scroll(-beyond))
	}
}

// scrolled notes lines that the person scrolled beyond the first item. They count when the beginning of the session comes.
func (p *pane) scrolled(missed int) {
	if p.beyond += missed; missed == 0 || !partial(p) {
		p.beyond = 0
	}
}

// turn shows the items of the current branch after a rewind.
func (p *pane) turn() {
	clear(p.facts.files)
	var items []list.Item
	for _, c := range p.current() {
		for _, call := range c.Item().Calls {
			if p.facts.diffs(call.Diffs); len(call.Diffs) == 0 {
				p.facts.commands(call.Files)
			}
		}
		items = append(items, c)
	}
	if p.inline { // the scrollback keeps its items
		return
	}
	p.list.Clear()
	p.list.Append(items...)
	p.list.Bottom()
}

// current returns the cards of the current branch. An item aside of all branches, such as a question, belongs to the item before it.
func (p *pane) current() []*card.Card {
	if !p.facts.turned {
		return p.cards
	}
	on := p.facts.entries()
	var all []*card.Card
	visible := true
	for _, c := range p.cards {
		it := c.Item()
		switch b := it.Body.(type) {
		case session.FilesChanged: // the files that an undo restored are no part of what it undid
			all = append(all, c)
			continue
		case nil:
		default:
			if it.Seq > 0 && (session.Event{Body: b}).OnBranch() {
				visible = on[it.ID]
			}
		}
		if visible {
			all = append(all, c)
		}
	}
	return all
}

// answer returns the newest answer of the current branch that has text, or nil.
func (p *pane) answer() *transcript.Item {
	all := p.current()
	for i := len(all) - 1; i >= 0; i-- {
		if it := all[i].Item(); it.Kind == transcript.KindAnswer && it.Text() != "" {
			return it
		}
	}
	return nil
}

// asking returns the oldest question that has no answer.
func (p *pane) asking() (request.Question, bool) {
	for _, q := range p.state.Asking {
		if q.Answer == nil && q.Seq <= p.after { // older than the entries that were read
			return q, true
		}
	}
	for _, q := range p.fold.Requests.Questions {
		if q.Answer == nil {
			return q, true
		}
	}
	return request.Question{}, false
}

// resumes reports whether the answer to a question lets a run go on whose process ended: the newest answer of the model has its call, and nothing
// runs. A question about a command of a person has no run.
func (p *pane) resumes(question string) bool {
	q, ok := p.asking()
	if !ok || q.ID != question || p.busy() || p.fold.Answer() == nil {
		return false
	}
	for _, c := range p.fold.Answer().Calls {
		if c.ID == q.Call || slices.ContainsFunc(q.Calls, func(asked ask.Call) bool { return asked.Call == c.ID }) {
			return true
		}
	}
	return false
}

// drafts returns the queued prompts in their order.
func (p *pane) drafts() []request.Draft { return p.fold.Requests.Drafts }

// busy reports whether a run or a command of a person is on.
func (p *pane) busy() bool {
	for it := range p.open {
		if it.Kind == transcript.KindCommand && it.Open {
			return true
		}
	}
	return p.act.Running || p.fold.Requests.Run != ""
}
