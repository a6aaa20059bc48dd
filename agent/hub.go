package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// hub hands the entries that the feed publishes, and transient events, to all listeners in one order. Its lock is taken after that of the
// feed, so a transient event never waits for the store.
type hub struct {
	log session.Log
	id  session.SessionID

	mu        sync.Mutex
	stamp     session.Stamp // of transient events
	last      int64         // the newest entry that was published
	recent    backlog       // the transient events since then, for those who attach now
	listeners []*listener
	closed    bool
}

// entry hands an entry to all listeners.
func (h *hub) entry(e session.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = e.Seq
	h.recent.clear()
	for _, l := range h.listeners {
		l.entry(e)
	}
}

// stampAs gives transient events another stamp.
func (h *hub) stampAs(s session.Stamp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stamp = s
}

// close ends the listeners once they have seen everything.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, l := range h.listeners {
		l.ring()
	}
}

// moment hands a transient event to all listeners.
func (h *hub) moment(b session.Body) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.transient(session.Now(), b)
	h.recent.add(e, true)
	for _, l := range h.listeners {
		l.transient(e)
	}
}

// transient makes a transient event. It must be called with mu held.
func (h *hub) transient(now time.Time, b session.Body) session.Event {
	return session.Event{After: h.last, Run: h.stamp.Run, Turn: h.stamp.Turn, Time: now, Body: b}
}

// delta is moment for a delta, of which there are thousands in a second: it makes an event only for who does not add the text to one that
// waits already.
func (h *hub) delta(now time.Time, d live.Delta) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var e session.Event
	event := func() session.Event {
		if e.Body == nil {
			e = h.transient(now.UTC().Truncate(time.Microsecond), d)
		}
		return e
	}
	if !h.recent.extend(d) {
		h.recent.add(event(), false)
	}
	for _, l := range h.listeners {
		if !l.extend(d) {
			l.transient(event())
		}
	}
}

// attach adds a listener to what comes after an entry; a negative number is the newest one.
func (h *hub) attach(after int64) *listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	if after < 0 {
		after = h.last
	}
	// It may have read from the store what was not published yet.
	l := &listener{bell: make(chan struct{}, 1), from: after, shown: after, behind: after < h.last}
	for _, p := range h.recent.events {
		if p.After >= after {
			l.queue.add(p.event(), false)
		}
	}
	h.listeners = append(h.listeners, l)
	return l
}

func (h *hub) detach(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners = slices.DeleteFunc(h.listeners, func(o *listener) bool { return o == l })
}

// follow hands to yield what a listener has to see, until ctx or the hub ends, yield returns false, or nothing is left once over is closed.
func (h *hub) follow(ctx context.Context, l *listener, over <-chan struct{}, yield func(session.Event) bool) error {
	for last := false; ; {
		if more, err := h.reread(ctx, l, yield); !more {
			return err
		}
		events, closed := h.take(l)
		for i, e := range events {
			if e.Durable() {
				l.shown = e.Seq
			}
			if !yield(e) {
				return nil
			}
			events[i] = session.Event{}
		}
		if len(events) > 0 {
			continue
		}
		switch {
		case closed:
			return ErrClosed
		case last:
			return nil
		}
		select {
		case <-l.bell:
		case <-over:
			last = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// reread hands out the entries that a listener lacks from the store, until it is as far as the hub.
func (h *hub) reread(ctx context.Context, l *listener, yield func(session.Event) bool) (more bool, _ error) {
	for h.lacks(l) {
		for e, err := range h.log.Read(ctx, h.id, l.shown) {
			if err != nil {
				return false, err
			}
			l.shown = e.Seq
			if !yield(e) {
				return false, nil
			}
		}
	}
	return true, nil
}

// lacks reports whether a listener has to read entries from the store.
func (h *hub) lacks(l *listener) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.behind && l.shown >= h.last {
		l.behind, l.from = false, l.shown
		l.queue.events = slices.DeleteFunc(l.queue.events, func(p pending) bool { return p.After < l.shown })
	}
	return l.behind
}

// take returns the events that wait for a listener.
func (h *hub) take(l *listener) (_ []session.Event, closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return l.take(), h.closed
}
