package chain

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Stream implements [llm.Client].
func (c *Chain) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		a := &asking{chain: c, ctx: ctx, req: req, whole: req, tries: make(map[*key]int), last: make(map[*key]*llm.Error), yield: yield}
		if err := a.run(); err != nil {
			yield(nil, err)
		}
	}
}

// asking is one request on its way through the chain.
type asking struct {
	chain *Chain
	ctx   context.Context
	req   *llm.Request
	whole *llm.Request // the request of the caller
	yield func(llm.Event, error) bool

	tries   map[*key]int        // how often each was asked
	last    map[*key]*llm.Error // how each failed last, for this request: others may have had answers since
	order   []*key              // those that were asked
	asked   *key                // the last one
	since   time.Time           // when it was asked
	era     int                 // when the preferred model came back last, for this request
	most    int                 // how often it is asked at most; 0: as the policy says
	begun   bool                // the consumer has part of an answer, which is void unless the answer continues
	light   lightness           // parts left out of the request because a server refused them
	refused *link               // whose server did so last
	left    bool                // the consumer has left
}

// run asks until there is an answer or no way left. It returns nil when nothing more is to be yielded.
func (a *asking) run() *llm.Error {
	usual, k, wait, cause := a.first()
	for from := usual; ; {
		if cause != nil && !a.prepare(from, k, wait, cause) {
			if a.left {
				return nil
			}
			return a.cancelled(k, cause)
		}
		err := a.ask(k)
		if a.left || err == nil {
			return nil
		}
		if a.ctx.Err() != nil {
			return a.cancelled(k, err)
		}
		from, cause = k, err
		if k, wait = a.after(k, err); k == nil {
			return a.summary(err)
		}
	}
}

// ask sends the request to one key. The error is nil when the answer is complete or the consumer has left.
func (a *asking) ask(k *key) *llm.Error {
	if a.tries[k]++; a.tries[k] == 1 {
		a.order = append(a.order, k)
	}
	a.asked, a.since = k, time.Now()
	err := a.stream(k)
	if a.left {
		return nil
	}
	a.last[k] = err
	if err != nil && err.Kind != llm.KindCancelled {
		a.chain.failed(k, err)
	}
	return err
}

// answered remembers that the key gave an answer, so that it goes first next time unless the preferred model has come back since.
func (a *asking) answered(k *key) {
	c := a.chain
	c.mu.Lock()
	before := c.current
	k.worked(a.since)
	if !a.light.media || a.refused == k.link {
		k.link.media.note(c.seed, a.whole, a.light.media)
	}
	k.link.current = slices.Index(k.link.keys, k)
	if a.era == c.era {
		c.worked(k.link)
	}
	save := c.learned(k, before)
	c.mu.Unlock()
	save()
}

func (a *asking) stream(k *key) *llm.Error {
	a.chain.mu.Lock()
	req := k.link.media.without(a.chain.seed, a.req)
	a.chain.mu.Unlock()
	for e, err := range k.client.Stream(a.ctx, req) {
		if err != nil {
			return llm.AsError(err)
		}
		switch e := e.(type) {
		case llm.Waiting, llm.Routed, llm.Charged:
		case llm.RateLimits:
			e.Key = cmp.Or(e.Key, k.name)
			a.chain.mu.Lock()
			k.limits = e
			a.chain.mu.Unlock()
			if !a.emit(e) {
				return nil
			}
			continue
		case llm.Reset:
			a.begun = false
		case llm.Done:
			if e.Message.Empty() && e.Message.Stop != llm.StopRefused {
				if u := e.Message.Usage; u != (llm.Usage{}) {
					a.emit(llm.Charged{Model: k.link.model.Ref(), Usage: u})
				}
				return &llm.Error{Kind: llm.KindProtocol, Model: k.link.model.Ref(), RequestID: e.RequestID, Message: "empty answer"}
			}
			a.answered(k) // before it is handed out: many leave with it
			a.emit(e)
			return nil
		default:
			a.begun = true
		}
		if !a.emit(e) {
			return nil
		}
	}
	return &llm.Error{Kind: llm.KindProtocol, Model: k.link.model.Ref(), Message: "the stream ended without its final event"}
}

func (a *asking) emit(e llm.Event) bool {
	if !a.left && !a.yield(e, nil) {
		a.left = true
	}
	return !a.left
}

// prepare waits if necessary and reports it.
func (a *asking) prepare(from, to *key, wait time.Duration, cause *llm.Error) bool {
	if wait > 0 || from == to {
		of := cmp.Or(a.most, a.chain.policy.Retries+1)
		if !a.emit(llm.Waiting{Attempt: a.tries[to] + 1, Of: max(of, a.tries[to]+1), Delay: wait, Cause: cause}) {
			return false
		}
		if !sleep(a.ctx, wait) {
			return false
		}
	}
	if a.begun {
		a.begun = false
		if !a.emit(llm.Reset{Cause: cause}) {
			return false
		}
	}
	if from != to {
		return a.emit(llm.Routed{Model: to.link.model.Ref(), Key: to.name, Cause: cause})
	}
	return true
}

func (a *asking) cancelled(k *key, last *llm.Error) *llm.Error {
	if last.Kind == llm.KindCancelled {
		return last
	}
	cause := context.Cause(a.ctx)
	return &llm.Error{
		Kind: llm.KindCancelled, Model: k.link.model.Ref(), Err: cause,
		Message: fmt.Sprintf("%v; the try before failed: %v", cause, last),
	}
}

// summary is the error when there is no way left: the last one, with those of the other keys in its text. The request is too long
// only when it was for every model that was asked.
func (a *asking) summary(last *llm.Error) *llm.Error {
	reported := a.asked
	if last.Kind == llm.KindContextOverflow {
		for _, k := range a.order {
			if a.last[k].Kind != llm.KindContextOverflow {
				reported = k
			}
		}
	}
	var others []string
	for _, k := range a.order {
		if k != reported {
			others = append(others, k.title()+": "+strings.ReplaceAll(string(a.last[k].Kind), "_", " "))
		}
	}
	chosen := *a.last[reported]
	if len(others) > 0 {
		chosen.Message = strings.TrimSpace(fmt.Sprintf("%s (also failed: %s)", chosen.Message, strings.Join(others, ", ")))
	}
	return &chosen
}

// sleep reports whether it slept for d before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
