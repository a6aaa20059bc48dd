package window

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// draft is a request that is being made: the entries that go before it, and the view as it will be with them.
type draft struct {
	path    session.Path
	header  Header
	usable  int // tokens
	view    *View
	entries []session.Body
	reason  string // why an epoch begins; empty: none does, unless the header has changed
	before  int    // estimated tokens before anything was done
	shorter []session.Reduction
}

func (d *draft) look(ctx context.Context) (err error) {
	d.view, err = Look(ctx, d.path)
	return err
}

// add appends entries to the draft, and to the path that its view is made of.
func (d *draft) add(bodies ...session.Body) {
	d.entries = append(d.entries, bodies...)
	d.path = extended{d.path, bodies}
}

// goBack fulfils the wish of the model to go on from an earlier state.
func (d *draft) goBack(ctx context.Context) error {
	wish, ok := d.view.revert.Body.(session.Revert)
	if !ok {
		return nil
	}
	d.entries = append(d.entries, session.Head{To: wish.To, Reason: "revert"})
	d.path = before{d.path, wish.To}
	d.add(session.Message{Message: llm.UserText(lesson(wish)), Source: session.FromRevert})
	return d.look(ctx)
}

// lesson is what a model is told of a state that it left.
func lesson(r session.Revert) string {
	title, ok := map[string]string{"failure": "Lesson", "tangent": "Finding", "completion": "Outcome", "step": "Checkpoint"}[r.Category]
	if !ok {
		title = "Note"
	}
	return fmt.Sprintf("<reverted>\nYou went back to this point from what you tried next. Files are as you left them.\n%s: %s\n</reverted>", title, r.Lesson)
}

// wouldReduce finds shorter texts for results, and reports whether they bring the window down to so many tokens.
func (d *draft) wouldReduce(how Reducing, enough int) bool {
	d.shorter = d.view.Reduce(how)
	if len(d.shorter) == 0 {
		return false
	}
	return d.view.Estimate(d.header).Tokens-d.saved() <= enough
}

// saved is how many tokens the shorter texts save.
func (d *draft) saved() int {
	shorter := make(map[session.ID]string, len(d.shorter))
	for _, r := range d.shorter {
		shorter[r.Entry] = r.Text
	}
	n := 0
	for i, b := range d.view.Blocks {
		if text, ok := shorter[b.Entries[0]]; ok && b.Why == Said {
			n += countMessages(d.view.Messages[i:i+1]) - countMessages([]llm.Message{llm.UserText(text)})
		}
	}
	return d.view.scale(d.header.Model).Tokens(n)
}

// reduce puts the shorter texts in place, in a new epoch.
func (d *draft) reduce(ctx context.Context) error {
	d.begin("reduction")
	d.add(session.Reduced{Messages: d.shorter})
	return d.look(ctx)
}

// begin says why an epoch begins. The first reason is the one that counts.
func (d *draft) begin(reason string) {
	if d.reason == "" {
		d.reason, d.before = reason, d.view.Estimate(d.header).Tokens
	}
}

// beginEpoch adds the epoch that begins, if one does. As earlier bytes change anyway then, everything that can be reduced is.
func (d *draft) beginEpoch(ctx context.Context) error {
	if reason := d.view.changed(d.header); reason != "" && d.reason == "" {
		d.begin(reason)
		if d.shorter = d.view.Reduce(Reducing{}); reason != "start" && len(d.shorter) > 0 {
			if err := d.reduce(ctx); err != nil {
				return err
			}
		}
	}
	if d.reason == "" {
		return nil
	}
	e := d.header.epoch(d.reason)
	e.Before = int64(d.before)
	d.path = extended{d.path, []session.Body{e}}
	if err := d.look(ctx); err != nil {
		return err
	}
	e.Tokens = int64(d.view.Estimate(d.header).Tokens)
	d.entries = append(d.entries, e)
	return nil
}

// extended is a path with entries that are not written yet. They have no IDs.
type extended struct {
	session.Path
	more []session.Body
}

// Backward implements [session.Path].
func (p extended) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, b := range slices.Backward(p.more) {
			if !yield(session.Event{Body: b}, nil) {
				return
			}
		}
		p.Path.Backward(ctx)(yield)
	}
}

// before is a path up to one of its entries.
type before struct {
	session.Path
	to session.ID
}

// Backward implements [session.Path].
func (p before) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		reached := false
		for e, err := range p.Path.Backward(ctx) {
			if reached = reached || e.ID == p.to; (reached || err != nil) && !yield(e, err) {
				return
			}
		}
	}
}
