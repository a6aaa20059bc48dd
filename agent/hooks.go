package agent

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Hooks are called around the steps of a run, all from the goroutine that iterates over it, never two at a time. Each is
// optional. They should be quick: the run waits for them. Those that return an error may veto: the error's text is the
// reason, told to whom it concerns.
//
// Order: BeforeRun, run started, { BeforeTurn, turn started, BeforeRequest, message …, { BeforeTool, call started,
// { BeforeProgress, progress, AfterProgress }, result, AfterTool }, turn ended, AfterTurn }, run ended, AfterRun.
type Hooks struct {
	// BeforeRun may veto the run: it is started and ended at once, as refused, without its input.
	BeforeRun func(ctx context.Context, start session.RunStarted) error
	// AfterRun sees how the run ended. It is called for every run that was started.
	AfterRun func(ctx context.Context, end session.RunEnded)

	// BeforeTurn may veto a turn: the run ends as refused.
	BeforeTurn func(ctx context.Context, turn int) error
	// AfterTurn is called for every turn that was started.
	AfterTurn func(ctx context.Context, turn int, end session.TurnEnded)

	// BeforeRequest may change the request that is about to be sent, or veto it: the run ends as refused. What it changes
	// is not in the journal.
	BeforeRequest func(ctx context.Context, req *llm.Request) error

	// BeforeTool may veto a call that the gate has allowed: the call is answered with the reason and does not start.
	BeforeTool func(ctx context.Context, call llm.ToolCall) error
	// AfterTool sees the result of every call that was started.
	AfterTool func(ctx context.Context, call llm.ToolCall, result session.Message)

	// BeforeProgress may suppress what a running tool tells, by returning false.
	BeforeProgress func(ctx context.Context, p session.Progress) bool
	// AfterProgress is called for every Progress that was not suppressed.
	AfterProgress func(ctx context.Context, p session.Progress)

	// OnError sees the error that ends a run, before the turn and the run are ended.
	OnError func(ctx context.Context, err error)
}
