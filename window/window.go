package window

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// Options configure a [Window]. The zero value is ready: it trims old results, and summarizes without a model.
type Options struct {
	Summarizer Summarizer    // writes summaries; nil: [Extract]
	Threshold  float64       // share of the usable window at which the window shrinks; default 0.8
	Manual     bool          // shrink only on overflow and on request, not at the threshold
	Cooldown   time.Duration // least time between two summaries that the threshold causes; default 3 minutes
	KeepTail   float64       // share of the usable window that stays verbatim at the end; default 0.15
	KeepTurns  int           // tokens of the person's messages that stay verbatim; default a twentieth of the usable window
	Reads      []string      // names of the tools that read one file; default "read"

	// Strategy decides before every request which part of the conversation the model sees. Nil: trims and summaries at the threshold.
	Strategy Strategy

	// Context returns the current context: context files, skills, facts about the environment. The window calls it before every request
	// with the blocks that the model has seen. It appends changed blocks to the conversation, and repeats all blocks verbatim with
	// each summary. A block without text was removed. Nil: the context never changes.
	Context func(ctx context.Context, seen []session.ContextBlock) ([]session.ContextBlock, error)

	// Files returns the current contents of files in use, with at most this many tokens together. The window adds them to a summary. In
	// names, the most recent file is last. Nil: none.
	Files func(ctx context.Context, names []string, tokens int) ([]session.ContextBlock, error)

	// Pins returns the messages of the branch that people pinned, oldest first. Nil: only messages that contain [[keep]] are pinned.
	// Pins may take a quarter of the usable window. If they take more, the window truncates the longest ones; if they are too many even
	// then, it omits the oldest ones. It announces which.
	Pins func(ctx context.Context) ([]session.Verbatim, error)

	// Spent receives the cost of a summary that takes no effect, because the Summarizer failed or no request waits for it. Nil: ignored.
	Spent func(model string, u llm.Usage)

	// Failures returns how often the Summarizer has failed in a row before, and when last. The window calls it before its first summary. Nil: never.
	Failures func() (n int, at time.Time)

	// Announce receives notices for people. Nil: ignored.
	Announce func(session.Body)
}

// Window keeps requests within the context window of the model. It limits results as they enter. When the window fills, it trims old
// results, then replaces the beginning by a summary. The Summarizer writes it in the background while the run continues; it takes
// effect before the next request. The journal keeps everything. A Window serves one session, and is safe for concurrent use.
type Window struct {
	options   Options
	limits    limits
	summaries summaries
	vain      vain
	entries   atomic.Int64 // in the last request
	trims     atomic.Bool  // a person asked for a trim
}

// Ask is a request for a summary.
type Ask struct {
	Focus string // the most important content to keep; empty: no focus
}

// New returns a window.
func New(o Options) *Window {
	if o.Summarizer == nil {
		o.Summarizer = Extract{}
	}
	if o.Threshold <= 0 {
		o.Threshold = 0.8
	}
	if o.Cooldown <= 0 {
		o.Cooldown = 3 * time.Minute
	}
	if o.KeepTail <= 0 {
		o.KeepTail = 0.15
	}
	if o.Reads == nil {
		o.Reads = []string{"read"}
	}
	if o.Announce == nil {
		o.Announce = func(session.Body) {}
	}
	w := &Window{options: o}
	w.summaries.options = &w.options
	return w
}

// Compact requests a summary before the next request.
func (w *Window) Compact(a Ask) { w.summaries.ask(a) }

// Trim lets the next request begin with a trim of old results, also if the window is not full. Cancel withdraws that.
func (w *Window) Trim() (cancel func()) {
	w.trims.Store(true)
	return func() { w.trims.Store(false) }
}

// Finish waits for the summary in the background, and reports whether there is one for the next request. The window starts no further one in the
// background. If ctx ends first, Finish returns false.
func (w *Window) Finish(ctx context.Context) bool { return w.summaries.finish(ctx) }

// Close cancels the summary in the background, if there is one, and waits until it has ended. The window starts no further one.
func (w *Window) Close() { w.summaries.close() }

// Request builds the request for the next answer, and the entries that must precede it in the journal. If the window is full, it may
// wait for a summary; it then announces this.
func (w *Window) Request(ctx context.Context, p view.Path, h Header) (*llm.Request, []session.Body, error) {
	d, err := w.draft(ctx, p, h)
	if err != nil {
		return nil, nil, err
	}
	own := func(step func(context.Context, *draft) error) func(context.Context) error {
		return func(ctx context.Context) error { return step(ctx, d) }
	}
	for _, step := range []func(context.Context) error{d.revert, own(w.refresh), d.newHeader, own(w.shrink), own(w.fit), d.beginEpoch} {
		if err := step(ctx); err != nil {
			return nil, nil, err
		}
	}
	w.announce(d)
	req := d.request()
	w.entries.Store(int64(len(d.view.said)))
	return req, d.entries, nil
}

// refresh adds the changes of the context.
func (w *Window) refresh(ctx context.Context, d *draft) error {
	if w.options.Context == nil {
		return nil
	}
	seen := d.view.Context
	now, err := w.options.Context(ctx, seen)
	if err != nil {
		return fmt.Errorf("cannot read the context: %w", err)
	}
	if news := changes(seen, now); len(news) > 0 {
		d.add(session.Context{Whole: len(seen) == 0, Blocks: news})
		return d.look(ctx)
	}
	return nil
}

// shrink makes the window smaller if it is full, or if a person asked for a summary.
func (w *Window) shrink(ctx context.Context, d *draft) error {
	s := &w.summaries
	if done := s.finished(); done != nil {
		if _, err := s.apply(ctx, d, done); err != nil {
			return err
		}
	}
	if ask := s.asked(); ask != nil {
		return s.now(ctx, d, "asked", ask.Focus)
	}
	if w.trims.Swap(false) {
		if _, err := d.wouldTrim(ctx, true, 0); err != nil || len(d.shorter) == 0 {
			return err
		}
		return d.trim(ctx)
	}
	if w.options.Strategy != nil {
		return w.follow(ctx, d)
	}
	used := d.estimate().Tokens
	fill := float64(used) / float64(max(d.usable, 1))
	if w.options.Manual || fill < w.options.Threshold {
		return nil
	}
	if trimmed, err := w.trim(ctx, d, used); trimmed || err != nil {
		return err
	}
	switch {
	case fill >= criticalAt:
		return s.now(ctx, d, "full", "")
	case s.mayBegin():
		return s.begin(ctx, d)
	}
	return nil
}

// maxSteps limits the calls of a strategy before one request.
const maxSteps = 100

// follow applies the entries of the strategy until it returns none.
func (w *Window) follow(ctx context.Context, d *draft) error {
	for range maxSteps {
		bodies, err := w.options.Strategy.Shrink(ctx, d.view, d.estimate().Tokens, d.usable)
		if err != nil {
			return fmt.Errorf("the window strategy failed: %w", err)
		}
		if len(bodies) == 0 {
			return nil
		}
		reason := "trim"
		if slices.ContainsFunc(bodies, func(b session.Body) bool { return b.Kind() == session.Summarized{}.Kind() }) {
			reason = "compaction"
		}
		d.begin(reason)
		d.add(bodies...)
		if err := d.look(ctx); err != nil {
			return err
		}
	}
	return &coded{"window.strategy", fmt.Sprintf("the window strategy %T does not end: it returned entries %d times", w.options.Strategy, maxSteps)}
}

// fit shortens the request if it is still too long. If it exceeds the context window of the model even then, no provider would accept it,
// and fit returns an error.
func (w *Window) fit(ctx context.Context, d *draft) error {
	if w.options.Manual || d.estimate().Tokens <= d.usable {
		return nil
	}
	most := cmp.Or(max(d.header.Model.Context, 0), math.MaxInt)
	if err := d.shorten(ctx, "full", most); err != nil {
		return err
	}
	if used := d.estimate().Tokens; used > most {
		return &coded{"window.too_long", fmt.Sprintf("the request would have about %d tokens, and the context window of %s has %d: %s",
			used, d.header.Model.Ref(), most, d.view.parts(d.header))}
	}
	return nil
}

// trim trims old results if that frees enough.
func (w *Window) trim(ctx context.Context, d *draft, used int) (bool, error) {
	if w.vain.tried(used, d.usable) {
		return false, nil
	}
	for _, hard := range []bool{false, true} {
		enough, err := d.wouldTrim(ctx, hard, w.enough(d.usable))
		if err != nil {
			return false, err
		}
		if enough {
			return true, d.trim(ctx)
		}
	}
	w.vain.failed(used)
	return false, nil
}

// hysteresis is the share of the usable window below the threshold that trimming must reach to justify an epoch.
const hysteresis = 0.25

// enough is the number of tokens that trimming must reach.
func (w *Window) enough(usable int) int {
	return int(max(w.options.Threshold-hysteresis, w.options.Threshold/2) * float64(usable))
}

// Room returns the space left for the results of the calls of the last answer.
func (w *Window) Room(ctx context.Context, p view.Path, h Header) (Room, error) {
	v, err := Look(ctx, p)
	if err != nil {
		return Room{}, err
	}
	w.limits.restore(v, h)
	r := v.room(h, w.limits.usable(h))
	r.Blocked = r.Level == Critical && (w.options.Manual || w.summaries.isStuck())
	return r, nil
}

// Overflow shrinks the window after the provider refused a request as too long, whatever the estimate of its size was. If nothing more
// can go, the error wraps cause.
func (w *Window) Overflow(ctx context.Context, p view.Path, h Header, cause error) ([]session.Body, error) {
	d, err := w.draft(ctx, p, h)
	if err != nil {
		return nil, err
	}
	used := d.estimate().Tokens
	d.limit, d.usable = w.limits.refused(h, used, cause)
	d.notices = append(d.notices, overflowNote(h, d.limit, cause))
	if w.options.Strategy != nil {
		if err := w.follow(ctx, d); err != nil {
			return nil, err
		}
		if len(d.entries) > 0 && d.estimate().Tokens <= d.usable {
			err = d.beginEpoch(ctx)
			return d.entries, err
		}
	}
	trimmed, err := d.wouldTrim(ctx, true, w.enough(d.usable))
	if err != nil {
		return nil, err
	}
	if len(d.shorter) > 0 {
		if err := d.trim(ctx); err != nil {
			return nil, err
		}
	}
	if !trimmed {
		if err := w.summaries.now(ctx, d, "overflow", ""); err != nil {
			return nil, err
		}
	}
	if d.estimate().Tokens > d.usable {
		if err := d.shorten(ctx, "overflow", d.usable); err != nil {
			return nil, err
		}
	}
	if after := d.estimate().Tokens; len(d.entries) == 0 || after >= used {
		return nil, fmt.Errorf("%w; the request cannot get any shorter: %s", cause, d.view.parts(h))
	}
	w.announce(d)
	err = d.beginEpoch(ctx)
	return d.entries, err
}

// announce announces which messages of people a draft shortens.
func (w *Window) announce(d *draft) {
	for _, n := range d.notices {
		w.options.Announce(n)
	}
}

// draft starts a request.
func (w *Window) draft(ctx context.Context, p view.Path, h Header) (*draft, error) {
	d := &draft{path: p, header: h, about: int(w.entries.Load()), pins: w.options.Pins, reads: w.options.Reads}
	err := d.look(ctx)
	if err == nil {
		if d.view.hasLate(h) {
			d.header = h.withLate()
		}
		d.limit = w.limits.restore(d.view, h)
		d.usable = w.limits.usable(h)
	}
	return d, err
}
