package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool"
)

// Calls that cannot run are answered with what is wrong, in words that a model can act on.
func TestUnusableCalls(t *testing.T) {
	tests := []struct {
		name, call string
		outcome    session.Outcome
		says       string
	}{
		{
			"unknown tool", `call fly {"to":"moon"}`, session.OutcomeInvalid,
			`there is no tool named "fly"; the tools are: broken, change, command, crash, look, nap`,
		},
		{"malformed JSON", `raw look {"path":"/a`, session.OutcomeInvalid, "look: the arguments are not valid JSON"},
		{"a required field is missing", `call look {}`, session.OutcomeInvalid, "path: missing, must be a string"},
		{"unknown field", `call look {"file_path":"/a"}`, session.OutcomeInvalid, `did you mean "path"?`},
		{"cut within the call", `truncated look {"path":"/a"}`, session.OutcomeInvalid, "cut at the output limit"},
		{"failure", `call broken`, session.OutcomeFailed, "it is broken"},
		{"panic", `call crash`, session.OutcomeFailed, "the tool panicked: on purpose"},
		{"no name", `raw "" {}`, session.OutcomeInvalid, "there is no tool named"},
		{"invalid UTF-8", "call look {\"path\":\"/\xff\"}", session.OutcomeOK, "seen /\uFFFD"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.call+"\n---\ntext I see.", nil)
			events := b.run("go")
			endsWith(t, events, session.ReasonDone, "")
			hasResult(t, result(t, events), test.outcome, test.says)
			if test.outcome == session.OutcomeInvalid && len(bodies[session.CallStarted](events)) > 0 {
				t.Error("the call was started")
			}
			checkJournal(t, b)
		})
	}
}

// Of an answer that was cut at the output limit no call runs, not even those that look complete.
func TestCallsOfACutAnswer(t *testing.T) {
	b := newBench(t, "call change {\"path\":\"/a\"}\ncall change {\"path\":\"/b\"}\nstop length\n---\ntext So.", nil)
	events := b.run("go")
	for _, m := range toolResults(events) {
		hasResult(t, m, session.OutcomeInvalid, "Make fewer or smaller calls")
	}
	if b.log.String() != "" {
		t.Errorf("tools did %s", b.log)
	}
	endsWith(t, events, session.ReasonDone, "")
}

func TestThreeUnusableTurns(t *testing.T) {
	bad := "raw look {\ncall look {}\n---\n"
	b := newBench(t, bad+bad+bad+"text never asked", nil)
	events, err := drain(b.Run(t.Context(), text("go")))
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindProtocol {
		t.Errorf("error = %v, want one of the protocol", err)
	}
	endsWith(t, events, session.ReasonError, "unusable")
	if end := ending(t, events); end.Turns != 3 || end.Error == nil {
		t.Errorf("end = %+v", end)
	}
	checkJournal(t, b)

	// A usable call resets the count.
	good := "raw look {\ncall look {\"path\":\"/a\"}\n---\n"
	b = newBench(t, bad+bad+good+bad+bad+"text Done.", nil)
	endsWith(t, b.run("go"), session.ReasonDone, "")
}

// If an answer repeats a call that only reads, the agent runs it once. If the call has effects, the agent runs both and shows a notice.
func TestRedundantCalls(t *testing.T) {
	b := newBench(t, `
		call look {"path":"/a"}
		call look { "path" : "/a" }
		call change {"path":"/b"}
		call change {"path":"/b"}
		call look {"path":"/c"}
		---
		text So.`, func(o *agent.Options) { o.Execution = agent.Sequential() })
	events := b.run("go")
	same(t, b.log.String(), "look(/a) change(/b) change(/b) look(/c)")
	again := toolResults(events)[0] // it needs no run, so it is there at once
	if again.Outcome != session.OutcomeSkipped || again.IsError || !strings.Contains(again.Text(), "the same as call 1") {
		t.Errorf("the second look: %+v", again)
	}
	notices := bodies[live.Notice](events)
	if len(notices) != 1 || !strings.Contains(notices[0].Text, "the same call of change twice") {
		t.Errorf("notices: %v", notices)
	}
	checkJournal(t, b)

	// If a call between them may have changed the file, the agent runs the second read.
	b = newBench(t, `
		call look {"path":"/a"}
		call change {"path":"/a"}
		call look {"path":"/a"}
		call look {"path":"/a"}
		---
		text So.`, nil)
	b.run("go")
	same(t, b.log.String(), "look(/a) change(/a) look(/a)")
}

// Whatever a tool returns, its result is bounded, valid text and can be kept.
func TestWhatToolsReturn(t *testing.T) {
	big := bytes.Repeat([]byte("a line of some length\n"), 100<<20/22)
	many := make(llm.Content, 100_000)
	for i := range many {
		many[i] = llm.Text{Text: "a hundred thousand short texts"}
	}
	tests := []struct {
		name    string
		result  tool.Result
		err     error
		outcome session.Outcome
		says    string
	}{
		{"nothing", tool.Result{}, nil, session.OutcomeOK, ""},
		{"100 MB", tool.TextResult(string(big)), nil, session.OutcomeOK, "bytes left out"},
		{"100 MB in an error", tool.Result{}, errors.New(string(big)), session.OutcomeFailed, "bytes left out"},
		{"many small parts", tool.Result{Content: many}, nil, session.OutcomeOK, "bytes left out"},
		{"binary data", tool.TextResult("\x7fELF\x00\x01\x02"), nil, session.OutcomeOK, "[binary output, 7 bytes, not shown]"},
		{"invalid UTF-8", tool.TextResult("caf\xe9 au lait, s'il vous plait"), nil, session.OutcomeOK, "caf\uFFFD au lait"},
		{"a nil part", tool.Result{Content: llm.Content{nil, llm.Text{Text: "rest"}}}, nil, session.OutcomeOK, "rest"},
		{"a failure without an error", tool.Result{Content: llm.Content{llm.Text{Text: "no"}}, IsError: true}, nil, session.OutcomeFailed, "no"},
		{"output and an error", tool.TextResult("so far"), errors.New("then it broke"), session.OutcomeFailed, "then it broke"},
		{"details that are no JSON", tool.Result{Details: make(chan int)}, nil, session.OutcomeOK, ""},
		{"details that panic", tool.Result{Details: panics{}}, nil, session.OutcomeFailed, "panicked: on purpose"},
		{"an error that panics", tool.Result{}, panics{}, session.OutcomeFailed, "panicked: on purpose"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			odd := does("odd", func(context.Context, tool.Report) (tool.Result, error) { return test.result, test.err })
			b := newBench(t, "call odd\n---\ntext I see.", with(odd))
			events := b.run("go")
			endsWith(t, events, session.ReasonDone, "")
			m := result(t, events)
			hasResult(t, m, test.outcome, test.says)
			if len(m.Text()) > 64<<10 || !utf8.ValidString(m.Text()) {
				t.Errorf("the result has %d bytes", len(m.Text()))
			}
			if _, _, err := session.EncodeBody(m); err != nil {
				t.Error(err)
			}
			checkJournal(t, b)
		})
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("on purpose") }
func (panics) Error() string                { panic("on purpose") }

// A long result names the call that reads the rest where it is kept, or says that it is not. A tool learns the limit.
func TestLongResultsSayWhereTheRestIs(t *testing.T) {
	for want, kept := range map[string]error{`Read them: read {"path":"/kept","offset":`: nil, "They are not kept: no space": errors.New("no space")} {
		var limit int
		long := does("long", func(ctx context.Context, _ tool.Report) (tool.Result, error) {
			limit = tool.Limit(ctx, 1<<30)
			return tool.TextResult(strings.Repeat("a line of some length\n", 10_000)), nil
		})
		b := newBench(t, "call long\n---\ntext I see.", func(o *agent.Options) {
			o.Tools = append(o.Tools, long)
			o.MaxResult = 8000
			o.Keep = func(_ context.Context, _ llm.ToolCall, text string) (string, error) {
				if len(text) != 220_000 {
					t.Errorf("it keeps %d bytes", len(text))
				}
				return "/kept", kept
			}
		})
		m := result(t, b.run("go"))
		if text := m.Text(); len(text) > 8000 || strings.Count(text, "left out") != 1 || !strings.Contains(text, want) || limit != 7000 {
			t.Errorf("limit %d, %d bytes without %q: %s", limit, len(text), want, text)
		}
	}
}

// A picture stays between the texts, and the texts have the bound together.
func TestBoundKeepsPictures(t *testing.T) {
	half := strings.Repeat("word ", 300)
	odd := does("odd", func(context.Context, tool.Report) (tool.Result, error) {
		return tool.Result{Content: llm.Content{llm.Text{Text: half}, llm.Image{MIME: "image/png"}, llm.Text{Text: half}}}, nil
	})
	b := newBench(t, "call odd\n---\ntext I see.", func(o *agent.Options) { o.Tools, o.MaxResult = []tool.Tool{odd}, 2000 })
	m := result(t, b.run("go"))
	if _, ok := m.Content[len(m.Content)-1].(llm.Image); !ok || len(m.Content) != 2 || len(m.Text()) > 2000 {
		t.Errorf("%d parts with %d bytes of text", len(m.Content), len(m.Text()))
	}
}

// Details are for people and programs: the journal has them, the model is never sent them.
func TestDetails(t *testing.T) {
	b := newBench(t, "call change {\"path\":\"/a\"}\n---\ntext I see.", nil)
	if got := string(result(t, b.run("go")).Details); got != `{"added":1}` {
		t.Errorf("details = %s", got)
	}
	sent, err := json.Marshal(b.client.Requests()[1])
	if err != nil || bytes.Contains(sent, []byte("added")) {
		t.Errorf("the model was sent the details: %s, %v", sent, err)
	}
}

// preparing is a tool with a custom Prepare.
type preparing func(ctx context.Context, arguments string) (*tool.Call, error)

func (preparing) Spec() llm.Tool {
	return llm.Tool{Name: "odd", Description: "Odd.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (p preparing) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	return p(ctx, arguments)
}

// A tool that is at fault before it runs is answered for, and brings nothing else down.
func TestToolsAtFault(t *testing.T) {
	run := func(context.Context, tool.Report) (tool.Result, error) { return tool.TextResult("ran"), nil }
	effects := tool.New("effects", "Panics early.",
		func(context.Context, struct{}) (tool.Effects, error) { panic("on purpose") },
		func(context.Context, struct{}, tool.Report) (tool.Result, error) { return tool.Result{}, nil })
	refuses := tool.New("refuses", "Refuses.",
		func(context.Context, struct{}) (tool.Effects, error) {
			return tool.Effects{}, errors.New("that path lies outside of the project")
		},
		func(context.Context, struct{}, tool.Report) (tool.Result, error) { return tool.Result{}, nil })
	tests := []struct {
		name    string
		tool    tool.Tool
		outcome session.Outcome
		says    string
	}{
		{"effects panic", effects, session.OutcomeInvalid, "the tool panicked: on purpose"},
		{"effects refuse", refuses, session.OutcomeInvalid, "outside of the project"},
		{
			"Prepare panics", preparing(func(context.Context, string) (*tool.Call, error) { panic("on purpose") }),
			session.OutcomeInvalid, "the tool panicked: on purpose",
		},
		{
			"Prepare returns nothing", preparing(func(context.Context, string) (*tool.Call, error) { return nil, nil }),
			session.OutcomeInvalid, "the tool odd is at fault",
		},
		{"no function", preparing(func(context.Context, string) (*tool.Call, error) {
			return &tool.Call{Arguments: json.RawMessage("{}")}, nil
		}), session.OutcomeInvalid, "the tool odd is at fault"},
		{"arguments that are no JSON", preparing(func(_ context.Context, arguments string) (*tool.Call, error) {
			return &tool.Call{Arguments: json.RawMessage(arguments[1:]), Run: run}, nil
		}), session.OutcomeInvalid, "the tool odd is at fault"},
		{"ends its goroutine", does("odd", func(context.Context, tool.Report) (tool.Result, error) {
			runtime.Goexit()
			return tool.Result{}, nil
		}), session.OutcomeUnknown, "ended without a result"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := "call " + test.tool.Spec().Name + "\ncall look {\"path\":\"/a\"}\n---\ntext I see."
			b := newBench(t, script, with(test.tool))
			events := b.run("go")
			endsWith(t, events, session.ReasonDone, "")
			all := toolResults(events)
			if len(all) != 2 {
				t.Fatalf("%d results", len(all))
			}
			if all[0].Tool == "look" {
				all[0], all[1] = all[1], all[0]
			}
			hasResult(t, all[0], test.outcome, test.says)
			hasResult(t, all[1], session.OutcomeOK, "seen /a")
			checkJournal(t, b)
		})
	}
}

// A tool that takes too long is cancelled. The result keeps its output so far, and the run continues.
func TestToolTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := does("slow", func(ctx context.Context, _ tool.Report) (tool.Result, error) {
			<-ctx.Done()
			return tool.TextResult("halfway"), ctx.Err()
		})
		b := newBench(t, "call slow\ncall nap {\"for\":\"2s\"}\n---\ntext I see.", func(o *agent.Options) {
			o.Tools = append(o.Tools, slow)
			o.ToolTimeout = 3 * time.Second
		})
		start := time.Now()
		b.run("go")
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("the run took %s", took)
		}
		same(t, b.outcomes(), `
			user "go"
			assistant call slow call nap
			tool slow failed "halfway" "\n\nThis call was stopped: it took longer than 3s."
			tool nap ok "slept 2s"
			assistant "I see."`)
	})
}

// The agent abandons a tool that ignores cancellation, and drops its later output.
func TestStubbornTool(t *testing.T) {
	for _, how := range []string{"timeout", "abort"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stubborn := does("stubborn", func(_ context.Context, report tool.Report) (tool.Result, error) {
					time.Sleep(time.Minute)
					report("too late")
					return tool.TextResult("too late"), nil
				})
				b := newBench(t, "call stubborn\n---\ntext On we go.\n---\ntext Next.", func(o *agent.Options) {
					o.Tools = append(o.Tools, stubborn)
					o.ToolGrace = 4 * time.Second
					if how == "timeout" {
						o.ToolTimeout = time.Second
					}
				})
				if how == "abort" {
					time.AfterFunc(time.Second, b.Abort)
				}
				start := time.Now()
				events := b.run("go")
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("the run took %s", took)
				}
				hasResult(t, result(t, events), session.OutcomeUnknown, "ignored cancellation for 4s and was abandoned")
				time.Sleep(2 * time.Minute) // it comes back
				before := len(b.journal())
				events = b.run("and then?")
				if len(toolResults(events)) > 0 || len(bodies[live.Progress](events)) > 0 {
					t.Errorf("what came late is in the next run:\n%s", trace(events))
				}
				if late := len(b.journal()) - before - len(entries(events)); late != 0 {
					t.Errorf("%d entries came late", late)
				}
				checkJournal(t, b)
			})
		})
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	store := &countingStore{Store: newBench(t, "text x", nil).store}
	look := (&callLog{}).tools()[0]
	tests := []struct {
		name string
		o    agent.Options
		says string
	}{
		{"no client", agent.Options{}, "Options.Client is missing"},
		{"two tools of one name", agent.Options{Client: llmtest.Must(""), Tools: []tool.Tool{look, look}}, `two tools are named "look"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := agent.New(t.Context(), store, test.o); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("New: %v, want %q", err, test.says)
			}
			if _, err := agent.Open(t.Context(), store, "x", test.o); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Open: %v, want %q", err, test.says)
			}
		})
	}
	if store.created != 0 {
		t.Errorf("%d sessions were made for nothing", store.created)
	}
}

// countingStore counts the sessions that are made.
type countingStore struct {
	index.Store
	created int
}

func (s *countingStore) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	s.created++
	return s.Store.Create(ctx, c)
}

// Details are for people, but the journal keeps them. Therefore they are bounded too.
func TestDetailsThatAreTooLarge(t *testing.T) {
	verbose := tool.New("verbose", "Tell much.", tool.Nothing, func(context.Context, struct{}, tool.Report) (tool.Result, error) {
		return tool.Result{Content: llm.Content{llm.Text{Text: "done"}}, Details: strings.Repeat("x", 2<<20)}, nil
	})
	b := newBench(t, "call verbose\n---\ntext I see.", func(o *agent.Options) { o.Tools = []tool.Tool{verbose} })
	b.run("go")
	for _, m := range bodies[session.Message](b.journal()) {
		if m.Role == llm.RoleTool && string(m.Details) != `{"bytes":2097154,"error":"the details were too large to keep"}` {
			t.Errorf("details of %d bytes: %.80s", len(m.Details), m.Details)
		}
	}
}

// loud is a dialect in which the names of tools have a capital.
type loud struct{}

func (loud) Offer(tools []llm.Tool) []llm.Tool        { return tools }
func (loud) Answer(m llm.Message) llm.Message         { return m }
func (loud) Messages(all []llm.Message) []llm.Message { return all }
func (loud) Call(c llm.ToolCall) (llm.ToolCall, error) {
	c.Name = strings.ToLower(c.Name)
	return c, nil
}

// While an answer streams, its calls already have the names that rules and people know.
func TestStreamingCallsHaveTheNamesOfTools(t *testing.T) {
	b := newBench(t, "call LOOK {\"path\":\"/a\"}\ncall look {\"path\":\"/b\"}\n---\ntext I see.", func(o *agent.Options) {
		o.Dialect = func(llm.Model, []llm.Tool) agent.Dialect { return loud{} }
	})
	ready := bodies[live.CallReady](b.run("go"))
	if len(ready) != 2 || ready[0].Call.Name != "LOOK" || ready[0].As != "look" || ready[1].As != "" {
		t.Errorf("%+v", ready)
	}
}
