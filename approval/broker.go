package approval

import (
	"context"
	"errors"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
)

// Broker asks people questions and returns their answers. It asks one question at a time; the others wait. Questions and answers are entries of
// the session, so any process can answer ([session.Answered]), and a question outlives its process. A Broker is safe for concurrent use.
type Broker struct {
	ask     Ask
	timeout time.Duration
	turn    chan struct{} // the open question holds it
}

// Ask journals a question and waits for its answers, as [agent.Agent.Ask] does.
type Ask func(ctx context.Context, q session.Asking) ([]ask.Answer, error)

// NewBroker returns a broker that asks with ask. If no person answers within timeout, the question counts as denied; 0 means no timeout.
func NewBroker(ask Ask, timeout time.Duration) *Broker {
	return &Broker{ask: ask, timeout: timeout, turn: make(chan struct{}, 1)}
}

// ErrNobody reports that no person answered in time.
var ErrNobody = errors.New("no one answered in time")

// Ask asks a question after the earlier ones, and waits for the answers: one for each of its calls or questions. If ctx ends, Ask withdraws
// the question and returns the cause of ctx. If no person answers in time, it returns [ErrNobody].
func (b *Broker) Ask(ctx context.Context, q session.Asking) ([]ask.Answer, error) {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-b.turn }()
	if b.timeout > 0 {
		q.Until = session.Now().Add(b.timeout)
	}
	answers, err := b.ask(ctx, q)
	if errors.Is(err, agent.ErrUnanswered) {
		err = ErrNobody
	}
	return answers, err
}
