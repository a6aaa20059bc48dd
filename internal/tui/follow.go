package tui

import (
	"context"
	"iter"
	heap "runtime/debug"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

const (
	frame  = 50 * time.Millisecond // between two batches of a stream: the screen changes at most 20 times a second
	recent = 200                   // entries that the terminal reads before it shows a session
	// afterwards is when it reads the others: not while the person waits for the first ones.
	afterwards = 300 * time.Millisecond
	// whole is the size of a session, in entries, up to which it is all in memory. The items of the beginning of a longer one come when the
	// person goes there.
	whole = 10_000
	// some is how many entries the terminal reads when the person goes there first; then four times as many, and so on.
	some = 2_000
)

// events is a batch of events of the conversation of generation gen.
type events struct {
	gen  int
	from *follower
	all  []session.Event
	err  error
	over bool // nothing follows
}

// follower collects the events of a conversation, so that the terminal handles one batch per frame and not one message per token.
type follower struct {
	gen    int
	task   session.ID // whose agent it follows; empty: the conversation
	cancel context.CancelFunc
	woken  chan struct{} // has an element if something waits

	mu   sync.Mutex
	held []session.Event
	err  error
	over bool
}

// follow begins to collect the events after a number.
func follow(ctx context.Context, source func(ctx context.Context, after int64) iter.Seq2[session.Event, error], after int64, gen int) *follower {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{gen: gen, cancel: cancel, woken: make(chan struct{}, 1)}
	go func() {
		for e, err := range source(ctx, after) {
			f.put(e, err, false)
		}
		f.put(session.Event{}, nil, true)
	}()
	return f
}

func (f *follower) put(e session.Event, err error, over bool) {
	f.mu.Lock()
	switch {
	case over:
		f.over = true
	case err != nil:
		f.err = err
	default:
		f.held = appendEvent(f.held, e)
	}
	f.mu.Unlock()
	select {
	case f.woken <- struct{}{}:
	default:
	}
}

// appendEvent joins deltas of the same part, so that a fast model costs no more than a slow one.
func appendEvent(held []session.Event, e session.Event) []session.Event {
	d, ok := e.Body.(live.Delta)
	if n := len(held); ok && n > 0 && held[n-1].After == e.After {
		if last, ok := held[n-1].Body.(live.Delta); ok && last.Type == d.Type && last.Part == d.Part && d.Tool == "" {
			if last.Type == live.DeltaArguments {
				return held // people do not see arguments while the model writes them
			}
			last.Text += d.Text
			held[n-1].Body = last
			return held
		}
	}
	return append(held, e)
}

// next waits for the next batch. A stream is slowed to one batch per frame; an entry comes at once.
func (f *follower) next() tea.Msg {
	<-f.woken
	f.mu.Lock()
	urgent := f.over || f.err != nil
	for _, e := range f.held {
		urgent = urgent || e.Seq > 0
	}
	f.mu.Unlock()
	if !urgent {
		time.Sleep(frame)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	batch := events{gen: f.gen, from: f, all: f.held, err: f.err, over: f.over}
	f.held = nil
	return batch
}

// older is the part of a session before the recent entries.
type older struct {
	gen   int
	part  part
	items []*transcript.Item
	facts facts
	from  int64 // the entries up to this one are still to be read
	err   error
}

// part is a part of the knowledge about the beginning of a session.
type part int

const (
	all     part = iota
	outline      // its facts and branches
	details      // its items
)

// span is a part of a session: the entries after from, up to through. Those up to last only complete the items that these begin, such as
// the calls of an answer.
type span struct{ from, through, last int64 }

// beginning folds a part of a session that Tenon shows after the recent entries. Before the first one, it folds the entries that a fork
// inherits. It runs outside of the loop of the terminal.
func beginning(ctx context.Context, o *Opened, s span, gen int, p part) tea.Msg {
	out := older{gen: gen, part: p, facts: newFacts(), from: s.from}
	out.facts.dir = o.Dir
	var t transcript.Transcript
	if s.from == 0 {
		for _, e := range o.Inherited {
			it, begun := t.Add(e)
			out.add(e, it, begun)
		}
	}
	if t = (transcript.Transcript{}); s.through == 0 {
		return out
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for e, err := range o.Conversation.Follow(ctx, s.from) {
		if err != nil {
			out.err, out.from = err, 0
			break
		}
		it, begun := t.Add(e)
		if e.Seq > 0 && e.Seq <= s.through {
			out.add(e, it, begun)
		}
		if e.Seq >= s.last || e.After >= s.last {
			break
		}
	}
	if p == outline { // nearly all that was read is garbage
		heap.FreeOSMemory()
	}
	return out
}

// add adds an entry with the item that it changed.
func (o *older) add(e session.Event, it *transcript.Item, begun bool) {
	if o.part != details {
		o.facts.add(e)
	}
	if begun && shown(it) && o.part != outline {
		o.items = append(o.items, it)
	}
}

// shown reports whether people see an item. Notes about the work inside of Tenon stay in tenon sessions show.
func shown(it *transcript.Item) bool {
	if it.Kind != transcript.KindNote {
		return true
	}
	switch b := it.Body.(type) {
	case session.Epoch, session.Context, session.Opaque, live.Waiting: // the line above the prompt shows a wait
		return false
	case session.FilesChanged:
		return b.Cause == session.ByUndo || b.Cause == session.ByRedo
	}
	return true
}
