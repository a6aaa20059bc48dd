package window

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// Overflow makes the window smaller after the provider has refused a request as too long, whatever was known of its size.
func (w *Window) Overflow(ctx context.Context, p session.Path, h Header, cause error) ([]session.Body, error) {
	d, err := w.draft(ctx, p, h)
	if err != nil {
		return nil, err
	}
	used := d.estimate().Tokens
	d.limit = w.refused(h, used)
	d.usable = w.usable(h)
	reduced, err := d.wouldReduce(ctx, true, w.enough(d.usable))
	if err != nil {
		return nil, err
	}
	if len(d.shorter) > 0 {
		if err := d.reduce(ctx); err != nil {
			return nil, err
		}
	}
	if !reduced {
		if err := w.digestNow(ctx, &d, "overflow", ""); err != nil {
			return nil, err
		}
	}
	if d.estimate().Tokens > d.usable {
		told, _, err := d.squeeze(ctx)
		if err != nil {
			return nil, err
		}
		w.tellAll(told)
	}
	if after := d.estimate().Tokens; len(d.entries) == 0 || after >= used {
		return nil, fmt.Errorf("%w; nothing more can be taken out of the request: %s", cause, d.view.parts(h))
	}
	err = d.beginEpoch(ctx)
	return d.entries, err
}

// leastLimit is the tokens that a model is always thought to take, or no more than the half of its window: a server that refuses whatever it
// is sent must not leave a session with a window in which nothing fits, when that is over.
const leastLimit = 4000

// refused notes that a model refused a request of so many estimated tokens: its window is smaller than was known. When it refuses
// again, the estimate is far off, and half of it must do.
func (w *Window) refused(h Header, used int) (limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	limit = used * 9 / 10
	if _, again := w.limits[h.Model.Ref()]; again {
		limit = used / 2
	}
	limit = max(limit, min(leastLimit, Usable(h)/2))
	w.limits[h.Model.Ref()] = limit
	return limit
}

// remember takes from the journal what its model has refused, perhaps in another process.
func (w *Window) remember(v *View, h Header) (limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ref := h.Model.Ref()
	if e, ok := v.Epoch.Body.(session.Epoch); ok && e.Limit > 0 && e.Model.Ref() == ref && w.limits[ref] == 0 {
		w.limits[ref] = int(e.Limit)
	}
	return w.limits[ref]
}

// usable is how many tokens a request may have, as far as is known.
func (w *Window) usable(h Header) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	usable := Usable(h)
	if limit, ok := w.limits[h.Model.Ref()]; ok {
		usable = min(usable, limit)
	}
	return usable
}
