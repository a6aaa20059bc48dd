package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
)

// logged runs a text and returns hooks and events in the order in which they came. What veto names is vetoed.
func logged(t *testing.T, script, veto string, change func(*agent.Options)) (string, *bench) {
	t.Helper()
	var lines []string
	hook := func(name string) error {
		lines = append(lines, "> "+name)
		if name == veto {
			return errors.New("no " + veto)
		}
		return nil
	}
	b := newBench(t, script, func(o *agent.Options) {
		o.Hooks = agent.Hooks{
			BeforeRun:  func(_ context.Context, s session.RunStarted) error { return hook("before run " + string(s.Trigger)) },
			AfterRun:   func(_ context.Context, e session.RunEnded) { _ = hook("after run " + string(e.Reason)) },
			BeforeTurn: func(_ context.Context, n int) error { return hook(fmt.Sprint("before turn ", n)) },
			AfterTurn: func(_ context.Context, n int, e session.TurnEnded) {
				_ = hook(fmt.Sprint("after turn ", n, ", calls ", e.Calls))
			},
			BeforeRequest: func(context.Context, *llm.Request) error { return hook("before request") },
			BeforeTool:    func(_ context.Context, c llm.ToolCall) error { return hook("before " + c.Name) },
			AfterTool: func(_ context.Context, c llm.ToolCall, m session.Message) {
				_ = hook("after " + c.Name + " " + string(m.Outcome))
			},
			BeforeProgress: func(_ context.Context, p session.Progress) bool { return hook("before progress") == nil },
			AfterProgress:  func(context.Context, session.Progress) { _ = hook("after progress") },
			OnError:        func(_ context.Context, err error) { _ = hook("error") },
		}
		if change != nil {
			change(o)
		}
	})
	for e, err := range b.Run(t.Context(), text("go")) {
		if err != nil {
			lines = append(lines, "! "+err.Error())
			break
		}
		lines = append(lines, line(e))
	}
	checkJournal(t, b)
	return strings.Join(lines, "\n"), b
}

const hooked = "call command {\"path\":\"x\"}\n---\ntext Done."

func TestHooksInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := logged(t, hooked, "", nil)
		same(t, got, `
			> before run user
			run_started user
			message user "go"
			> before turn 1
			.turn_started user
			> before request
			epoch start
			requested
			.message_started
			.delta arguments "{\"path\":\"x\"}"
			.call_ready command
			message assistant call command
			> before command
			call_started command {"path":"x"}
			> before progress
			.progress command "working\n"
			> after progress
			message tool command "did x"
			> after command 
			.turn_ended
			> after turn 1, calls 1
			> before turn 2
			.turn_started continuation
			> before request
			requested
			.message_started
			.delta text "Done."
			message assistant "Done."
			.turn_ended
			> after turn 2, calls 0
			run_ended done
			> after run done`)
	})
}

func TestVetoes(t *testing.T) {
	tests := []struct{ veto, want string }{
		{"before run user", `
			> before run user
			run_started user
			rejected "no before run user"
			run_ended refused
			> after run refused`},
		{"before turn 1", `
			> before run user
			run_started user
			message user "go"
			> before turn 1
			run_ended refused
			> after run refused`},
		{"before turn 2", `
			> after turn 1, calls 1
			> before turn 2
			run_ended refused
			> after run refused`},
		{"before request", `
			.turn_started user
			> before request
			.turn_ended
			> after turn 1, calls 0
			run_ended refused
			> after run refused`},
		{"before command", `
			message assistant call command
			> before command
			message tool command denied "This call was not run: no before command."
			.turn_ended
			> after turn 1, calls 1
			> before turn 2
			.turn_started continuation
			> before request
			requested
			.message_started
			.delta text "Done."
			message assistant "Done."
			.turn_ended
			> after turn 2, calls 0
			run_ended done
			> after run done`},
		{"before progress", `
			call_started command {"path":"x"}
			> before progress
			message tool command "did x"
			> after command 
			.turn_ended
			> after turn 1, calls 1
			> before turn 2
			.turn_started continuation
			> before request
			requested
			.message_started
			.delta text "Done."
			message assistant "Done."
			.turn_ended
			> after turn 2, calls 0
			run_ended done
			> after run done`},
	}
	for _, test := range tests {
		t.Run(test.veto, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, b := logged(t, hooked, test.veto, nil)
				if want := strings.TrimSpace(undent(test.want)); !strings.HasSuffix(got, want) {
					t.Errorf("got:\n%s\nwant at the end:\n%s", got, want)
				}
				if strings.HasPrefix(test.veto, "before turn") || test.veto == "before request" {
					last := b.journal()
					if end := last[len(last)-1].Body.(session.RunEnded); end.Message != "no "+test.veto {
						t.Errorf("the run ended with %q", end.Message)
					}
				}
			})
		})
	}
}

// A limit that is reached comes before the hook about the turn; a veto of the run before its filters have a say.
func TestLimitsComeBeforeHooks(t *testing.T) {
	got, _ := logged(t, hooked, "", func(o *agent.Options) { o.Limits.Turns = 1 })
	if strings.Contains(got, "before turn 2") || !strings.HasSuffix(got, "> after turn 1, calls 1\nrun_ended limit turns\n> after run limit") {
		t.Errorf("got:\n%s", got)
	}
}

// OnError sees the error that ends a run once, before the turn and the run end.
func TestOnError(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"of the model", "error auth \"wrong key\"", `
			> error
			.turn_ended
			> after turn 1, calls 0
			run_ended error
			> after run error
			! test/script: auth: wrong key`},
		{"of calls that cannot be used", strings.Repeat("raw look {\n---\n", 3), `
			.turn_ended
			> after turn 3, calls 1
			> error
			run_ended error
			> after run error
			! test/script: protocol: stopped because the model wrote tool calls that cannot be used, turn after turn`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _ := logged(t, test.script, "", nil)
			if want := strings.TrimSpace(undent(test.want)); !strings.HasSuffix(got, want) || strings.Count(got, "> error") != 1 {
				t.Errorf("got:\n%s\nwant at the end:\n%s", got, want)
			}
		})
	}
	got, _ := logged(t, "error refused \"not that\"", "", nil)
	if strings.Contains(got, "> error") || !strings.Contains(got, "run_ended refused") {
		t.Errorf("a refusal is told as an error:\n%s", got)
	}
}

// BeforeRequest may change what is sent. The journal does not know of it.
func TestBeforeRequestChangesTheRequest(t *testing.T) {
	b := newBench(t, "text Hello.", func(o *agent.Options) {
		o.Hooks.BeforeRequest = func(_ context.Context, req *llm.Request) error {
			req.Messages = append(req.Messages, llm.UserText("be brief"))
			return nil
		}
	})
	b.run("hi")
	if sent := b.client.Requests()[0].Messages; len(sent) != 2 || sent[1].Text() != "be brief" {
		t.Errorf("sent: %v", sent)
	}
	same(t, b.texts(), "user \"hi\"\nassistant \"Hello.\"")
}

// A rerun that a hook vetoes leaves the branch where it was.
func TestVetoedRerun(t *testing.T) {
	vetoed := false
	b := newBench(t, "text Four.", func(o *agent.Options) {
		o.Hooks.BeforeRun = func(context.Context, session.RunStarted) error {
			if vetoed {
				return errors.New("once is enough")
			}
			return nil
		}
	})
	b.run("two and two?")
	vetoed = true
	endsWith(t, collect(t, b.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesRerun})), session.ReasonRefused, "once")
	same(t, b.texts(), "user \"two and two?\"\nassistant \"Four.\"")
}

// Hooks may use the agent: they are called without a lock.
func TestHooksMayUseTheAgent(t *testing.T) {
	var b *bench
	b = clientBench(t, llmtest.Func(echo), func(o *agent.Options) {
		o.Hooks.AfterTurn = func(ctx context.Context, turn int, _ session.TurnEnded) {
			if turn > 1 {
				return
			}
			if _, err := b.Steer(ctx, text("more")); err != nil {
				t.Error(err)
			}
			if _, err := session.Messages(ctx, b.Path()); err != nil {
				t.Error(err)
			}
		}
	})
	b.run("go")
	same(t, b.texts(), "user \"go\"\nassistant \"GO\"\nuser steering \"more\"\nassistant \"MORE\"")
}
