package window

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Options is what a [Window] is made of. The zero value is ready: it reduces old results, and makes digests without a model.
type Options struct {
	Digester  Digester      // writes digests; nil: [Outline]
	Threshold float64       // share of the usable window at which it is made smaller; default 0.8
	Manual    bool          // never at a threshold: only on overflow, and when it is asked for
	Cooldown  time.Duration // least time between two digests that a threshold asks for; default 3 minutes
	KeepTail  float64       // share of the usable window that stays word for word at the end; default 0.15
	KeepTurns int           // tokens of what the person said that stay word for word; default a twentieth of the usable window
	Reads     []string      // names of the tools that read one file; default "read"

	// Place tells what holds of the place now: context files, skills, facts of the environment. It is asked before every request, with
	// what the model was told; what has changed is told at the end, and all of it again word for word when a digest takes effect.
	// Blocks that have no text are gone. Nil: what was told holds.
	Place func(ctx context.Context, told []session.ContextBlock) ([]session.ContextBlock, error)

	// Files returns the newest versions of files that were in work, in so many tokens together, when a digest takes effect. The names have
	// the newest last. Nil: none.
	Files func(ctx context.Context, names []string, tokens int) ([]session.ContextBlock, error)

	// Pins is the messages of the branch that people want kept, oldest first. Nil: none but those that say so themselves, with [[keep]].
	// A quarter of the usable window is theirs: where they have more, the longest are told in short, and people are told which.
	Pins func(ctx context.Context) ([]session.Kept, error)

	// Spent is told what a digest has cost that takes no effect, because the Digester failed in the end, or nobody waits for it any more.
	// Nil: nobody is told.
	Spent func(model string, u llm.Usage)

	// Announce tells people what happens beside the run. Nil: nobody is told.
	Announce func(session.Body)
}

// Window keeps what a model is sent within its window: results are bounded as they enter; when the window fills, old results are reduced,
// and then a digest takes the place of the beginning. It is written in the background while the run goes on, and takes effect before
// the next request. Nothing in the journal changes. It serves one session, and is safe for concurrent use.
type Window struct {
	options Options

	mu     sync.Mutex
	work   *work // the digest that is being written in the background, or waits to take effect
	failed int   // digests in a row for which the Digester was asked in vain
	stuck  bool  // the last one that was waited for made nothing smaller
	vain   int   // tokens of the window when reducing results would not have freed enough; 0: it was not tried
	closed bool
	last   time.Time      // when the last one took effect
	asked  *Ask           // what a person asked for
	limits map[string]int // of models that refused a request, in estimated tokens
}

// Ask is the wish for a digest.
type Ask struct {
	Focus string // what is to be kept above all; empty: nothing in particular
}

// New makes a window.
func New(o Options) *Window {
	if o.Digester == nil {
		o.Digester = Outline{}
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
	return &Window{options: o, limits: make(map[string]int)}
}

// Compact asks for a digest before the next request.
func (w *Window) Compact(a Ask) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.failed, w.stuck = &a, 0, false
}

// Close ends the digest that is being written in the background, if there is one, and waits for its end. None is begun there any more.
func (w *Window) Close() {
	w.mu.Lock()
	work := w.work
	w.work, w.closed = nil, true
	w.mu.Unlock()
	if work != nil {
		w.giveUp(work)
	}
}

// Request makes the request for the next answer. When the window is full it may wait for a digest, and say so.
func (w *Window) Request(ctx context.Context, p session.Path, h Header) (*llm.Request, []session.Body, error) {
	d, err := w.draft(ctx, p, h)
	if err != nil {
		return nil, nil, err
	}
	if err := d.goBack(ctx); err != nil {
		return nil, nil, err
	}
	if err := w.tell(ctx, &d); err != nil {
		return nil, nil, err
	}
	if err := d.newHeader(ctx); err != nil {
		return nil, nil, err
	}
	if err := w.makeRoom(ctx, &d); err != nil {
		return nil, nil, err
	}
	if err := w.makeFit(ctx, &d); err != nil {
		return nil, nil, err
	}
	if err := d.beginEpoch(ctx); err != nil {
		return nil, nil, err
	}
	req := d.request()
	return req, d.entries, nil
}

// tell tells the model what has changed of the place.
func (w *Window) tell(ctx context.Context, d *draft) error {
	if w.options.Place == nil {
		return nil
	}
	told := d.view.Context
	now, err := w.options.Place(ctx, told)
	if err != nil {
		return fmt.Errorf("window: tell of the place: %w", err)
	}
	if news := changes(told, now); len(news) > 0 {
		d.add(session.Context{Whole: len(told) == 0, Blocks: news})
		return d.look(ctx)
	}
	return nil
}

// makeRoom makes the window smaller, when it is full or somebody asks for it.
func (w *Window) makeRoom(ctx context.Context, d *draft) error {
	if done := w.finished(); done != nil {
		if _, err := w.apply(ctx, d, done); err != nil {
			return err
		}
	}
	if ask := w.wanted(); ask != nil {
		return w.digestNow(ctx, d, "asked", ask.Focus)
	}
	used := d.estimate().Tokens
	fill := float64(used) / float64(max(d.usable, 1))
	if w.options.Manual || fill < w.options.Threshold {
		return nil
	}
	if reduced, err := w.reduce(ctx, d, used); reduced || err != nil {
		return err
	}
	switch {
	case fill >= criticalAt:
		return w.digestNow(ctx, d, "full", "")
	case w.mayBegin():
		return w.begin(ctx, d)
	}
	return nil
}

// makeFit tells the longest messages in short, where the request would not fit after all. It is an error when it is longer even then than the
// model can take: no provider would take it.
func (w *Window) makeFit(ctx context.Context, d *draft) error {
	used := d.estimate().Tokens
	if w.options.Manual || used <= d.usable {
		return nil
	}
	told, fits, err := d.squeeze(ctx)
	if err != nil {
		return err
	}
	w.tellAll(told)
	if used = d.estimate().Tokens; !fits && d.header.Model.Context > 0 && used > d.header.Model.Context {
		return fmt.Errorf("window: the request would have about %d tokens, and %s takes %d at most: %s",
			used, d.header.Model.Ref(), d.header.Model.Context, d.view.parts(d.header))
	}
	return nil
}

// reduce reduces old results, when that frees enough. Where it does not, it is not tried again before the window has grown a bit.
func (w *Window) reduce(ctx context.Context, d *draft, used int) (bool, error) {
	w.mu.Lock()
	tried := w.vain > 0 && w.vain <= used && used < w.vain+d.usable/50
	w.mu.Unlock()
	if tried {
		return false, nil
	}
	for _, hard := range []bool{false, true} {
		enough, err := d.wouldReduce(ctx, hard, w.enough(d.usable))
		if err != nil {
			return false, err
		}
		if enough {
			return true, d.reduce(ctx)
		}
	}
	w.mu.Lock()
	w.vain = used
	w.mu.Unlock()
	return false, nil
}

// Room is what is left for the results of the calls of the last answer.
func (w *Window) Room(ctx context.Context, p session.Path, h Header) (Room, error) {
	v, err := Look(ctx, p)
	if err != nil {
		return Room{}, err
	}
	w.remember(v, h)
	r := v.room(h, w.usable(h))
	r.Blocked = r.Level == Critical && (w.options.Manual || w.isStuck())
	return r, nil
}

// hysteresis is the share of the usable window that a reduction must free below the threshold to be worth an epoch.
const hysteresis = 0.25

// enough is the tokens to which a reduction must bring the window down.
func (w *Window) enough(usable int) int {
	return int(max(w.options.Threshold-hysteresis, w.options.Threshold/2) * float64(usable))
}

// draft begins a request.
func (w *Window) draft(ctx context.Context, p session.Path, h Header) (draft, error) {
	d := draft{path: p, header: h, pins: w.options.Pins, reads: w.options.Reads}
	err := d.look(ctx)
	if err == nil {
		d.limit = w.remember(d.view, h)
		d.usable = w.usable(h)
	}
	return d, err
}

// wanted takes what a person asked for.
func (w *Window) wanted() *Ask {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.asked
	w.asked = nil
	return a
}

func (w *Window) isStuck() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stuck
}

// maxFailures is how many digests in a row the Digester may be asked for in vain before it is not asked until somebody wants one.
const maxFailures = 2

// gaveUp reports whether the Digester is not asked any more.
func (w *Window) gaveUp() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed >= maxFailures
}

// mayBegin reports whether a digest may be begun in the background.
func (w *Window) mayBegin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.closed && w.work == nil && w.failed < maxFailures && (w.last.IsZero() || time.Since(w.last) >= w.options.Cooldown)
}

// tellAll tells people all of it.
func (w *Window) tellAll(notices []session.Notice) {
	for _, n := range notices {
		w.announce(n)
	}
}

// announce tells people.
func (w *Window) announce(b session.Body) {
	if w.options.Announce != nil {
		w.options.Announce(b)
	}
}
