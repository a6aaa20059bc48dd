package agent_test

import (
	"context"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
)

// A running tool can make durable what it does, under the ID of its call, and the consumer sees it at its place.
func TestRecord(t *testing.T) {
	var b *bench
	change := tool.New("change", "Changes.", nil, func(ctx context.Context, _ struct{}, _ tool.Report) (tool.Result, error) {
		err := b.Record(ctx,
			session.FilesChanged{Call: agent.CallID(ctx), Cause: session.ByTool, Files: []session.FileChange{{Path: "/x"}}},
			session.Todo{Items: []session.TodoItem{{Text: "x", Status: "pending"}}},
			session.Cleanup{Call: "c1", Reason: "x"},
		)
		return tool.TextResult("done"), err
	})
	b = newBench(t, "call#c7 change\n---\ntext Done.", func(o *agent.Options) { o.Tools, o.Gate = []tool.Tool{change}, agent.AllowAll() })
	b.run("go")
	changes := bodies[session.FilesChanged](b.journal())
	if len(changes) != 1 || changes[0].Call != "c7" {
		t.Errorf("changes = %+v", changes)
	}
	if todos, err := view.Todos(t.Context(), b.Path()); err != nil || len(todos) != 1 {
		t.Errorf("todos = %v, %v", todos, err)
	}
	if wishes := bodies[session.Cleanup](b.journal()); len(wishes) != 1 {
		t.Errorf("cleanups = %+v", wishes)
	}
	checkJournal(t, b)
	for _, b2 := range []session.Body{nil, live.Notice{}, session.RunEnded{}, session.Message{Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerPerson}}} {
		if err := b.Record(t.Context(), b2); err == nil {
			t.Errorf("%T was recorded", b2)
		}
	}
	if id := agent.CallID(t.Context()); id != "" {
		t.Errorf("call %q outside of one", id)
	}
}
