package approval

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/request"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened is an agent whose session has the questions.
func opened(t *testing.T) *agent.Agent {
	t.Helper()
	a, err := agent.New(t.Context(), memory.New(), agent.Options{Client: llmtest.Must("text Done.")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// questions yields the questions of a session as they come.
func questions(t *testing.T, a *agent.Agent) <-chan session.Asking {
	come := make(chan session.Asking, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for e := range a.Follow(ctx, 0) {
			if q, ok := e.Body.(session.Asking); ok {
				come <- q
			}
		}
	})
	t.Cleanup(func() { cancel(); all.Wait() })
	return come
}

func answer(a *agent.Agent, id string, answers ...ask.Answer) error {
	_, err := a.Request(context.Background(), session.Answered{ID: id, Answers: answers})
	return err
}

func late(err error) bool {
	_, ok := errors.AsType[*request.LateError](err)
	return ok
}

// kinds are the questions and their ends in a journal.
func kinds(t *testing.T, a *agent.Agent) (kinds []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e := range a.Follow(ctx, 0) {
		switch e.Body.(type) {
		case session.Asking, session.Asked:
			kinds = append(kinds, e.Body.Kind())
		case session.Note:
			return kinds
		}
	}
	return kinds
}

func note(t *testing.T, a *agent.Agent) {
	t.Helper()
	if err := a.Record(t.Context(), session.Note{Text: "so far"}); err != nil {
		t.Fatal(err)
	}
}

func one(call string) session.Asking { return session.Asking{Calls: []ask.Call{{Call: call}}} }

func TestAnAnswerComesBack(t *testing.T) {
	a := opened(t)
	come := questions(t, a)
	b := NewBroker(a.Ask, 0)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		q := <-come
		if open := a.Requests().Questions; len(open) != 1 || open[0].ID != q.ID {
			t.Errorf("open is %+v", open)
		}
		if err := answer(a, q.ID); err == nil || late(err) {
			t.Errorf("no answers for one call: %v", err)
		}
		if err := answer(a, q.ID, ask.Answer{Allow: true, Reason: "fine"}); err != nil {
			t.Error(err)
		}
		if err := answer(a, q.ID, ask.Answer{}); !late(err) {
			t.Errorf("a second answer: %v", err)
		}
	}()
	got, err := b.Ask(t.Context(), one("c"))
	<-answered
	if err != nil || len(got) != 1 || !got[0].Allow || got[0].Reason != "fine" {
		t.Errorf("got %+v, %v", got, err)
	}
	if open := a.Requests().Questions; len(open) > 0 {
		t.Errorf("still open: %+v", open)
	}
	note(t, a)
	if got := kinds(t, a); !slices.Equal(got, []string{"asking", "asked"}) {
		t.Errorf("people saw %v", got)
	}
}

// People see one question at a time; the next comes when it is answered.
func TestOneQuestionAtATime(t *testing.T) {
	a := opened(t)
	come := questions(t, a)
	b := NewBroker(a.Ask, 0)
	var all sync.WaitGroup
	for _, call := range []string{"a", "b", "c", "d", "e"} {
		all.Go(func() {
			if _, err := b.Ask(t.Context(), one(call)); err != nil {
				t.Error(err)
			}
		})
	}
	var want []string
	for range 5 {
		q := <-come
		if open := a.Requests().Questions; len(open) != 1 {
			t.Errorf("%d questions are open", len(open))
		}
		if err := answer(a, q.ID, ask.Answer{}); err != nil {
			t.Error(err)
		}
		want = append(want, "asking", "asked")
	}
	all.Wait()
	note(t, a)
	if got := kinds(t, a); !slices.Equal(got, want) {
		t.Errorf("people saw %v", got)
	}
}

func TestNoOneAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := opened(t)
		come := questions(t, a)
		b := NewBroker(a.Ask, time.Minute)
		start := time.Now()
		_, err := b.Ask(t.Context(), one("c"))
		if !errors.Is(err, ErrNobody) || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if q := <-come; !q.Until.Equal(start.Add(time.Minute)) {
			t.Errorf("the question says %s", q.Until)
		} else if err := answer(a, q.ID, ask.Answer{Allow: true}); !late(err) {
			t.Errorf("an answer after that: %v", err)
		}
	})
}

// A run that is cancelled takes its questions along: the one that is seen, and those that wait behind it.
func TestCancelWithdrawsQuestions(t *testing.T) {
	a := opened(t)
	come := questions(t, a)
	b := NewBroker(a.Ask, 0)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	var all sync.WaitGroup
	for _, call := range []string{"a", "b", "c"} {
		all.Go(func() {
			if _, err := b.Ask(ctx, one(call)); !errors.Is(err, gone) {
				t.Error(err)
			}
		})
	}
	<-come
	cancel(gone)
	all.Wait()
	if open := a.Requests().Questions; len(open) > 0 {
		t.Errorf("still open: %+v", open)
	}
	note(t, a)
	if got := kinds(t, a); len(got)%2 != 0 {
		t.Errorf("people saw %v", got)
	}
}
