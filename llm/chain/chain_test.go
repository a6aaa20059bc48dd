package chain_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a model that answers its requests by a list of words, one for each; the last word holds for all that follow.
type server struct {
	model llm.Model
	mu    sync.Mutex
	words []string
	asked []*llm.Request
}

func (s *server) Model() llm.Model { return s.model }

func (s *server) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s.mu.Lock()
		s.asked = append(s.asked, req)
		word := s.words[0]
		if len(s.words) > 1 {
			s.words = s.words[1:]
		}
		s.mu.Unlock()
		fail := func(kind llm.Kind, after time.Duration, message string) {
			yield(nil, &llm.Error{Kind: kind, Model: s.model.Ref(), RetryAfter: after, Message: message})
		}
		switch word {
		case "ok":
			if yield(llm.TextDelta{Text: "yes"}, nil) {
				yield(llm.Done{Message: llm.AssistantText("yes")}, nil)
			}
		case "limits":
			if yield(llm.RateLimits{Requests: llm.Quota{Limit: 5, Remaining: 4}}, nil) {
				yield(llm.Done{Message: llm.AssistantText("yes")}, nil)
			}
		case "empty":
			yield(llm.Done{Message: llm.Message{Role: llm.RoleAssistant, Stop: llm.StopEnd}}, nil)
		case "end":
		case "hang":
			<-ctx.Done()
			yield(nil, &llm.Error{Kind: llm.KindCancelled, Err: context.Cause(ctx)})
		case "429":
			fail(llm.KindRateLimited, 0, "")
		case "429/5s":
			fail(llm.KindRateLimited, 5*time.Second, "")
		case "429/1m":
			fail(llm.KindRateLimited, time.Minute, "")
		case "429/1h":
			fail(llm.KindRateLimited, time.Hour, "")
		case "401":
			fail(llm.KindAuth, 0, "")
		case "401 of the server":
			yield(nil, &llm.Error{Kind: llm.KindAuth, Model: s.model.Ref(), Status: 401})
		case "402":
			fail(llm.KindQuota, 0, "")
		case "529":
			fail(llm.KindOverloaded, 0, "")
		case "529/1m":
			fail(llm.KindOverloaded, time.Minute, "")
		case "stall":
			fail(llm.KindStalled, 0, "")
		case "net":
			fail(llm.KindNetwork, 0, "")
		case "400":
			fail(llm.KindInvalidRequest, 0, "no such model")
		case "400 image":
			fail(llm.KindInvalidRequest, 0, "Could not process image")
		case "400 thinking":
			fail(llm.KindInvalidRequest, 0, "Invalid `signature` in `thinking` block")
		case "long":
			fail(llm.KindContextOverflow, 0, "")
		case "filter":
			fail(llm.KindRefused, 0, "")
		case "cut":
			if yield(llm.TextDelta{Text: "ye"}, nil) {
				fail(llm.KindProtocol, 0, "cut")
			}
		default:
			panic(word)
		}
	}
}

// build makes a chain from lines "model[/window] key: words".
func build(t *testing.T, script string) (*chain.Chain, map[string]*server) {
	t.Helper()
	return buildWith(t, "", script)
}

// buildWith is build with a memory in a directory.
func buildWith(t *testing.T, dir, script string) (*chain.Chain, map[string]*server) {
	t.Helper()
	servers := map[string]*server{}
	var links []chain.Link
	var last string
	for line := range strings.Lines(script) {
		head, words, _ := strings.Cut(strings.TrimSpace(line), ":")
		name, keyName, _ := strings.Cut(head, " ")
		s := &server{model: llm.Model{Provider: "p", ID: name}, words: strings.Split(strings.TrimSpace(words), ", ")}
		if id, window, ok := strings.Cut(name, "/"); ok {
			s.model.ID = id
			if _, err := fmt.Sscan(window, &s.model.Context); err != nil {
				t.Fatal(err)
			}
		}
		servers[strings.TrimSpace(s.model.ID+" "+keyName)] = s
		if last != name {
			links = append(links, chain.Link{})
			last = name
		}
		l := &links[len(links)-1]
		l.Keys = append(l.Keys, chain.Key{Name: keyName, ID: name + " " + keyName, Client: s})
	}
	return chain.New(chain.RetryPolicy{Jitter: -1}, chain.Memory{Dir: dir, Pool: "pool"}, links...), servers
}

// ask sends a request and returns a short description of the events.
func ask(ctx context.Context, c *chain.Chain, req *llm.Request) string {
	var trace []string
	for e, err := range c.Stream(ctx, req) {
		switch e := e.(type) {
		case nil:
			trace = append(trace, "error "+string(llm.AsError(err).Kind))
		case llm.TextDelta:
			trace = append(trace, e.Text)
		case llm.Waiting:
			trace = append(trace, fmt.Sprintf("wait %s %d/%d", e.Delay, e.Attempt, e.Of))
		case llm.Reset:
			trace = append(trace, "reset")
		case llm.Routed:
			trace = append(trace, strings.TrimSpace("to "+strings.TrimPrefix(e.Model, "p/")+" "+e.Key))
		case llm.RateLimits:
			trace = append(trace, fmt.Sprintf("limits %s %d", e.Key, e.Requests.Remaining))
		case llm.Done:
			trace = append(trace, "done")
		}
	}
	return strings.Join(trace, "; ")
}

func TestChain(t *testing.T) {
	for _, test := range []struct {
		name   string
		script string
		want   []string // one for each request
	}{
		{"an answer", "a: ok", []string{"yes; done"}},
		{"three times overloaded", "a: 529, 529, 529, ok", []string{"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; yes; done"}},
		{"overloaded for good", "a: 529", []string{"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; error overloaded"}},
		{"overloaded for long, and another model", "a: 529/1m, ok\nb: ok", []string{"to b; yes; done"}},
		{"overloaded for long, nothing else", "a: 529/1m, ok", []string{"wait 1m0s 2/4; yes; done"}},
		{"cut in the text", "a: cut, ok", []string{"ye; wait 1s 2/4; reset; yes; done"}},
		{"an empty answer", "a: empty, ok", []string{"wait 1s 2/4; yes; done"}},
		{"no final event", "a: end, ok", []string{"wait 1s 2/4; yes; done"}},
		{"the server says when", "a: 429/5s, ok", []string{"wait 5s 2/4; yes; done"}},
		{"the server says too late", "a: 429/1h", []string{"error rate_limited"}},
		{"limited again and again", "a: 429", []string{"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; error rate_limited"}},
		{"the next key at once", "a one: 429/5s, ok\na two: ok", []string{"to a two; yes; done", "yes; done"}},
		{"a key that is refused", "a one: 401\na two: ok", []string{"to a two; yes; done", "yes; done"}},
		{"all keys are refused", "a one: 401\na two: 401", []string{"to a two; error auth"}},
		{"the only key is refused", "a: 401, ok", []string{"error auth", "yes; done"}},
		{"credit is used up", "a: 402\nb: ok", []string{"to b; yes; done", "yes; done"}},
		{"all keys are limited, the sooner is waited for", "a one: 429/1h\na two: 429/5s, ok", []string{"to a two; wait 5s 2/4; yes; done"}},
		{"overloaded: then another key once, then another model", "a one: 529\na two: 529\nb: ok", []string{
			"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; to a two; to b; yes; done", "yes; done",
		}},
		{"unreachable: another key does not help", "a one: net\na two: ok\nb: ok", []string{
			"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; to b; yes; done",
		}},
		{"cut, and another model starts again", "a: cut\nb: ok", []string{
			"ye; wait 1s 2/4; reset; ye; wait 2s 3/4; reset; ye; wait 4s 4/4; reset; ye; reset; to b; yes; done",
		}},
		{"stalled: twice is enough where there is another", "a: stall\nb: ok", []string{"wait 1s 2/2; to b; yes; done"}},
		{"stalled, nothing else", "a: stall, ok", []string{"wait 1s 2/4; yes; done"}},
		{"the request is not accepted", "a: 400\nb: ok", []string{"to b; yes; done"}},
		{"what no key can change is not tried with another one later", "a: 400\nb one: 400\nb two: ok\nc: 400", []string{
			"to b one; to c; error invalid_request",
		}},
		{"refused by a filter", "a: filter\nb: ok", []string{"error refused"}},
		{"too long: a larger model", "a/100: long\nb/50: ok\nc/200: ok", []string{"to c; yes; done"}},
		{"too long for all", "a/100: long\nb/200: long", []string{"to b; error context_overflow"}},
		{"too long for one, the other is broken", "a/100: long\nb/200: 401", []string{"to b; error auth"}},
		{"broken, and too long for the other", "a/100: 401\nb/50: long", []string{"to b; error auth"}},
		{"what works stays", "a: net, net, net, net, ok\nb: ok, ok, 401", []string{
			"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; to b; yes; done", "yes; done", "to a; yes; done",
		}},
		{"limited, and another model: time is the better way while it is short", "a: 429, 429/5s, ok\nb: ok", []string{
			"wait 1s 2/4; wait 5s 3/4; yes; done", "yes; done",
		}},
		{"limited for long, and another model", "a: 429/1h\nb: ok", []string{"to b; yes; done"}},
		{"limited for good, and another model", "a: 429\nb: ok", []string{"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; to b; yes; done"}},
		{"limited for longer than anyone waits: the next request tries", "a: 429/1h, ok", []string{"error rate_limited", "yes; done"}},
		{"a request that begins elsewhere says so", "a: 429/1h\nb: 400, ok", []string{"to b; error invalid_request", "to b; yes; done", "yes; done"}},
		{"a larger window is not waited for where there is none", "a/100: 429/1h, long\nb/50: 429/1m, 429/1m", []string{
			"to b; wait 1m0s 2/4; wait 1m0s 3/4; wait 1m0s 4/4; error rate_limited",
		}},
		{"limits are reported with their key", "a one: limits\na two: ok", []string{"limits one 4; done"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := build(t, test.script)
				for n, want := range test.want {
					if got := ask(t.Context(), c, &llm.Request{}); got != want {
						t.Errorf("request %d:\n got %s\nwant %s", n+1, got, want)
					}
				}
			})
		})
	}
}

func TestWhatAServerRefusesIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, servers := build(t, "a: 400 image, 400 thinking, ok")
		req := &llm.Request{Messages: []llm.Message{
			{Role: llm.RoleUser, Content: llm.Content{llm.Image{MIME: "image/png", Data: []byte("x")}, llm.Document{Name: "d"}}},
			{Role: llm.RoleAssistant, Content: llm.Content{
				llm.Thinking{Text: "hm"}, llm.Text{Text: "a", Opaque: []byte("{}")}, llm.ToolCall{ID: "1", Opaque: []byte("{}")},
			}},
		}}
		if got, want := ask(t.Context(), c, req), "wait 0s 2/4; wait 0s 3/4; yes; done"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		last := servers["a"].asked[2]
		if text := last.Messages[0].Text(); !strings.Contains(text, "image left out") || !strings.Contains(text, "document left out") {
			t.Errorf("the image was not left out: %q", text)
		}
		if c := last.Messages[1].Content; len(c) != 2 || c[0].(llm.Text).Opaque != nil || c[1].(llm.ToolCall).Opaque != nil {
			t.Errorf("the thinking was not left out: %v", last.Messages[1].Content)
		}
		if len(req.Messages[0].Content) != 2 || len(req.Messages[1].Content) != 3 {
			t.Error("the caller's request was changed")
		}
		c, _ = build(t, "a: 400 image, 400 image")
		if got, want := ask(t.Context(), c, req), "wait 0s 2/4; error invalid_request"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		c, _ = build(t, "a: 400 image")
		if got, want := ask(t.Context(), c, &llm.Request{}), "error invalid_request"; got != want {
			t.Errorf("nothing to leave out: got %s, want %s", got, want)
		}
	})
}

// A chain does not send a refused image to the same server again. It sends accepted and new images.
func TestARefusedImageIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, servers := build(t, "a: ok, 400 image, ok, ok")
		req := &llm.Request{}
		for i, want := range []string{"yes; done", "wait 0s 2/4; yes; done", "yes; done"} {
			req.Messages = append(req.Messages, llm.Message{Role: llm.RoleUser, Content: llm.Content{llm.Image{MIME: "image/png", Data: []byte{byte(i)}}}})
			if got := ask(t.Context(), c, req); got != want {
				t.Errorf("request %d: got %s, want %s", i, got, want)
			}
		}
		last := servers["a"].asked[3].Messages
		for i, refused := range []bool{false, true, false} {
			if _, image := last[i].Content[0].(llm.Image); image == refused {
				t.Errorf("message %d is %v", i, last[i].Content)
			}
		}
		if _, image := req.Messages[1].Content[0].(llm.Image); !image {
			t.Error("the caller's request was changed")
		}
		c, servers = build(t, "a: 400 image, 402\nb: ok, ok") // another model has not refused it
		ask(t.Context(), c, req)
		ask(t.Context(), c, req)
		if _, image := servers["b"].asked[1].Messages[0].Content[0].(llm.Image); !image {
			t.Error("b did not get the image in the next request")
		}
	})
}

func TestTheErrorTellsOfTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := build(t, "a: 402\nb: 401")
		_, err := llm.Collect(t.Context(), c, &llm.Request{})
		if err == nil || !strings.Contains(err.Error(), "p/b: auth: (also failed: p/a: quota)") {
			t.Errorf("got %v", err)
		}
		c, _ = build(t, "a one: 402\na two: 401")
		_, err = llm.Collect(t.Context(), c, &llm.Request{})
		if err == nil || !strings.Contains(err.Error(), "p/a: auth: (also failed: p/a with one: quota)") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		for _, script := range []string{"a: hang\nb: ok", "a: 429/5s\na x: 429/5s\n", "a: 529\nb: ok"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			c, _ := build(t, script)
			start := time.Now()
			time.AfterFunc(500*time.Millisecond, func() { cancel(gone) })
			got := ask(ctx, c, &llm.Request{})
			if !strings.HasSuffix(got, "error cancelled") || time.Since(start) != 500*time.Millisecond {
				t.Errorf("%s: got %s after %s", script, got, time.Since(start))
			}
			for _, h := range c.Health() {
				if h.Cause != nil && h.Cause.Kind == llm.KindCancelled {
					t.Errorf("the key is blamed: %+v", h)
				}
			}
		}
	})
}

func TestWhatWorkedStaysForThoseWhoLeaveWithTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, servers := build(t, "a: 529\nb one: 402, ok\nb two: ok")
		for range 2 {
			for e := range c.Stream(t.Context(), &llm.Request{}) {
				if _, over := e.(llm.Done); over {
					break
				}
			}
		}
		if n := len(servers["a"].asked); n != 4 || c.Model().ID != "b" || len(servers["b two"].asked) != 2 {
			t.Errorf("the model that failed was asked %d times; now %s is asked first", n, c.Model().ID)
		}
	})
}

func TestTheConsumerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const script = "a one: cut, cut, cut, cut\na two: limits"
		all := 0
		c, _ := build(t, script)
		for range c.Stream(t.Context(), &llm.Request{}) {
			all++
		}
		for n := range all {
			c, _ := build(t, script)
			for range c.Stream(t.Context(), &llm.Request{}) {
				if n--; n < 0 {
					break
				}
			}
		}
	})
}

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := build(t, "a one: 429/5s, ok\na two: 401\na three: limits\nb: 402, ok")
		ask(t.Context(), c, &llm.Request{})
		want := []string{"p/a one cooling 5s", "p/a two refused 1m0s", "p/a three ready 0s", "p/b  ready 0s"}
		for i, h := range c.Health() {
			left := time.Duration(0)
			if !h.Until.IsZero() {
				left = time.Until(h.Until)
			}
			if got := fmt.Sprintf("%s %s %s %s", h.Model, h.Key, h.State, left); got != want[i] {
				t.Errorf("got %s, want %s", got, want[i])
			}
		}
		if l := c.Health()[2].Limits; l.Requests.Remaining != 4 {
			t.Errorf("limits %+v", l)
		}
		time.Sleep(5 * time.Second)
		if h := c.Health()[0]; h.State != chain.Ready {
			t.Errorf("after its time: %+v", h)
		}
	})
}

// A key that cools because of the request before is waited for, visibly.
func TestAKeyThatCools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, servers := build(t, "a: 429/5s, ok")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ask(ctx, c, &llm.Request{})
		if got, want := ask(t.Context(), c, &llm.Request{}), "wait 4s 1/4; yes; done"; got != want || len(servers["a"].asked) != 2 {
			t.Errorf("got %s, want %s", got, want)
		}
		c, _ = build(t, "a: 429/5s\nb: ok")
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ask(ctx, c, &llm.Request{})
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, want := ask(ctx, c, &llm.Request{}), "wait 4s 1/4; error cancelled"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// slow is a model whose answers come when they are let go.
type slow struct {
	model llm.Model
	begun chan struct{}
	gone  chan *llm.Error // how each request ends, in any order
}

func (s slow) Model() llm.Model { return s.model }

func (s slow) Stream(context.Context, *llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		s.begun <- struct{}{}
		if err := <-s.gone; err != nil {
			yield(nil, err)
			return
		}
		yield(llm.Done{Message: llm.AssistantText("yes")}, nil)
	}
}

// What one request finds out must not mislead the others.
func TestRequestsSideBySide(t *testing.T) {
	limited := &llm.Error{Kind: llm.KindRateLimited}
	begin := func(t *testing.T, n int, more ...chain.Link) (*chain.Chain, slow, []chan string) {
		s := slow{llm.Model{Provider: "p", ID: "a"}, make(chan struct{}), make(chan *llm.Error)}
		c := chain.New(chain.RetryPolicy{Jitter: -1}, chain.Memory{}, append([]chain.Link{{Keys: []chain.Key{{Client: s}}}}, more...)...)
		var all []chan string
		for range n {
			told := make(chan string, 1)
			all = append(all, told)
			go func() { told <- ask(t.Context(), c, &llm.Request{}) }()
			<-s.begun
		}
		return c, s, all
	}
	t.Run("many limits at once are one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s, all := begin(t, 8)
			for range all {
				s.gone <- limited
			}
			synctest.Wait()
			if left := time.Until(c.Health()[0].Until); left != time.Second {
				t.Errorf("the key cools for %s", left)
			}
			for range all {
				<-s.begun
				s.gone <- nil
			}
			synctest.Wait()
			for _, told := range all {
				if got := <-told; got != "wait 1s 2/4; done" {
					t.Error(got)
				}
			}
		})
	})
	t.Run("an answer to an older request lifts no limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s, all := begin(t, 2)
			time.Sleep(time.Second)
			s.gone <- &llm.Error{Kind: llm.KindRateLimited, RetryAfter: 5 * time.Second}
			synctest.Wait()
			s.gone <- nil
			synctest.Wait()
			if h := c.Health()[0]; h.State != chain.Cooling {
				t.Errorf("got %+v", h)
			}
			<-s.begun
			s.gone <- nil
			synctest.Wait()
			if h := c.Health()[0]; h.State != chain.Ready {
				t.Errorf("got %+v", h)
			}
			for _, told := range all {
				if got := <-told; !strings.HasSuffix(got, "done") {
					t.Error(got)
				}
			}
		})
	})
	t.Run("a shorter limit does not shorten a longer one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, s, all := begin(t, 3)
			s.gone <- &llm.Error{Kind: llm.KindRateLimited, RetryAfter: 5 * time.Second}
			synctest.Wait()
			s.gone <- &llm.Error{Kind: llm.KindRateLimited, RetryAfter: 2 * time.Second}
			synctest.Wait()
			s.gone <- &llm.Error{Kind: llm.KindRefused}
			synctest.Wait()
			if h := c.Health()[0]; time.Until(h.Until) != 5*time.Second || h.Cause.Kind != llm.KindRateLimited {
				t.Errorf("got %+v", h)
			}
			for range 2 {
				<-s.begun
				s.gone <- nil
			}
			for _, told := range all {
				<-told
			}
		})
	})
}

// Another model is no more than a substitute: after half an hour the preferred one is tried again, and once in each half hour from then on.
func TestThePreferredModelComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, servers := build(t, "a: net, net, net, net, net, net, net, net, ok\nb: ok")
		ask := func(want, model string) {
			t.Helper()
			if got := ask(t.Context(), c, &llm.Request{}); got != want || c.Model().ID != model {
				t.Errorf("got %s, and then %s", got, c.Model().ID)
			}
		}
		const failing = "wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; to b; yes; done"
		ask(failing, "b")
		time.Sleep(30*time.Minute - 1)
		ask("yes; done", "b")
		time.Sleep(time.Nanosecond)
		if c.Model().ID != "a" {
			t.Error("the window is made for another model than is asked")
		}
		ask(failing, "b")
		time.Sleep(10 * time.Minute)
		ask("yes; done", "b")
		time.Sleep(20 * time.Minute)
		ask("yes; done", "a")
		if n := len(servers["a"].asked); n != 9 {
			t.Errorf("a was asked %d times", n)
		}
	})
	synctest.Test(t, func(t *testing.T) { // while it cannot be asked there is no hurry
		c, _ := build(t, "a: 429/1h, ok\nb: ok")
		for after, want := range []string{"to b; yes; done", "yes; done", "yes; done"} {
			if got := ask(t.Context(), c, &llm.Request{}); got != want || c.Model().ID != []string{"b", "b", "a"}[after] {
				t.Errorf("request %d: got %s, and then %s", after+1, got, c.Model().ID)
			}
			time.Sleep(40 * time.Minute)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	c, _ := build(t, "a one: 401\na two: 402\nb: limits")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got := ask(t.Context(), c, &llm.Request{}); !strings.HasSuffix(got, "done") {
				t.Error(got)
			}
			c.Health()
		})
	}
	wg.Wait()
}

// Requests that begin while a key cools look at why, and others find out more about it then. The race detector is the judge.
func TestBeginningWhileAKeyCools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := build(t, "a: 429")
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(i/10) * time.Second)
				if got := ask(t.Context(), c, &llm.Request{}); !strings.HasSuffix(got, "error rate_limited") {
					t.Error(got)
				}
			})
		}
		wg.Wait()
	})
}
