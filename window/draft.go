package window

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// draft is a request that is being made: the entries that go before it, and the view as it will be with them.
type draft struct {
	path    session.Path
	header  Header
	usable  int // tokens
	limit   int // tokens that the model takes at most, as it has shown by refusing; 0: it has refused nothing
	view    *View
	entries []session.Body
	reason  string // why an epoch begins; empty: none does, unless the header has changed
	before  int    // estimated tokens before anything was done
	shorter []session.Reduction

	counted   *View // that the estimate is of
	estimated Estimate

	pins   func(context.Context) ([]session.Kept, error) // nil: none
	reads  []string
	pinned *[]session.Kept // nil: not asked for yet
}

// kept is what people want kept. It is asked for when something is about to be taken out.
func (d *draft) kept(ctx context.Context) ([]session.Kept, error) {
	if d.pinned == nil {
		var pinned []session.Kept
		if d.pins != nil {
			var err error
			if pinned, err = d.pins(ctx); err != nil {
				return nil, fmt.Errorf("window: find what is pinned: %w", err)
			}
		}
		d.pinned = &pinned
	}
	return *d.pinned, nil
}

// estimate is about how many tokens the request has as it is now. It is counted once for each view.
func (d *draft) estimate() Estimate {
	if d.counted != d.view {
		d.counted, d.estimated = d.view, d.view.Estimate(d.header)
	}
	return d.estimated
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
	if there, err := onPath(ctx, d.path, wish.To); !there {
		return err // where it wants to go is not on this branch: it stays where it is
	}
	d.begin("revert")
	d.entries = append(d.entries, session.Head{To: wish.To, Reason: "revert"})
	d.path = before{d.path, wish.To}
	d.add(session.Message{Message: llm.UserText(lesson(wish)), Source: session.FromRevert})
	return d.look(ctx)
}

// onPath reports whether an entry is on a path.
func onPath(ctx context.Context, p session.Path, id session.ID) (bool, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil || e.ID == id {
			return err == nil, err
		}
	}
	return false, nil
}

// How a lesson begins, and what lessons are called by their category.
const (
	lessonIntro = "<reverted>\nYou went back to this point from what you tried next. Files are as you left them.\n"

	titleLesson     = "Lesson"
	titleFinding    = "Finding"
	titleOutcome    = "Outcome"
	titleCheckpoint = "Checkpoint"
)

// lesson is what a model is told of a state that it left.
func lesson(r session.Revert) string {
	title := titleLesson
	switch r.Category {
	case "tangent":
		title = titleFinding
	case "completion":
		title = titleOutcome
	case "step":
		title = titleCheckpoint
	}
	return lessonIntro + title + ": " + disarm(r.Lesson, "</reverted") + "\n</reverted>"
}

// lessonOf is the title and the text of a message that is a lesson; both are empty of any other.
func lessonOf(m session.Message) (title, text string) {
	said, ok := strings.CutPrefix(m.Text(), lessonIntro)
	if !ok || m.Source != session.FromRevert {
		return "", ""
	}
	title, text, _ = strings.Cut(strings.TrimSuffix(said, "\n</reverted>"), ": ")
	return title, text
}

// wouldReduce finds shorter texts for results, and reports whether they bring the window down to so many tokens.
func (d *draft) wouldReduce(ctx context.Context, hard bool, enough int) (bool, error) {
	var err error
	if d.shorter, err = d.reducible(ctx, hard); err != nil || len(d.shorter) == 0 {
		return false, err
	}
	return d.estimate().Tokens-d.saved() <= enough, nil
}

// reducible is shorter texts for results, but for what is pinned.
func (d *draft) reducible(ctx context.Context, hard bool) ([]session.Reduction, error) {
	kept, err := d.kept(ctx)
	if err != nil {
		return nil, err
	}
	return d.view.Reduce(Reducing{Hard: hard, Reads: d.reads, Keep: ids(kept)}), nil
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
		d.reason, d.before = reason, d.estimate().Tokens
	}
}

// newHeader begins the epoch of a header that has changed. As all must be read anew then, everything that can be reduced is.
func (d *draft) newHeader(ctx context.Context) error {
	reason := d.view.changed(d.header)
	if reason == "" {
		return nil
	}
	d.begin(reason)
	if reason == "start" || reason == d.view.loose {
		return nil
	}
	shorter, err := d.reducible(ctx, false)
	if err != nil || len(shorter) == 0 {
		return err
	}
	d.add(session.Reduced{Messages: shorter})
	return d.look(ctx)
}

// beginEpoch adds the epoch that begins, if one does, with what the model wants out of its window. The tail behind a digest, and what a
// model goes back to, stay as they are otherwise.
func (d *draft) beginEpoch(ctx context.Context) error {
	if reason := d.view.changed(d.header); reason != "" {
		d.begin(reason)
	}
	if d.reason == "" {
		return nil
	}
	if len(d.view.cleanups) > 0 {
		kept, err := d.kept(ctx)
		if err != nil {
			return err
		}
		if given := d.view.givenUp(ids(kept)); len(given) > 0 {
			d.add(session.Reduced{Messages: given})
		}
	}
	e := d.header.epoch(d.reason)
	e.Before, e.Limit = int64(d.before), int64(d.limit)
	d.path = extended{d.path, []session.Body{e}}
	if err := d.look(ctx); err != nil {
		return err
	}
	e.Tokens = int64(d.estimate().Tokens)
	d.entries = append(d.entries, e)
	return nil
}

// ids is the entries of messages.
func ids(kept []session.Kept) []session.ID {
	var out []session.ID
	for _, k := range kept {
		out = append(out, k.Entry)
	}
	return out
}

// request ends the draft: the request, with the entry that will say what it is made of.
func (d *draft) request() *llm.Request {
	e := d.estimate()
	d.add(session.Requested{Model: d.header.Model.Ref(), Estimate: int64(e.Tokens), Counted: int64(e.Counted), Scale: e.Scale})
	return d.header.request(d.view.Messages)
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
