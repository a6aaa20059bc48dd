package wire

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// watch is one request under way. It ends the request if the server is silent for too long, and knows the cause of a failure.
type watch struct {
	parent context.Context // the caller's
	ctx    context.Context // the request's
	cancel context.CancelCauseFunc
	model  string
	hide   []string // secrets that must not appear in a text

	timer *time.Timer
	idle  atomic.Int64 // longest silence between bytes, as a [time.Duration]; 0: no end
	begun atomic.Bool  // the first byte has come
}

func newWatch(parent context.Context, e *Endpoint, model string) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{parent: parent, ctx: ctx, cancel: cancel, model: model, hide: secrets(e)}
	w.idle.Store(int64(limit(e.Idle, DefaultIdle)))
	first := limit(e.FirstByte, DefaultFirstByte)
	w.timer = time.AfterFunc(max(first, time.Hour), func() { // it is set below, when there is a limit at all
		silence := first
		what := "no byte of an answer came for "
		if w.begun.Load() {
			silence, what = time.Duration(w.idle.Load()), "the answer stopped: nothing came for "
		}
		cancel(&llm.Error{Kind: llm.KindStalled, Model: model, Message: what + silence.String()})
	})
	w.timer.Stop()
	if first > 0 {
		w.timer.Reset(first)
	}
	return ctx, w
}

// stop ends the request and its timer.
func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// waiting and came bracket every read. Only time spent waiting for the server counts, not time of a slow consumer.
func (w *watch) waiting() {
	if idle := w.idle.Load(); w.begun.Load() && idle > 0 {
		w.timer.Reset(time.Duration(idle))
	}
}

func (w *watch) came(n int) {
	if n > 0 {
		w.begun.Store(true)
	}
	if w.begun.Load() {
		w.timer.Stop()
	}
}

// failure is the error of a request that got no response, or whose response broke.
func (w *watch) failure(err error) *llm.Error {
	if known, ok := errors.AsType[*llm.Error](context.Cause(w.ctx)); ok {
		return known
	}
	if w.parent.Err() != nil {
		return &llm.Error{Kind: llm.KindCancelled, Model: w.model, Err: context.Cause(w.parent)}
	}
	return w.network(err)
}

// ending bounds the silence from here on.
func (w *watch) ending(silence time.Duration) {
	if idle := w.idle.Load(); idle <= 0 || int64(silence) < idle {
		w.idle.Store(int64(silence))
	}
}

// unauthorized is the error of an Authorize that failed: there is no proof of identity, or it could not be fetched.
func (w *watch) unauthorized(err error) *llm.Error {
	if known, ok := errors.AsType[*llm.Error](err); ok {
		return known
	}
	if w.ctx.Err() != nil {
		return w.failure(err)
	}
	return &llm.Error{Kind: llm.KindAuth, Model: w.model, Message: w.redact(err.Error())}
}

// minSecret is the length from which a value is hidden in texts. Shorter ones are no keys, and hiding them would blot out words.
const minSecret = 6

// secrets returns what of an endpoint must not be seen.
func secrets(e *Endpoint) []string {
	all := []string{e.Key}
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return all // no request is made
	}
	if password, ok := u.User.Password(); ok {
		all = append(all, password, url.QueryEscape(password))
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if secretName(name) {
				all = append(all, v, url.QueryEscape(v))
			}
		}
	}
	return all
}

// hideAll adds the secrets that the headers of a request carry.
func (w *watch) hideAll(r *http.Request) {
	for name, values := range r.Header {
		if !secretName(name) {
			continue
		}
		for _, v := range values {
			_, token, found := strings.Cut(v, " ") // the scheme before it, such as Bearer, is no secret
			if found {
				w.hide = append(w.hide, token)
			}
			w.hide = append(w.hide, v)
		}
	}
	slices.SortFunc(w.hide, func(a, b string) int { return len(b) - len(a) }) // one may begin with another
}

// secretName reports whether a header or a parameter of a URL carries a secret, by its name.
func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "key", "token", "secret", "cookie", "password"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// redact returns text without the secrets of the request.
func (w *watch) redact(text string) string {
	for _, s := range w.hide {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, "[hidden]")
		}
	}
	return text
}
