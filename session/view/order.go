package view

import "github.com/tenon-agent/tenon/session"

// Order restores the one order of events that all listeners see, for a client that receives entries and transient events by different
// routes. A transient event follows the entry that was the newest when it happened, and precedes the next entry of its run. Order drops an
// event that arrives too late. Add entries in the order of their numbers. The zero value is ready for use. It is not safe for concurrent use.
//
// Agent.Follow has this order already.
type Order struct {
	shown int64         // the newest entry
	runs  session.RunID // the run that wrote the newest entry of a run
	ran   int64         // that entry
	held  []session.Event
}

// maxHeld bounds the transient events that wait for their entries.
const maxHeld = 4096

// Add adds an event and returns the events to show now, in order.
func (o *Order) Add(e session.Event) []session.Event {
	if !e.Durable() {
		switch {
		case e.After > o.shown && len(o.held) < maxHeld:
			o.held = append(o.held, e)
			return nil
		case e.After > o.shown || o.late(e):
			return nil
		}
		return []session.Event{e}
	}
	if e.Seq <= o.shown {
		return nil
	}
	out := []session.Event{e}
	o.shown = e.Seq
	if e.Run != "" {
		o.runs, o.ran = e.Run, e.Seq
	}
	still := o.held[:0]
	for _, t := range o.held {
		switch {
		case t.After > o.shown:
			still = append(still, t)
		case !o.late(t):
			out = append(out, t)
		}
	}
	o.held = still
	return out
}

// late reports whether a newer entry of the run of a transient event was shown.
func (o *Order) late(e session.Event) bool {
	return e.After < o.ran && (e.Run == "" || e.Run == o.runs)
}
