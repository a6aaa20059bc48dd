package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
)

// rewrite is a hook that replaces a part of the arguments of every call.
func rewrite(name, old, by string) agent.Hook {
	return agent.Hook{Name: name, BeforeCall: func(_ context.Context, c agent.Proposed) (string, error) {
		return strings.ReplaceAll(string(c.Arguments), old, by), nil
	}}
}

// Arguments that a hook changes are validated, get their own effects, and are judged: the gate decides about what would run.
func TestHooksChangeArguments(t *testing.T) {
	onlyA := agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
		return agent.Verdict{Allow: c.Effects.Writes[0].Name == "/a", Code: "test.a", Reason: "only /a"}
	})
	hookNamed := func(names ...string) (by []session.Speaker) {
		for _, n := range names {
			by = append(by, session.Speaker{Kind: session.SpeakerHook, Name: n})
		}
		return by
	}
	tests := []struct {
		name, path string
		hooks      []agent.Hook
		outcome    session.Outcome
		text, done string
		by         []session.Speaker
	}{
		{"no change", "/a", []agent.Hook{rewrite("one", "x", "y")}, session.OutcomeOK, "changed /a", "change(/a)", nil},
		{"to one that is allowed", "/b", []agent.Hook{rewrite("one", "/b", "/a")}, session.OutcomeOK, "changed /a", "change(/a)", hookNamed("one")},
		{"to one that is denied", "/a", []agent.Hook{rewrite("one", "/a", "/b")}, session.OutcomeDenied, "only /a", "", nil},
		{"in order", "/x", []agent.Hook{rewrite("one", "/x", "/b"), rewrite("two", "/b", "/a")}, session.OutcomeOK, "changed /a", "change(/a)", hookNamed("one", "two")},
		{"to invalid ones", "/a", []agent.Hook{rewrite("one", `"/a"`, "7"), rewrite("two", "7", `"/a"`)}, session.OutcomeInvalid, "hook one changed its arguments", "", nil},
		{"to no JSON", "/a", []agent.Hook{rewrite("one", `"/a"`, "")}, session.OutcomeInvalid, "hook one changed its arguments", "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, "call change {\"path\":\""+test.path+"\"}\n---\ntext Done.", func(o *agent.Options) { o.Gate, o.Hooks = onlyA, test.hooks })
			events := b.run("go")
			hasResult(t, result(t, events), test.outcome, test.text)
			if got := b.log.String(); got != test.done {
				t.Errorf("the tool did %q, want %q", got, test.done)
			}
			started := bodies[session.CallStarted](b.journal())
			if len(started) > 0 != (test.done != "") || len(started) > 0 && !slices.Equal(started[0].ChangedBy, test.by) {
				t.Errorf("call_started = %+v, want changes by %v", started, test.by)
			}
			for _, d := range bodies[session.Decision](b.journal()) {
				if d.Verdict == "change" && (d.Speaker.Kind != session.SpeakerHook || d.By != d.Speaker.Name || d.Arguments == "") {
					t.Errorf("decision = %+v", d)
				}
				if d.Verdict == "deny" && (d.Code != "test.a" || d.Call == "") {
					t.Errorf("decision = %+v", d)
				}
			}
			checkJournal(t, b)
		})
	}
}

// After the gate changed arguments, hooks see them, and what a hook makes of them is not the word of the gate.
func TestHooksSeeWhatTheGateChanged(t *testing.T) {
	var seen []string
	gate := agent.GateFunc(func(_ context.Context, c agent.Proposed) agent.Verdict {
		seen = append(seen, fmt.Sprintf("gate %s %v", c.Arguments, c.Changed))
		if string(c.Arguments) == `{"path":"/a"}` {
			return agent.Verdict{Allow: true, By: "person", Arguments: `{"path":"/b"}`}
		}
		return agent.Verdict{Allow: true}
	})
	for _, test := range []struct {
		hook agent.Hook
		want string
		by   []session.Speaker
	}{
		{rewrite("none", "x", "x"), `gate {"path":"/a"} false, gate {"path":"/b"} true`, []session.Speaker{{Kind: session.SpeakerPerson}}},
		{
			rewrite("c", "/b", "/c"), `gate {"path":"/a"} false, gate {"path":"/c"} false`,
			[]session.Speaker{{Kind: session.SpeakerPerson}, {Kind: session.SpeakerHook, Name: "c"}},
		},
	} {
		seen = nil
		b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext Done.", func(o *agent.Options) { o.Gate, o.Hooks = gate, []agent.Hook{test.hook} })
		b.run("go")
		if got := strings.Join(seen, ", "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.hook.Name, got, test.want)
		}
		if got := bodies[session.CallStarted](b.journal())[0].ChangedBy; !slices.Equal(got, test.by) {
			t.Errorf("%s: changed by %v, want %v", test.hook.Name, got, test.by)
		}
	}
}

// titled is a tool behind another name, with a title. It changes something.
func titled() tool.Tool {
	return dispatched{tool.New("titled", "Has a title.", func(context.Context, struct{}) (tool.Effects, error) {
		return tool.Effects{Writes: []tool.Path{tool.File("/x")}}, nil
	}, func(context.Context, struct{}, tool.Report) (tool.Result, error) { return tool.TextResult("done"), nil },
		tool.WithTitle(func(struct{}) string { return "README.md:1-20" }))}
}

// codedError is an error with a code.
type codedError struct{ error }

func (codedError) Code() string { return "test.coded" }

// A call that a hook denies never reaches the gate. The journal has the hook, the code, and the name and title of the call.
func TestHookDeniesACall(t *testing.T) {
	for code, err := range map[string]error{agent.CodeHook: errors.New("not on Fridays"), "test.coded": codedError{errors.New("not on Fridays")}} {
		b := newBench(t, "call titled\n---\ntext Done.", func(o *agent.Options) {
			o.Tools = append(o.Tools, titled())
			o.Gate = agent.GateFunc(func(context.Context, agent.Proposed) agent.Verdict {
				t.Error("the gate is asked")
				return agent.Verdict{}
			})
			hook(o, agent.Hook{BeforeCall: func(context.Context, agent.Proposed) (string, error) { return "", err }})
		})
		hasResult(t, result(t, b.run("go")), session.OutcomeDenied, "not on Fridays")
		want := session.Decision{
			Call: "call_1", Verdict: "deny", By: "h0", Speaker: session.Speaker{Kind: session.SpeakerHook, Name: "h0"}, Code: code,
			Reason: "not on Fridays", As: "mcp__mail__list", Title: "README.md:1-20",
		}
		got := bodies[session.Decision](b.journal())
		if want.Call = got[0].Call; len(got) != 1 || got[0] != want {
			t.Errorf("decisions = %+v, want %+v", got, want)
		}
	}
}

// A denial by the gate has the title too, and that of ReadOnly has a code.
func TestADeniedCallHasATitle(t *testing.T) {
	b := newBench(t, "call titled\n---\ntext Done.", func(o *agent.Options) {
		o.Tools, o.Gate = append(o.Tools, titled()), agent.ReadOnly()
	})
	b.run("go")
	got := bodies[session.Decision](b.journal())
	if len(got) != 1 || got[0].Title != "README.md:1-20" || got[0].As != "mcp__mail__list" || got[0].Code != agent.CodeReadOnly {
		t.Errorf("decisions = %+v", got)
	}
}

// Hooks change results in their order, before the journal and the model see them. The journal says who did.
func TestHooksChangeResults(t *testing.T) {
	add := func(name, text string) agent.Hook {
		return agent.Hook{Name: name, AfterCall: func(_ context.Context, _ agent.Proposed, m session.Message) (session.Message, error) {
			if text != "" {
				m.Content = append(m.Content, llm.Text{Text: text + " after " + m.Text() + ". "})
			}
			m.Outcome, m.CallID, m.Role = session.OutcomeUnknown, "other", llm.RoleUser // not theirs to change
			return m, nil
		}}
	}
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext Done.", func(o *agent.Options) {
		o.Hooks = []agent.Hook{add("one", "one"), add("none", ""), add("two", "two")}
	})
	m := result(t, b.run("go"))
	hasResult(t, m, session.OutcomeOK, "seen /aone after seen /a. two after seen /aone after seen /a. .")
	if want := []session.Speaker{{Kind: session.SpeakerHook, Name: "one"}, {Kind: session.SpeakerHook, Name: "two"}}; !slices.Equal(m.ChangedBy, want) {
		t.Errorf("changed by %v", m.ChangedBy)
	}
	sent := b.client.Requests()[1].Messages
	if got := sent[len(sent)-1].Text(); got != m.Text() {
		t.Errorf("the model sees %q", got)
	}
}

// The agent bounds a result that a hook changed, and makes it valid, like the result of a tool.
func TestChangedResultsAreBounded(t *testing.T) {
	b := newBench(t, "call look {\"path\":\"/a\"}\n---\ntext Done.", func(o *agent.Options) {
		o.MaxResult = 1 << 10
		hook(o, agent.Hook{AfterCall: func(_ context.Context, _ agent.Proposed, m session.Message) (session.Message, error) {
			m.Content, m.Brief, m.Details = llm.Content{llm.Text{Text: strings.Repeat("ä\xff", 1<<12)}}, "a\nb", []byte("{")
			return m, nil
		}})
	})
	m := result(t, b.run("go"))
	if len(m.Text()) > 2<<10 || strings.Contains(m.Text(), "\xff") || strings.Contains(m.Brief, "\n") || !strings.Contains(string(m.Details), "error") {
		t.Errorf("result = %+v", m)
	}
}

// Before its end hooks continue a run, as often as the limits allow, and fifty times at most.
func TestHooksContinueARun(t *testing.T) {
	for _, test := range []struct {
		turns, asks int
		reason      session.Reason
		limit       string
		want        int // answers
	}{
		{0, 2, session.ReasonDone, "", 3},
		{3, 1000, session.ReasonLimit, "turns", 3},
		{agent.Unlimited, 1000, session.ReasonLimit, "hooks", 51},
	} {
		asked := 0
		b := clientBench(t, llmtest.Func(echo), func(o *agent.Options) {
			o.Limits.Turns = test.turns
			hook(o, agent.Hook{Name: "goal", BeforeEnd: func(_ context.Context, answer llm.Message) string {
				if asked++; asked > test.asks {
					return ""
				}
				return fmt.Sprint("not yet: ", answer.Text())
			}})
			hook(o, agent.Hook{Name: "other", BeforeEnd: func(context.Context, llm.Message) string { return "" }})
		})
		events := b.run("go")
		end := ending(t, events)
		if end.Reason != test.reason || end.Limit != test.limit || end.Turns != test.want {
			t.Errorf("%d asks: the run ended as %s %s after %d answers", test.asks, end.Reason, end.Limit, end.Turns)
		}
		for _, m := range bodies[session.Message](events)[1:] {
			if m.Role == llm.RoleUser && (m.Author() != session.Speaker{Kind: session.SpeakerHook, Name: "goal"} || m.Source != session.FromHook) {
				t.Errorf("message = %+v", m)
			}
		}
		checkJournal(t, b)
	}
}

// A message that comes while hooks think about the end is not left behind.
func TestADraftDuringBeforeEnd(t *testing.T) {
	var b *bench
	once := false
	b = clientBench(t, llmtest.Func(echo), func(o *agent.Options) {
		hook(o, agent.Hook{BeforeEnd: func(ctx context.Context, _ llm.Message) string {
			if !once {
				once = true
				queued(t, b, "steer", "later")
			}
			return ""
		}})
	})
	b.run("go")
	same(t, b.texts(), `
		user "go"
		assistant "GO"
		user steering "steer"
		assistant "STEER"
		user follow_up "later"
		assistant "LATER"`)
}

// A rerun answers the message of the person with what hooks added to it then.
func TestARerunKeepsWhatHooksAdded(t *testing.T) {
	b := newBench(t, "text Four.\n---\ntext Five.", func(o *agent.Options) {
		hook(o, agent.Hook{Prompt: func(context.Context, session.Message) (string, error) { return "Count well.", nil }})
	})
	b.run("two and two?")
	collect(t, b.Continue(t.Context(), agent.Continuation{Kind: session.ContinuesRerun}))
	same(t, b.texts(), `
		user "two and two?"
		user hook "Count well."
		assistant "Five."`)
}

// A hook refuses a summary. The window asks again when it needs one.
func TestHookRefusesACompaction(t *testing.T) {
	w := window.New(window.Options{})
	defer w.Close()
	script := strings.Repeat("call look {\"path\":\"/a\"}\ntext I look once more, and say so at some length, so that there is something to be left out.\n---\n", 20)
	refuse, reasons := true, []string{}
	b := newBench(t, script+"text Done.\n---\ntext On.", func(o *agent.Options) {
		o.Window = w
		hook(o, agent.Hook{BeforeCompaction: func(_ context.Context, reason string) error {
			if reasons = append(reasons, reason); refuse {
				return errors.New("I need every word")
			}
			return nil
		}})
	})
	b.run("go")
	for _, want := range []int{0, 1} {
		w.Compact(window.Ask{})
		if _, err := b.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(bodies[session.Summarized](b.journal())); got != want {
			t.Errorf("%d summaries, want %d", got, want)
		}
		refuse = false
	}
	if !slices.Equal(reasons, []string{"asked", "asked"}) {
		t.Errorf("the hook was asked about %q", reasons)
	}
}

func TestHooksNeedNames(t *testing.T) {
	for name, hooks := range map[string][]agent.Hook{"none": {{}}, "the same": {{Name: "a"}, {Name: "a"}}} {
		if _, err := agent.New(t.Context(), nil, agent.Options{Client: llmtest.Func(echo), Hooks: hooks}); err == nil || !strings.Contains(err.Error(), "hook") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
