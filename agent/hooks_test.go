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
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

// logged runs a text and returns hooks and events in the order in which they came. What veto names is vetoed.
func logged(t *testing.T, script, veto string, change func(*agent.Options)) (string, *bench) {
	t.Helper()
	var lines []string
	log := func(name string) error {
		synctest.Wait() // the listener sees what came before
		lines = append(lines, "> "+name)
		if name == veto {
			return errors.New("no " + veto)
		}
		return nil
	}
	b := newBench(t, script, func(o *agent.Options) {
		hook(o, agent.Hook{
			BeforeRun:  func(_ context.Context, s session.RunStarted) error { return log("before run " + string(s.Trigger)) },
			AfterRun:   func(_ context.Context, e session.RunEnded) { _ = log("after run " + string(e.Reason)) },
			BeforeTurn: func(_ context.Context, n int) error { return log(fmt.Sprint("before turn ", n)) },
			AfterTurn: func(_ context.Context, n int, e live.TurnEnded) {
				_ = log(fmt.Sprint("after turn ", n, ", calls ", e.Calls))
			},
			Prompt:     func(_ context.Context, m session.Message) (string, error) { return "", log("prompt " + m.Text()) },
			BeforeCall: func(_ context.Context, c agent.Proposed) (string, error) { return "", log("before " + c.As) },
			AfterCall: func(_ context.Context, c agent.Proposed, m session.Message) (session.Message, error) {
				return m, log("after " + c.As + " " + string(m.Outcome))
			},
			BeforeEnd: func(_ context.Context, m llm.Message) string { _ = log("before end " + m.Text()); return "" },
		})
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
			> prompt go
			run_started user
			message user "go"
			> before turn 1
			.turn_started user
			epoch start
			requested
			.message_started
			.delta arguments "{\"path\":\"x\"}"
			.call_ready command
			.spending
			message assistant call command
			> before command
			call_started command {"path":"x"}
			.progress command "working\n"
			> after command 
			message tool command "did x"
			.turn_ended
			> after turn 1, calls 1
			> before turn 2
			.turn_started continuation
			requested
			.message_started
			.delta text "Done."
			.spending
			message assistant "Done."
			.turn_ended
			> after turn 2, calls 0
			> before end Done.
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
			> prompt go
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
		{"before command", `
			.spending
			message assistant call command
			> before command
			decision deny
			message tool command denied "This call was denied: no before command."
			.turn_ended
			> after turn 1, calls 1
			> before turn 2
			.turn_started continuation
			requested
			.message_started
			.delta text "Done."
			.spending
			message assistant "Done."
			.turn_ended
			> after turn 2, calls 0
			> before end Done.
			run_ended done
			> after run done`},
		{"prompt go", `
			> before run user
			> prompt go
			run_started user
			rejected "no prompt go"
			run_ended refused
			> after run refused`},
		{"after command ", `
			> after command 
			message tool command failed "The call ran. Its result was withheld: no after command "
			.turn_ended
			> after turn 1, calls 1
			> before turn 2
			.turn_started continuation
			requested
			.message_started
			.delta text "Done."
			.spending
			message assistant "Done."
			.turn_ended
			> after turn 2, calls 0
			> before end Done.
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
				if strings.HasPrefix(test.veto, "before turn") {
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
	synctest.Test(t, func(t *testing.T) {
		got, _ := logged(t, hooked, "", func(o *agent.Options) { o.Limits.Turns = 1 })
		if strings.Contains(got, "before turn 2") || !strings.HasSuffix(got, "> after turn 1, calls 1\nrun_ended limit turns\n> after run limit") {
			t.Errorf("got:\n%s", got)
		}
	})
}

// A rerun that a hook vetoes leaves the branch where it was.
func TestVetoedRerun(t *testing.T) {
	vetoed := false
	b := newBench(t, "text Four.", func(o *agent.Options) {
		hook(o, agent.Hook{BeforeRun: func(context.Context, session.RunStarted) error {
			if vetoed {
				return errors.New("once is enough")
			}
			return nil
		}})
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
		hook(o, agent.Hook{AfterTurn: func(ctx context.Context, turn int, _ live.TurnEnded) {
			if turn > 1 {
				return
			}
			if _, err := b.Steer(ctx, text("more")); err != nil {
				t.Error(err)
			}
			if _, err := view.Messages(ctx, b.Path()); err != nil {
				t.Error(err)
			}
		}})
	})
	b.run("go")
	same(t, b.texts(), "user \"go\"\nassistant \"GO\"\nuser steering \"more\"\nassistant \"MORE\"")
}

// A hook ends a run as done after the calls of a turn, without a further request.
func TestDoneByAHook(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"1\"}", func(o *agent.Options) {
		hook(o, agent.Hook{BeforeTurn: func(_ context.Context, turn int) error {
			if turn > 1 {
				return fmt.Errorf("enough: %w", agent.ErrDone)
			}
			return nil
		}})
	})
	events := b.run("go")
	endsWith(t, events, session.ReasonDone, "")
	if n := len(b.client.Requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
	checkJournal(t, b)
}
