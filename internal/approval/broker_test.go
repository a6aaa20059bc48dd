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

	"github.com/tenon-agent/tenon/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wall is what people see.
type wall struct {
	mu   sync.Mutex
	seen []session.Body
	come chan session.Asking
}

func newWall() *wall { return &wall{come: make(chan session.Asking, 10)} }

func (w *wall) announce(b session.Body) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, b)
	if q, ok := b.(session.Asking); ok {
		w.come <- q
	}
}

func (w *wall) kinds() (kinds []string) {
	for _, b := range w.seen {
		kinds = append(kinds, b.Kind())
	}
	return kinds
}

func one(call string) session.Asking { return session.Asking{Calls: []session.Pending{{Call: call}}} }

func TestAnAnswerComesBack(t *testing.T) {
	w := newWall()
	b := NewBroker(w.announce, 0)
	go func() {
		q := <-w.come
		if open, ok := b.Open(); !ok || open.ID != q.ID {
			t.Errorf("open is %+v", open)
		}
		if err := b.Answer(q.ID); err == nil || errors.Is(err, ErrLate) {
			t.Errorf("no answers for one call: %v", err)
		}
		if err := b.Answer(q.ID, Answer{Allow: true, Reason: "fine"}); err != nil {
			t.Error(err)
		}
		if err := b.Answer(q.ID, Answer{}); !errors.Is(err, ErrLate) {
			t.Errorf("a second answer: %v", err)
		}
	}()
	got, err := b.Ask(t.Context(), one("c"))
	if err != nil || len(got) != 1 || !got[0].Allow || got[0].Reason != "fine" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, ok := b.Open(); ok {
		t.Error("the question is still open")
	}
	if got := w.kinds(); !slices.Equal(got, []string{"asking", "asked"}) {
		t.Errorf("people saw %v", got)
	}
}

// People see one question at a time; the next comes when it is answered.
func TestOneQuestionAtATime(t *testing.T) {
	w := newWall()
	b := NewBroker(w.announce, 0)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if _, err := b.Ask(t.Context(), one("c")); err != nil {
				t.Error(err)
			}
		})
	}
	for range 5 {
		q := <-w.come
		select {
		case <-w.come:
			t.Error("two questions are open")
		default:
		}
		if err := b.Answer(q.ID, Answer{}); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	var want []string
	for range 5 {
		want = append(want, "asking", "asked")
	}
	if got := w.kinds(); !slices.Equal(got, want) {
		t.Errorf("people saw %v", got)
	}
}

func TestNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWall()
		b := NewBroker(w.announce, time.Minute)
		start := time.Now()
		_, err := b.Ask(t.Context(), one("c"))
		if !errors.Is(err, ErrNobody) || time.Since(start) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		if q := <-w.come; !q.Until.Equal(start.Add(time.Minute)) {
			t.Errorf("the question says %s", q.Until)
		} else if err := b.Answer(q.ID, Answer{Allow: true}); !errors.Is(err, ErrLate) {
			t.Errorf("an answer after that: %v", err)
		}
	})
}

// A run that is cancelled takes its questions along: the one that is seen, and those that wait behind it.
func TestCancelWithdrawsQuestions(t *testing.T) {
	w := newWall()
	b := NewBroker(w.announce, 0)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			if _, err := b.Ask(ctx, one("c")); !errors.Is(err, gone) {
				t.Error(err)
			}
		})
	}
	<-w.come
	cancel(gone)
	all.Wait()
	if _, ok := b.Open(); ok {
		t.Error("a question is still open")
	}
	if n := len(w.kinds()); n%2 != 0 {
		t.Errorf("people saw %v", w.kinds())
	}
}
