package approval

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// Broker brings questions to people and their answers back: one question at a time, the others wait. It is safe for concurrent use.
type Broker struct {
	announce func(session.Body)
	timeout  time.Duration
	turn     chan struct{} // held by the question that people see

	mu     sync.Mutex
	now    session.Asking
	answer chan []Answer // of the question that people see; nil when there is none
}

// NewBroker returns a broker that tells of its questions with announce, see agent.Agent.Announce. A question that nobody answers within
// timeout is taken for denied; 0 means never.
func NewBroker(announce func(session.Body), timeout time.Duration) *Broker {
	return &Broker{announce: announce, timeout: timeout, turn: make(chan struct{}, 1)}
}

// Answer is what a person says to one call or one question of an [session.Asking].
type Answer struct {
	Allow     bool     // the call may run
	Grant     int      // with Allow: which of the offered grants is given too, from 1; 0: none, the call is allowed once
	Always    bool     // the grant holds for all sessions, not for this one alone
	Arguments string   // with Allow: JSON, the arguments that it is to run with instead
	Reason    string   // in words; that of a denial goes to the model
	Choices   []string // of a question: the options that were chosen, or words of the person's own
}

// Errors of a [Broker].
var (
	// ErrLate is returned for an answer to a question that is no longer open: it was answered, withdrawn, or its time was over.
	ErrLate = errors.New("approval: the question is no longer open")
	// ErrNobody says that nobody answered in time.
	ErrNobody = errors.New("nobody answered in time")
)

// Ask shows a question, after those before it, and waits for the answers: one for each of its calls or questions. When ctx ends, the
// question is withdrawn; the error is the cause of ctx, or [ErrNobody].
func (b *Broker) Ask(ctx context.Context, q session.Asking) ([]Answer, error) {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-b.turn }()

	q.ID = string(session.NewID())
	var late <-chan time.Time
	if b.timeout > 0 {
		timer := time.NewTimer(b.timeout)
		defer timer.Stop()
		late, q.Until = timer.C, session.Now().Add(b.timeout)
	}
	answer := make(chan []Answer, 1)
	b.open(q, answer)
	defer b.announce(session.Asked{ID: q.ID})
	defer b.open(session.Asking{}, nil)
	b.announce(q)
	select {
	case got := <-answer:
		return got, nil
	case <-late:
		return nil, ErrNobody
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (b *Broker) open(q session.Asking, answer chan []Answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now, b.answer = q, answer
}

// Open is the question that waits for an answer, for a face that was not there when it was asked.
func (b *Broker) Open() (session.Asking, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now, b.answer != nil
}

// Answer answers the open question, if it is the one of that ID. The first answer counts; the error for all others is [ErrLate].
func (b *Broker) Answer(id string, answers ...Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answer == nil || b.now.ID != id {
		return ErrLate
	}
	if want := len(b.now.Calls) + len(b.now.Questions); len(answers) != want {
		return fmt.Errorf("approval: %d answers for %d calls and questions", len(answers), want)
	}
	b.answer <- answers // there is room: it is taken away with the first
	b.answer = nil
	return nil
}
