package agent_test

import (
	"context"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// The journal has the entries that are recorded as a run ends. The last event that the consumer gets is the end of the run.
func TestTheEndIsTheLast(t *testing.T) {
	var b *bench
	b = newBench(t, "text Done.", func(o *agent.Options) {
		hook(o, agent.Hook{AfterRun: func(ctx context.Context, _ session.RunEnded) {
			if err := b.Record(ctx, session.Title{Title: "late"}); err != nil {
				t.Error(err)
			}
			b.Announce(live.Notice{Text: "later"})
		}})
	})
	events := collect(t, b.Run(t.Context(), llm.UserText("go")))
	if end, ok := events[len(events)-1].Body.(session.RunEnded); !ok || end.Reason != session.ReasonDone {
		t.Errorf("the last event is %+v", events[len(events)-1].Body)
	}
	if last := b.journal(); last[len(last)-1].Body != (session.Title{Title: "late"}) {
		t.Errorf("the journal ends with %+v", last[len(last)-1].Body)
	}
}
