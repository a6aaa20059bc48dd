package window

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

// draft is a request in preparation: the entries that precede it, and the view that they lead to.
type draft struct {
	path    view.Path
	header  Header
	usable  int // tokens
	limit   int // the size that the model has refused, in tokens; 0: none
	view    *View
	about   int // entries of the view
	entries []session.Body
	reason  string // why an epoch begins; empty: none does, unless the header has changed
	before  int    // estimated tokens before the first change
	shorter []session.Trim
	notices []live.Notice // for people, once the entries take effect

	counted   *View // the view of the estimate
	estimated Estimate

	pins  func(context.Context) ([]session.Verbatim, error) // nil: none
	reads []string
	kept  *[]session.Verbatim // the pinned messages; nil: not read yet
}

// pinned returns the messages that people pinned. The draft reads them before it first leaves something out.
func (d *draft) pinned(ctx context.Context) ([]session.Verbatim, error) {
	if d.kept == nil {
		var kept []session.Verbatim
		if d.pins != nil {
			var err error
			if kept, err = d.pins(ctx); err != nil {
				return nil, fmt.Errorf("cannot find the pinned messages: %w", err)
			}
		}
		d.kept = &kept
	}
	return *d.kept, nil
}

// estimate is the estimated size of the request in its present form. The draft counts each view once.
func (d *draft) estimate() Estimate {
	if d.counted != d.view {
		d.counted, d.estimated = d.view, d.view.Estimate(d.header)
	}
	return d.estimated
}

func (d *draft) look(ctx context.Context) (err error) {
	d.view, err = d.with(ctx)
	return err
}

// with is the view with further entries.
func (d *draft) with(ctx context.Context, bodies ...session.Body) (*View, error) {
	if d.view != nil {
		d.about = len(d.view.said)
	}
	return lookAbout(ctx, extended{d.path, bodies}, d.about+8)
}

// add appends entries to the draft, and to the path of its view.
func (d *draft) add(bodies ...session.Body) {
	d.entries = append(d.entries, bodies...)
	d.path = extended{d.path, bodies}
}

// revert continues from an earlier state if the model asked for it.
func (d *draft) revert(ctx context.Context) error {
	wish, ok := d.view.revertTo.Body.(session.Revert)
	if !ok {
		return nil
	}
	if there, err := onPath(ctx, d.path, wish.To); !there {
		return err // the state is not on this branch, so the model stays
	}
	d.begin("revert")
	d.entries = append(d.entries, session.Head{To: wish.To, Reason: "revert"})
	d.path = before{d.path, wish.To}
	d.add(session.Message{Message: llm.UserText(lesson(wish)), Source: session.FromRevert, Speaker: session.Speaker{Kind: session.SpeakerModel}})
	return d.look(ctx)
}

// onPath reports whether an entry is on a path.
func onPath(ctx context.Context, p view.Path, id session.ID) (bool, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil || e.ID == id {
			return err == nil, err
		}
	}
	return false, nil
}

// The beginning of a lesson, and the titles of lessons by their category.
const (
	lessonIntro = "<reverted>\nYou reverted to this point. Your later answers are gone; files are unchanged.\n"

	titleLesson     = "Lesson"
	titleFinding    = "Finding"
	titleOutcome    = "Outcome"
	titleCheckpoint = "Checkpoint"
)

// lesson is the text for the model about a state that it reverted.
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

// lessonOf is the title and the text of a lesson; both are empty for any other message.
func lessonOf(m session.Message) (title, text string) {
	if m.Source != session.FromRevert {
		return "", ""
	}
	said, ok := strings.CutPrefix(m.Text(), lessonIntro)
	if !ok {
		return "", ""
	}
	title, text, _ = strings.Cut(strings.TrimSuffix(said, "\n</reverted>"), ": ")
	return title, text
}

// wouldTrim finds shorter texts for results, and reports whether they shrink the window to this many tokens.
func (d *draft) wouldTrim(ctx context.Context, hard bool, enough int) (bool, error) {
	var err error
	if d.shorter, err = d.trimmable(ctx, hard); err != nil || len(d.shorter) == 0 {
		return false, err
	}
	shorter := make(map[session.ID]string, len(d.shorter))
	for _, r := range d.shorter {
		shorter[r.Entry] = r.Text
	}
	saved := 0
	for i, b := range d.view.Blocks {
		if text, ok := shorter[b.Entries[0]]; ok && b.Why == Said {
			saved += countMessages(d.view.Messages[i]) - countMessages(llm.UserText(text))
		}
	}
	return d.estimate().Tokens-d.view.scale(d.header.Model).Tokens(saved) <= enough, nil
}

// trimmable is shorter texts for results that are not pinned.
func (d *draft) trimmable(ctx context.Context, hard bool) ([]session.Trim, error) {
	kept, err := d.pinned(ctx)
	if err != nil {
		return nil, err
	}
	return d.view.Trim(Trimming{Hard: hard, Reads: d.reads, Keep: ids(kept)}), nil
}

// trim applies the shorter texts in a new epoch.
func (d *draft) trim(ctx context.Context) error {
	d.begin("trim")
	d.add(session.Trimmed{Messages: d.shorter})
	return d.look(ctx)
}

// begin notes why an epoch begins. The first reason counts.
func (d *draft) begin(reason string) {
	if d.reason != "" {
		return
	}
	d.reason, d.before = reason, d.estimate().Tokens
	if reason == "trim" || reason == "compaction" {
		d.addLate()
	}
}

// addLate adds the tools for a window that has been full.
func (d *draft) addLate() {
	if len(d.header.Late) > 0 {
		d.header = d.header.withLate()
		d.counted = nil
	}
}

// newHeader begins the epoch of a changed header. The provider must read everything again then, so the draft trims all old results.
func (d *draft) newHeader(ctx context.Context) error {
	reason := d.view.changed(d.header)
	if reason == "" {
		return nil
	}
	d.begin(reason)
	if reason == "start" || reason == d.view.loose {
		return nil
	}
	shorter, err := d.trimmable(ctx, false)
	if err != nil || len(shorter) == 0 {
		return err
	}
	d.add(session.Trimmed{Messages: shorter})
	return d.look(ctx)
}

// beginEpoch adds the epoch if one begins, and trims the results that the model discarded. The messages after a summary, and those before
// the state that a model reverts to, stay unchanged otherwise.
func (d *draft) beginEpoch(ctx context.Context) error {
	if reason := d.view.changed(d.header); reason != "" {
		d.begin(reason)
	}
	if d.reason == "" {
		return nil
	}
	if len(d.view.cleanups) > 0 {
		kept, err := d.pinned(ctx)
		if err != nil {
			return err
		}
		if given := d.view.discarded(ids(kept)); len(given) > 0 {
			d.add(session.Trimmed{Messages: given})
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

// ids are the entries of messages.
func ids(kept []session.Verbatim) []session.ID {
	var out []session.ID
	for _, k := range kept {
		out = append(out, k.Entry)
	}
	return out
}

// request completes the draft: the request, and the entry about its contents.
func (d *draft) request() *llm.Request {
	e := d.estimate()
	d.add(session.Requested{Model: d.header.Model.Ref(), Estimate: int64(e.Tokens), Counted: int64(e.Counted), Scale: e.Scale})
	return d.header.request(d.view.Messages)
}

// extended is a path with entries that are not written yet. They have no IDs.
type extended struct {
	view.Path
	more []session.Body
}

// Backward implements [view.Path].
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
	view.Path
	to session.ID
}

// Backward implements [view.Path].
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
