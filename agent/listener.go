package agent

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// The bounds of what waits for one listener.
const (
	maxApart = 32      // events; with more, deltas are put together; progress always is
	maxQueue = 4 << 10 // events; with more, the listener reads entries from the store

	// maxProgress is how many bytes of the progress of one call wait: the newest.
	maxProgress = 16 << 10

	// maxSpare is the most memory in bytes that a backlog keeps for the next text that grows.
	maxSpare = 64 << 10
)

// listener is one consumer of the events of a session. The feed guards it with its lock, but for shown, which is the consumer's.
type listener struct {
	bell   chan struct{}
	queue  backlog
	behind bool            // entries are missing in the queue: the consumer reads them from the store
	from   int64           // the last entry that the consumer has read from the store
	shown  int64           // the newest entry that was handed out
	spare  []session.Event // memory for take
}

func (l *listener) ring() {
	select {
	case l.bell <- struct{}{}:
	default:
	}
}

// entry queues an entry.
func (l *listener) entry(e session.Event) {
	switch {
	case l.behind: // the consumer will read it, and what came before it is past
		l.queue.clear()
	case e.Seq > l.from: // else the store had it before it was published
		l.queue.add(e, false)
		l.bound()
	}
	l.ring()
}

// transient queues a transient event.
func (l *listener) transient(e session.Event) {
	if e.After < l.from {
		return
	}
	waiting := len(l.queue.events)
	join := l.crowded()
	if !join && waiting > 0 {
		_, join = e.Body.(live.Progress)
	}
	l.queue.add(e, join)
	l.bound()
	if waiting == 0 { // else it knows
		l.ring()
	}
}

// crowded reports whether so much waits that deltas are put together.
func (l *listener) crowded() bool { return len(l.queue.events) >= maxApart || l.behind }

// extend adds a delta to the text of one that waits, if that is enough for this listener.
func (l *listener) extend(d live.Delta) bool { return l.crowded() && l.queue.extend(d) }

// bound keeps what waits below its bound. The entries are in the store; transient events before them are past then.
func (l *listener) bound() {
	if len(l.queue.events) <= maxQueue {
		return
	}
	events := l.queue.events
	at := len(events) - 1
	for at >= 0 && !events[at].Durable() {
		at--
	}
	if at >= 0 {
		l.behind = true
	} else {
		at = 0 // nothing but transient events that cannot be put together: the oldest goes
	}
	l.queue.events = slices.Delete(events, 0, at+1)
}

// take returns what waits. The slice is good until the next call.
func (l *listener) take() []session.Event {
	if l.behind {
		return nil
	}
	out := slices.Grow(l.spare[:0], len(l.queue.events))
	for i := range l.queue.events {
		out = append(out, l.queue.events[i].event())
	}
	l.queue.clear()
	l.spare = out
	return out
}

// backlog is events that wait. Deltas and progress can be put together.
type backlog struct {
	events []pending
	spare  []byte // memory for the text of the next event that grows
}

// pending is an event whose text may grow.
type pending struct {
	session.Event
	text []byte // of a delta or progress that was put together; nil: it is in the body
}

func (b *backlog) clear() {
	for i := range b.events {
		if text := b.events[i].text; cap(text) > cap(b.spare) && cap(text) <= maxSpare {
			b.spare = text[:0]
		}
	}
	clear(b.events)
	b.events = b.events[:0]
}

// add appends an event. With join it is put together with the one of the same kind before it, where there is one.
func (b *backlog) add(e session.Event, join bool) {
	if join && b.join(e) {
		return
	}
	b.events = append(b.events, pending{Event: e})
}

// join adds the text of an event to an earlier one: deltas of one part, progress of one call. Between the two are only others of their kind.
func (b *backlog) join(e session.Event) bool {
	switch body := e.Body.(type) {
	case live.Delta:
		return b.extend(body)
	case live.Progress:
		for i := len(b.events) - 1; i >= 0; i-- {
			p := &b.events[i]
			before, ok := p.Body.(live.Progress)
			if !ok {
				return false
			}
			if before.Call == body.Call {
				b.grow(p, before.Text, body.Text)
				if over := len(p.text) - 2*maxProgress; over > 0 {
					p.text = append(p.text[:0], p.text[over+maxProgress:]...)
				}
				return true
			}
		}
	}
	return false
}

// extend is join for a delta.
func (b *backlog) extend(d live.Delta) bool {
	for i := len(b.events) - 1; i >= 0; i-- {
		p := &b.events[i]
		before, ok := p.Body.(live.Delta)
		if !ok || d.Call != "" {
			return false
		}
		if before.Type == d.Type && before.Part == d.Part {
			b.grow(p, before.Text, d.Text)
			return true
		}
	}
	return false
}

func (b *backlog) grow(p *pending, before, more string) {
	if p.text == nil {
		p.text = append(b.spare[:0], before...)
		b.spare = nil
	}
	p.text = append(p.text, more...)
}

// event is the event with its whole text.
func (p *pending) event() session.Event {
	e := p.Event
	if p.text == nil {
		return e
	}
	switch b := e.Body.(type) {
	case live.Delta:
		b.Text = string(p.text)
		e.Body = b
	case live.Progress:
		b.Text = strings.ToValidUTF8(string(p.text[max(0, len(p.text)-maxProgress):]), "\uFFFD")
		e.Body = b
	}
	return e
}
