package chain_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// trace prints the events of a stream with their times, one per line.
func trace(ctx context.Context, c llm.Client, req *llm.Request) string {
	var b strings.Builder
	start := time.Now()
	for e, err := range c.Stream(ctx, req) {
		fmt.Fprintf(&b, "%v ", time.Since(start))
		switch e := e.(type) {
		case nil:
			fmt.Fprintf(&b, "error %v\n", err)
		case llm.TextDelta:
			fmt.Fprintf(&b, "text %q\n", e.Text)
		case llm.Waiting:
			fmt.Fprintf(&b, "waiting %v for %d of %d: %v\n", e.Delay, e.Attempt, e.Of, e.Cause)
		case llm.Reset:
			fmt.Fprintf(&b, "reset: %v\n", e.Cause)
		case llm.Done:
			fmt.Fprintf(&b, "done %s %q\n", e.Message.Stop, e.Message.Text())
		default:
			fmt.Fprintf(&b, "%T\n", e)
		}
	}
	return b.String()
}

func undent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(s, "\n")) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func TestRetry(t *testing.T) {
	exact := chain.RetryPolicy{Jitter: -1}
	tests := []struct {
		name   string
		policy chain.RetryPolicy
		script string
		want   string
	}{
		{"an answer goes through", exact, `
			text a`, `
			0s text "a"
			0s done end "a"`},
		{"the delays grow, then the last error counts", exact, `
			error overloaded "one"
			---
			error network "two"
			---
			error stalled "three"
			---
			error rate_limited "four"
			---
			text never`, `
			0s waiting 1s for 2 of 4: test/script: overloaded: one
			1s waiting 2s for 3 of 4: test/script: network: two
			3s waiting 4s for 4 of 4: test/script: stalled: three
			7s error test/script: rate limited: four`},
		{"the delay has a limit", chain.RetryPolicy{Jitter: -1, Delay: 20 * time.Second, Factor: 3, Retries: 2}, `
			cut
			---
			cut
			---
			cut`, `
			0s waiting 20s for 2 of 3: test/script: protocol: the connection was cut before the answer's final event
			20s waiting 30s for 3 of 3: test/script: protocol: the connection was cut before the answer's final event
			50s error test/script: protocol: the connection was cut before the answer's final event`},
		{"the provider's delay wins", exact, `
			error rate_limited retry_after=90s
			---
			text a`, `
			0s waiting 1m30s for 2 of 4: test/script: rate limited
			1m30s text "a"
			1m30s done end "a"`},
		{"unless it is too long", exact, `
			error rate_limited retry_after=11m`, `
			0s error test/script: rate limited`},
		{"what was yielded is void", exact, `
			text a
			error network
			---
			error network
			---
			text b`, `
			0s text "a"
			0s waiting 1s for 2 of 4: test/script: network
			1s reset: test/script: network
			1s waiting 2s for 3 of 4: test/script: network
			3s text "b"
			3s done end "b"`},
		{"what the client has reset itself is not reset again", exact, `
			text a
			reset
			error network
			---
			text b`, `
			0s text "a"
			0s reset: <nil>
			0s waiting 1s for 2 of 4: test/script: network
			1s text "b"
			1s done end "b"`},
		{"some errors do not pass", exact, `
			error auth "no key"`, `
			0s error test/script: auth: no key`},
		{"a blank answer is an error", exact, `
			text " \n\t"
			---
			---
			text a`, `
			0s text " \n\t"
			0s waiting 1s for 2 of 4: test/script: protocol: empty answer
			1s reset: test/script: protocol: empty answer
			1s waiting 2s for 3 of 4: test/script: protocol: empty answer
			3s text "a"
			3s done end "a"`},
		{"a refusal may be empty", exact, `
			stop refused`, `
			0s done refused ""`},
		{"a call is an answer", exact, `
			call ls`, `
			0s llm.CallDelta
			0s llm.CallReady
			0s done tool_calls ""`},
		{"a stream without an end is an error", exact, `
			text a
			end
			---
			text b`, `
			0s text "a"
			0s waiting 1s for 2 of 4: test/script: protocol: the stream ended without its final event
			1s reset: test/script: protocol: the stream ended without its final event
			1s text "b"
			1s done end "b"`},
		{"no retries", chain.RetryPolicy{Retries: -1}, `
			error network`, `
			0s error test/script: network`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := trace(t.Context(), chain.Retry(llmtest.New(t, tt.script), tt.policy), &llm.Request{})
				if got != undent(tt.want) {
					t.Errorf("got:\n%swant:%s", got, tt.want)
				}
			})
		})
	}
}

func TestRetryJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 100 {
			c := chain.Retry(llmtest.New(t, "cut\n---\ntext a"), chain.RetryPolicy{})
			for e := range c.Stream(t.Context(), &llm.Request{}) {
				if w, ok := e.(llm.Waiting); ok {
					seen[w.Delay] = true
					if w.Delay < 800*time.Millisecond || w.Delay > 1200*time.Millisecond {
						t.Errorf("a delay of %v", w.Delay)
					}
				}
			}
		}
		if len(seen) < 2 {
			t.Error("chance has no part in the delay")
		}
	})
}

func TestRetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errors.New("the user left"))
		defer cancel()
		c := llmtest.New(t, "text a\ncut\n---\ntext b\ncut\n---\ntext never")
		_, err := llm.Collect(ctx, chain.Retry(c, chain.RetryPolicy{Jitter: -1}), &llm.Request{})
		e := llm.AsError(err)
		if e.Kind != llm.KindCancelled || !strings.Contains(e.Error(), "the user left; the try before failed: test/script: protocol") {
			t.Errorf("got %v", err)
		}
		if len(c.Requests()) != 2 {
			t.Errorf("%d requests", len(c.Requests()))
		}
	})
}

func TestRetryDoesNotWaitWhenTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, script := range []string{"hang", "text a"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if script == "text a" {
				cancel()
			}
			_, err := llm.Collect(ctx, chain.Retry(llmtest.New(t, script), chain.RetryPolicy{}), &llm.Request{})
			cancel()
			if llm.AsError(err).Kind != llm.KindCancelled {
				t.Errorf("got %v", err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		c := clientFunc(func(yield func(llm.Event, error) bool) { cancel(); yield(nil, &llm.Error{Kind: llm.KindNetwork}) })
		if got := trace(ctx, chain.Retry(c, chain.RetryPolicy{}), &llm.Request{}); !strings.HasPrefix(got, "0s error test/func: cancelled") {
			t.Errorf("got %s", got)
		}
	})
}

// clientFunc is a client that yields what it likes.
type clientFunc iter.Seq2[llm.Event, error]

func (c clientFunc) Model() llm.Model { return llm.Model{Provider: "test", ID: "func"} }

func (c clientFunc) Stream(context.Context, *llm.Request) iter.Seq2[llm.Event, error] {
	return iter.Seq2[llm.Event, error](c)
}

func TestRetryWrapsForeignErrors(t *testing.T) {
	foreign := errors.New("from elsewhere")
	c := clientFunc(func(yield func(llm.Event, error) bool) { yield(nil, foreign) })
	_, err := llm.Collect(t.Context(), chain.Retry(c, chain.RetryPolicy{}), &llm.Request{})
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindOther || !errors.Is(err, foreign) {
		t.Errorf("got %#v", err)
	}
}

// Leaving the iteration at any event sends nothing more and yields nothing more.
func TestLeavingRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const script = "text a\nreset\ntext b\ncut\n---\ntext c"
		for leaveAt := range 7 {
			c := llmtest.New(t, script)
			n := 0
			for range chain.Retry(c, chain.RetryPolicy{}).Stream(t.Context(), &llm.Request{}) {
				if n++; n > leaveAt {
					break
				}
			}
			if n != leaveAt+1 {
				t.Errorf("left at event %d of %d", n, leaveAt)
			}
		}
	})
}

func TestRetryModel(t *testing.T) {
	c := llmtest.New(t, "")
	if !reflect.DeepEqual(chain.Retry(c, chain.RetryPolicy{}).Model(), c.Model()) {
		t.Error("another model")
	}
}
