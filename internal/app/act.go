package app

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

// act is work of a person that is a call of the conversation, so that the model reads about it later, and that undo reverts it by itself. No
// model gets its tool.
type act struct {
	name, title string
	run         func(ctx context.Context) (string, error) // returns what the conversation says about it
}

// acts is the act that is on; nil: none.
type acts struct{ now atomic.Pointer[act] }

// The tools of acts.
const (
	actParallel = "parallel"
	actMerge    = "merge"
)

func actNames() []string { return []string{actParallel, actMerge} }

// tools returns the tools of acts. A call without an act, such as of a model that invents the tool, fails.
func (a *acts) tools() (tools []tool.Tool) {
	for _, name := range actNames() {
		type what struct {
			What string `json:"what"`
		}
		tools = append(tools, tool.New(name, "Only people call this.", tool.Nothing,
			func(ctx context.Context, _ what, _ tool.Report) (tool.Result, error) {
				now := a.now.Swap(nil)
				if now == nil || now.name != name {
					return tool.Result{}, errors.New("only people call this")
				}
				text, err := now.run(ctx)
				return tool.TextResult(text), err
			}, tool.WithTitle(func(w what) string { return w.What })))
	}
	return tools
}

// perform runs an act to its end. While a run is on, the error is [agent.ErrBusy].
func (a *acts) perform(ctx context.Context, ag *Agent, one act) error {
	var failed error
	run, done := one.run, make(chan struct{})
	one.run = func(ctx context.Context) (text string, err error) {
		defer close(done)
		text, failed = run(ctx)
		return text, failed
	}
	arguments, err := json.Marshal(map[string]string{"what": one.title})
	if err != nil {
		return err
	}
	a.now.Store(&one)
	_, err = ag.Use(ctx, llm.ToolCall{Name: one.name, Arguments: string(arguments)})
	if a.now.Swap(nil) != nil { // it has not begun
		return err
	}
	if <-done; failed != nil {
		return failed // with its type
	}
	return err
}
