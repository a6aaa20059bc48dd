package ledger_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// talk is a session that is written as an agent writes it.
type talk struct {
	t      *testing.T
	store  index.Store
	id     session.SessionID
	writer session.Writer
	header window.Header
}

var priced = llm.Model{
	Provider: "anthropic", ID: "claude-sonnet-4-5", Context: 200_000,
	Price: llm.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15},
}

func begin(t *testing.T) *talk {
	t.Helper()
	store := memory.New()
	id, err := store.Create(t.Context(), session.Created{Dir: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := store.Open(t.Context(), id, session.Lease{Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close(); _ = store.Close() })
	return &talk{t, store, id, w, window.Header{
		Model: priced, System: "You help.", Tools: []llm.Tool{{Name: "read", Description: "Read a file."}},
	}}
}

func (k *talk) append(bodies ...session.Body) []session.Event {
	k.t.Helper()
	events, err := k.writer.Append(k.t.Context(), session.Stamp{}, bodies...)
	if err != nil {
		k.t.Fatal(err)
	}
	return events
}

// ask makes a request, and an answer with that usage unless there is none.
func (k *talk) ask(question string, usage *llm.Usage, change ...func(*llm.Request)) {
	k.t.Helper()
	if question != "" {
		k.append(session.Message{Message: llm.UserText(question), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	}
	ctx, path := k.t.Context(), view.Stored(k.store, k.id, "")
	req, entries, err := window.Full{}.Request(ctx, path, k.header)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, c := range change {
		c(req)
	}
	entries = append(entries, session.Requested{Model: k.header.Model.Ref(), Estimate: 1000})
	if entries, err = window.Seal(ctx, path, entries, req); err != nil {
		k.t.Fatal(err)
	}
	k.append(entries...)
	if usage != nil {
		m := llm.AssistantText("Answer to " + question)
		m.Model, m.Usage = k.header.Model.Ref(), *usage
		k.append(session.Message{Message: m})
	}
}

func (k *talk) requests() []ledger.Request {
	k.t.Helper()
	requests, err := ledger.Requests(k.t.Context(), k.store, k.id)
	if err != nil {
		k.t.Fatal(err)
	}
	return requests
}

func TestWhyTheCacheHadLess(t *testing.T) {
	for name, c := range map[string]struct {
		play func(k *talk)
		want ledger.Miss
		lost int64
		idle time.Duration
	}{
		"all of it came from the cache": {func(k *talk) {
			k.ask("two", &llm.Usage{CacheRead: 9900, CacheWrite: 300})
		}, ledger.Hit, 0, 0},
		"an epoch began": {func(k *talk) {
			k.header.System = "You help otherwise."
			k.ask("two", &llm.Usage{CacheRead: 500, CacheWrite: 9700})
		}, ledger.NewEpoch, 9500, 0},
		"it was long ago": {func(k *talk) {
			k.ask("two", &llm.Usage{CacheWrite: 10_200})
		}, ledger.Expired, 10_000, 6 * time.Minute},
		"an epoch began when the cache was gone anyway": {func(k *talk) {
			k.header.System = "You help otherwise."
			k.ask("two", &llm.Usage{CacheWrite: 10_200})
		}, ledger.Expired, 10_000, 6 * time.Minute},
		"earlier bytes changed without an epoch": {func(k *talk) {
			k.ask("two", &llm.Usage{CacheWrite: 10_200}, func(r *llm.Request) { r.System = "changed by a hook" })
		}, ledger.Broken, 10_000, 0},
		"without a known cause": {func(k *talk) {
			k.ask("two", &llm.Usage{CacheWrite: 10_200})
		}, ledger.Unexplained, 10_000, 0},
		"the provider said nothing": {func(k *talk) {
			k.ask("two", &llm.Usage{})
		}, ledger.Unreported, 0, 0},
		"no answer came": {func(k *talk) { k.ask("two", nil) }, ledger.Hit, 0, 0},
		"the rest of the conversation is short": {func(k *talk) {
			k.header.System = "You help otherwise."
			k.ask("two", &llm.Usage{Input: 600})
		}, ledger.Small, 600, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := begin(t)
				k.ask("one", &llm.Usage{CacheWrite: 10_000})
				time.Sleep(c.idle)
				c.play(k)
				requests := k.requests()
				if len(requests) != 2 {
					t.Fatalf("%d requests, want 2", len(requests))
				}
				if first := requests[0]; !first.First || first.Miss != ledger.Hit || first.Epoch != "start" {
					t.Errorf("the first request is %+v", first)
				}
				r := requests[1]
				if r.Miss != c.want || r.Lost != c.lost {
					t.Errorf("missed %d tokens by %q, want %d by %q", r.Lost, r.Miss, c.lost, c.want)
				}
				if r.Answer != "" && r.Before != 10_000 {
					t.Errorf("the request before had %d tokens, want 10000", r.Before)
				}
			})
		})
	}
}

func TestWhatIsLostHasAPrice(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{CacheWrite: 1_000_000})
	k.ask("two", &llm.Usage{CacheWrite: 1_000_000})
	k.ask("three", &llm.Usage{Input: 1_000_000})
	var total ledger.Sum
	for _, r := range k.requests() {
		total.Add(r)
	}
	tokens, cost := total.AllLost()
	if want := (3.75 - 0.3) + (3 - 0.3); tokens != 2_000_000 || cost < want-1e-9 || cost > want+1e-9 {
		t.Errorf("lost %d tokens for %v, want 2000000 for %v", tokens, cost, want)
	}
	if got := total.Lost[ledger.Unexplained].Requests; got != 2 {
		t.Errorf("%d requests missed the cache, want 2", got)
	}
}

func TestAProviderWithoutACache(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{Input: 10_000})
	k.ask("two", &llm.Usage{Input: 10_200})
	if r := k.requests()[1]; r.Miss != ledger.NoCache || r.Lost != 0 || r.Cost != 0 || r.Reusable != 10_000 {
		t.Errorf("got %+v", r)
	}
}

// After a rewind a request goes on from an earlier one on its branch, not from the last that was sent.
func TestRequestsOfOtherBranches(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{CacheWrite: 5000})
	tip, err := view.Tip(t.Context(), view.Stored(k.store, k.id, ""))
	if err != nil {
		t.Fatal(err)
	}
	k.ask("two", &llm.Usage{CacheRead: 5000, CacheWrite: 5000})
	k.append(session.Head{To: tip.ID, Reason: "undo"})
	k.ask("other", &llm.Usage{CacheRead: 5000, CacheWrite: 100})
	r := k.requests()[2]
	if r.Number != 3 || r.Before != 5000 || r.Reusable != 5000 || r.Miss != ledger.Hit {
		t.Errorf("got %+v", r)
	}
}

// The first request of a fork goes on from what it inherited.
func TestRequestsOfAFork(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{CacheWrite: 5000})
	id, err := k.store.Create(t.Context(), session.Created{Dir: "/work", From: session.Origin{Session: k.id}, Fork: true})
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.store.Open(t.Context(), id, session.Lease{Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	k.id, k.writer = id, w
	k.ask("two", &llm.Usage{CacheRead: 5000, CacheWrite: 100})
	got := k.requests()
	if len(got) != 1 {
		t.Fatalf("%d requests, want 1", len(got))
	}
	if r := got[0]; r.Number != 1 || r.First || r.Before != 5000 || r.Reusable != 5000 || r.Model != priced.Ref() {
		t.Errorf("got %+v", r)
	}
	s, err := ledger.Look(t.Context(), k.store, k.id, 1)
	if err != nil || s.Differs != "" || s.Of != 1 || len(s.Request.Messages) != 3 {
		t.Errorf("the request is %+v (%v)", s, err)
	}
}

func TestTokensOfAPartThatStayed(t *testing.T) {
	k := begin(t)
	k.ask(strings.Repeat("many words ", 2000), &llm.Usage{CacheWrite: 5000})
	k.header.Tools = append(k.header.Tools, llm.Tool{Name: "write"})
	k.ask("two", &llm.Usage{CacheWrite: 5000})
	if r := k.requests()[1]; r.Same != 1 || r.Reusable == 0 || r.Reusable > 1000 {
		t.Errorf("%d segments with %d tokens are the same, want the tool alone", r.Same, r.Reusable)
	}
}

func TestLookProvesWhatWasSent(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{Input: 10})
	k.ask("two", &llm.Usage{Input: 10}, func(r *llm.Request) { r.Messages[0] = llm.UserText("by a hook") })
	for number, want := range []struct {
		differs string
		texts   []string
		next    bool
	}{
		{"", []string{"one", "Answer to one", "two", "Answer to two"}, true},
		{"", []string{"one"}, false},
		{"message 1, of the user", []string{"one", "Answer to one", "two"}, false},
	} {
		s, err := ledger.Look(t.Context(), k.store, k.id, number)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, m := range s.Request.Messages {
			texts = append(texts, m.Text())
		}
		if s.Differs != want.differs || s.Next != want.next || strings.Join(texts, "|") != strings.Join(want.texts, "|") {
			t.Errorf("request %d: differs %q, next %v, %q", number, s.Differs, s.Next, texts)
		}
		if s.Request.System != "You help." || s.System == 0 || len(s.Tools) != 1 || s.Tools[0] == 0 || s.Blocks[0].Tokens == 0 || s.Tokens == 0 {
			t.Errorf("request %d: %+v", number, s)
		}
	}
}

func TestLookAtNoRequest(t *testing.T) {
	k := begin(t)
	_, err := ledger.Look(t.Context(), k.store, k.id, 1)
	if none, ok := errors.AsType[*ledger.NoRequestError](err); !ok || none.Of != 0 || none.Number != 1 {
		t.Errorf("got %v", err)
	}
	k.ask("one", nil)
	_, err = ledger.Look(t.Context(), k.store, k.id, 2)
	if none, ok := errors.AsType[*ledger.NoRequestError](err); !ok || none.Of != 1 {
		t.Errorf("got %v", err)
	}
	if _, err = ledger.Look(t.Context(), k.store, "nosuch", 0); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err = ledger.Requests(t.Context(), k.store, "nosuch"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestAccount(t *testing.T) {
	k := begin(t)
	before := time.Now().Add(-time.Minute)
	k.append(session.RunStarted{Run: "r1"})
	k.ask("one", &llm.Usage{CacheWrite: 10_000, Cost: 1})
	k.ask("two", &llm.Usage{CacheWrite: 10_200, Cost: 2})
	call := llm.ToolCall{ID: "c", Name: "read"}
	k.append(session.Message{Message: llm.ToolText(call, "four", false)},
		session.Message{Message: llm.ToolText(call, "no", true), Outcome: session.OutcomeFailed})
	if _, err := k.store.Annotate(t.Context(), k.id, session.Title{Title: "Named"}); err != nil {
		t.Fatal(err)
	}
	for _, trash := range []bool{false, true} {
		if trash {
			if err := errors.Join(k.writer.Close(), k.store.Delete(t.Context(), k.id)); err != nil {
				t.Fatal(err)
			}
		}
		a, err := ledger.Open(t.Context(), k.store, ledger.Query{Since: before})
		if err != nil {
			t.Fatal(err)
		}
		total, err := a.Total(t.Context())
		if err != nil || total.Requests != 2 || total.Usage.Cost != 3 || total.Lost[ledger.Unexplained].Tokens != 10_000 {
			t.Errorf("in all %+v (%v)", total, err)
		}
		for group, key := range map[index.Group]string{
			index.GroupDay: time.Now().UTC().Format(time.DateOnly), index.GroupModel: priced.Ref(),
			index.GroupSession: string(k.id), index.GroupAgent: "",
		} {
			rows, err := a.By(t.Context(), group)
			if err != nil || len(rows) != 1 || rows[0].Key != key || rows[0].Requests != 2 || rows[0].Lost[ledger.Unexplained].Requests != 1 {
				t.Errorf("by %s: %+v (%v)", group, rows, err)
			}
			if group == index.GroupSession && rows[0].Title != "Named" {
				t.Errorf("the session is named %q", rows[0].Title)
			}
		}
		rows, err := a.By(t.Context(), index.GroupTool)
		if err != nil || len(rows) != 1 || rows[0].Key != "read" || rows[0].Calls != 2 || rows[0].Failed != 1 || rows[0].Bytes != 6 {
			t.Errorf("by tool: %+v (%v)", rows, err)
		}
	}
	a, err := ledger.Open(t.Context(), k.store, ledger.Query{Until: before})
	if err != nil {
		t.Fatal(err)
	}
	if total, err := a.Total(t.Context()); err != nil || total.Requests != 0 || total.Lost != nil {
		t.Errorf("before: %+v (%v)", total, err)
	}
}

// counting counts the entries that are read.
type counting struct {
	index.Store
	entries int
	views   int // how often a branch was read
}

func (s *counting) Backward(ctx context.Context, id session.SessionID, leaf session.ID) iter.Seq2[session.Event, error] {
	s.views++
	return s.Store.Backward(ctx, id, leaf)
}

func (s *counting) Read(ctx context.Context, id session.SessionID, after int64, kinds ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range s.Store.Read(ctx, id, after, kinds...) {
			if s.entries++; !yield(e, err) {
				return
			}
		}
	}
}

// What tools returned is not read for it: a journal is mostly that.
func TestRequestsCostWhatTheyAre(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{CacheWrite: 5000})
	for range 50 {
		k.append(session.Message{Message: llm.ToolText(llm.ToolCall{ID: "c", Name: "read"}, "much", false)})
	}
	k.ask("two", nil)
	k.append(session.Message{Message: llm.UserText("did you hear me?"), Speaker: session.Speaker{Kind: session.SpeakerPerson}})
	k.ask("three", &llm.Usage{CacheRead: 5000})
	counted := &counting{Store: k.store}
	requests, err := ledger.Requests(t.Context(), counted, k.id)
	if err != nil || len(requests) != 3 {
		t.Fatalf("%d requests, want 3 (%v)", len(requests), err)
	}
	for i, answered := range []bool{true, false, true} {
		if got := requests[i].Answer != ""; got != answered {
			t.Errorf("request %d has an answer: %v, want %v", i+1, got, answered)
		}
	}
	if counted.entries > 12 { // the root, the epoch, the requests, and the messages after each
		t.Errorf("%d entries were read", counted.entries)
	}
}

// The conversation is read only for the tokens of messages that an epoch left as they were, and never for an account.
func TestEpochsCostWhatTheyKeep(t *testing.T) {
	k := begin(t)
	k.ask("one", &llm.Usage{CacheWrite: 5000})
	k.header.System = "You help otherwise."
	k.ask("two", &llm.Usage{CacheWrite: 5000})
	for _, want := range []int{0, 1} {
		counted := &counting{Store: k.store}
		requests, err := ledger.Requests(t.Context(), counted, k.id)
		if err != nil {
			t.Fatal(err)
		}
		if last := requests[len(requests)-1]; counted.views != want || last.Reusable == 0 || last.Reusable > 1000 {
			t.Errorf("the conversation was read %d times, want %d: %+v", counted.views, want, last)
		}
		if _, err := ledger.Open(t.Context(), counted, ledger.Query{}); err != nil || counted.views != want {
			t.Errorf("for an account it was read %d times (%v)", counted.views-want, err)
		}
		k.ask("three", &llm.Usage{CacheWrite: 5000}, func(r *llm.Request) { r.Messages[1] = llm.AssistantText("by a hook") })
	}
}

// A head leads to an entry that is no mark itself, also back to a branch that was left.
func TestRequestsAfterManyHeads(t *testing.T) {
	k := begin(t)
	tips := make([]session.ID, 0, 3)
	for _, words := range []string{"one", "two", "three"} {
		k.ask(words, &llm.Usage{CacheRead: 5000})
		tip, err := view.Tip(t.Context(), view.Stored(k.store, k.id, ""))
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, tip.ID)
	}
	for _, to := range []session.ID{tips[0], tips[2], k.id} {
		k.append(session.Head{To: to, Reason: "undo"})
		k.ask("more", &llm.Usage{CacheRead: 5000})
	}
	requests := k.requests()
	for i, want := range []int{0, 1, 2, 1, 3, 0} { // the request before on the branch
		r := requests[i]
		if first := want == 0; r.First != first || !first && r.Same != requests[want-1].Segments {
			t.Errorf("request %d: first %v, %d segments are the same; want those of request %d", i+1, r.First, r.Same, want)
		}
	}
}

// broken is a store of which no session can be read.
type broken struct{ index.Store }

func (broken) Read(context.Context, session.SessionID, int64, ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) { yield(session.Event{}, session.ErrCorrupt) }
}

// Who reads the list twice can compare.
func TestDamagedSessionsAreInOrder(t *testing.T) {
	store := memory.New()
	defer store.Close()
	for range 20 {
		if _, err := store.Create(t.Context(), session.Created{Dir: "/work"}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := ledger.Open(t.Context(), broken{store}, ledger.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Damaged(); len(got) != 20 || !slices.IsSorted(got) {
		t.Errorf("damaged are %v", got)
	}
}
