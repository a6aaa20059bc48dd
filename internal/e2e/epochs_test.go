package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/anthropic"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
)

// protocols is a client of each protocol for a model.
var protocols = []struct {
	name   string
	client func(m llm.Model, e wire.Endpoint) llm.Client
}{
	{"anthropic", func(m llm.Model, e wire.Endpoint) llm.Client { return anthropic.New(m, anthropic.Options{Endpoint: e}) }},
	{"chat", func(m llm.Model, e wire.Endpoint) llm.Client {
		profile, _ := openai.ProfileOf("openai")
		return openai.NewChat(m, openai.ChatOptions{Endpoint: e, Profile: profile})
	}},
	{"responses", func(m llm.Model, e wire.Endpoint) llm.Client {
		return openai.NewResponses(m, openai.ResponsesOptions{Endpoint: e})
	}},
	{"gemini", func(m llm.Model, e wire.Endpoint) llm.Client { return google.New(m, google.Options{Endpoint: e}) }},
	{"bedrock", func(m llm.Model, e wire.Endpoint) llm.Client {
		return bedrock.New(m, bedrock.Options{Endpoint: e, Region: "us-east-1"})
	}},
}

// A session of two hundred turns with large outputs, context files that are edited, other tools and another model: within each epoch
// every request goes on from the one before, in what is sent to the provider too, and every epoch has its reason.
func TestTwoHundredTurns(t *testing.T) {
	for i, p := range protocols {
		if !sample.Takes(i, 4, len(protocols)) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := &twoHundred{t: t, store: memory.New(), turns: 200, rules: "Rule one."}
			s.server = modelserver.New(t, modelserver.Func(s.answer))
			s.client = func(id string) llm.Client {
				m := llm.Model{Provider: "p", ID: id, Context: 40_000, MaxOutput: 4000}
				return p.client(m, wire.Endpoint{BaseURL: s.server.URL, Key: "k"})
			}
			s.play()
			s.compare()
		})
	}
}

// twoHundred plays the session: a question, nine calls, an answer, and again.
type twoHundred struct {
	t      *testing.T
	store  index.Store
	server *modelserver.Server
	client func(id string) llm.Client
	turns  int
	turn   int
	rules  string // what AGENTS.md says
	id     session.SessionID
	agent  *agent.Agent
	window *window.Window
}

// answer plays the model.
func (s *twoHundred) answer(r *modelserver.Request) modelserver.Step {
	s.turn++
	step := modelserver.Think("What next?").Call("look", fmt.Sprintf(`{"at":"part %d"}`, s.turn%7))
	switch {
	case s.turn%10 == 0:
		step = modelserver.Say(fmt.Sprintf("That was part %d.", s.turn))
	case s.turn%3 == 0:
		step = step.Call("run", fmt.Sprintf(`{"command":"make %d"}`, s.turn))
	}
	return step.Usage(llm.Usage{Input: int64(len(r.Body) / 4), Output: 30})
}

func (s *twoHundred) open(model string, tools ...tool.Tool) {
	s.t.Helper()
	s.window = window.New(window.Options{Reads: []string{"look"}, Cooldown: 1, Context: s.place})
	o := agent.Options{
		Client: s.client(model), Tools: tools, System: "You look after a mill.", Window: s.window, Gate: agent.AllowAll(),
		Limits: agent.Limits{Turns: 1000},
	}
	var err error
	if s.id == "" {
		s.agent, err = agent.New(s.t.Context(), s.store, o)
	} else {
		s.agent, err = agent.Open(s.t.Context(), s.store, s.id, o)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.id = s.agent.Session()
}

func (s *twoHundred) close() {
	if err := s.agent.Close(); err != nil {
		s.t.Error(err)
	}
	s.window.Close()
}

func (s *twoHundred) place(context.Context, []session.ContextBlock) ([]session.ContextBlock, error) {
	return []session.ContextBlock{{Name: "AGENTS.md", Text: s.rules}, {Name: "environment", Text: "Linux, a mill"}}, nil
}

func (s *twoHundred) play() {
	s.open("one", s.look(), s.run())
	for s.turn < s.turns {
		switch s.turn {
		case 40:
			s.rules = "Rule two, which is longer than rule one."
		case 80: // another program starts, with one tool more
			s.close()
			s.open("one", s.look(), s.run(), s.rest())
		case 120:
			if err := s.agent.SetClient(s.t.Context(), s.client("two")); err != nil {
				s.t.Fatal(err)
			}
		case 160:
			s.rules = ""
		}
		outcome, err := agent.Wait(s.agent.Run(s.t.Context(), llm.UserText(fmt.Sprintf("What does the mill do after %d turns?", s.turn))))
		if err != nil || outcome.Ended.Reason != session.ReasonDone {
			s.t.Fatalf("after %d turns: %+v, %v", s.turn, outcome.Ended, err)
		}
	}
	s.close()
}

type lookArgs struct {
	At string `json:"at"`
}

func (s *twoHundred) look() tool.Tool {
	return tool.New("look", "Look at a part.", func(_ context.Context, a lookArgs) (tool.Effects, error) {
		return tool.Effects{Reads: []tool.Path{tool.File("/" + a.At)}, Idempotent: true}, nil
	}, func(_ context.Context, a lookArgs, _ tool.Report) (tool.Result, error) {
		return tool.TextResult(strings.Repeat("It is "+a.At+", made of oak.\n", 100)), nil
	})
}

type runArgs struct {
	Command string `json:"command"`
}

func (s *twoHundred) run() tool.Tool {
	return tool.New("run", "Run a command.", func(context.Context, runArgs) (tool.Effects, error) {
		return tool.Effects{Unknown: true, Exclusive: true}, nil
	}, func(_ context.Context, a runArgs, _ tool.Report) (tool.Result, error) {
		return tool.TextResult(strings.Repeat(a.Command+": the wheel turns and turns\n", 300)), nil
	})
}

func (s *twoHundred) rest() tool.Tool {
	return tool.New("rest", "Rest.", tool.Nothing, func(context.Context, struct{}, tool.Report) (tool.Result, error) {
		return tool.TextResult("Rested."), nil
	})
}

// compare compares what the provider was sent with the journal.
func (s *twoHundred) compare() {
	for _, v := range s.server.Violations() {
		s.t.Errorf("the provider would not take a request: %v", v)
	}
	requests := s.server.Requests()
	n, fresh := 0, false
	var before sent
	reasons := map[string]int{}
	for e, err := range s.store.Read(s.t.Context(), s.id, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.Epoch:
			fresh = true
			reasons[b.Reason]++
		case session.Requested:
			if b.Broken != "" {
				s.t.Errorf("request %d: within an epoch %s has changed", n, b.Broken)
			}
			now := sentIn(s.t, requests[n].Body)
			if at := now.goesOn(before); !fresh && at >= 0 {
				s.t.Fatalf("request %d does not go on from the one before: block %d of %d is %.200s", n, at, len(before.blocks), now.at(at))
			}
			before, fresh = now, false
			n++
		}
	}
	if n != len(requests) || n < s.turns {
		s.t.Errorf("%d requests in the journal, and the provider had %d", n, len(requests))
	}
	for _, want := range []string{"start", "tools", "model", "trim"} {
		if reasons[want] == 0 {
			s.t.Errorf("no epoch %s: %v", want, reasons)
		}
	}
	s.t.Logf("%d requests, epochs: %v", n, reasons)
}

// sent is the part of a request that a provider caches: everything before the conversation, and each block of it, without marks.
type sent struct {
	head   string
	blocks []string
}

// goesOn returns the first block of the request before that is another one now; -1 when there is none.
func (s sent) goesOn(before sent) int {
	if before.head == "" {
		return -1
	}
	if s.head != before.head {
		return 0
	}
	for i, b := range before.blocks {
		if s.at(i) != b {
			return i
		}
	}
	return -1
}

func (s sent) at(i int) string {
	if i >= len(s.blocks) {
		return "(nothing)"
	}
	return s.blocks[i]
}

// sentIn takes a body apart, whatever its protocol.
func sentIn(t *testing.T, body []byte) sent {
	t.Helper()
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatal(err)
	}
	s := sent{}
	for _, name := range []string{"messages", "input", "contents"} {
		messages, _ := all[name].([]any)
		delete(all, name)
		for _, m := range messages {
			m := m.(map[string]any)
			parts := ""
			for _, name := range []string{"content", "parts"} {
				if list, ok := m[name].([]any); ok {
					parts = name
					for _, b := range list {
						if text := withoutMarks(t, b); text != "{}" {
							s.blocks = append(s.blocks, fmt.Sprintf("%v %s", m["role"], text))
						}
					}
				}
			}
			if parts == "" {
				s.blocks = append(s.blocks, withoutMarks(t, m))
			}
		}
	}
	for _, name := range []string{"model", "stream", "max_tokens", "metadata"} {
		delete(all, name)
	}
	s.head = withoutMarks(t, all)
	return s
}

// withoutMarks is a value as JSON without the marks of caches.
func withoutMarks(t *testing.T, v any) string {
	data, err := json.Marshal(unmarked(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func unmarked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			if slices.Contains([]string{"cache_control", "cachePoint"}, name) {
				delete(v, name)
			} else {
				v[name] = unmarked(v[name])
			}
		}
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if m, ok := unmarked(e).(map[string]any); !ok || len(m) > 0 {
				out = append(out, unmarked(e))
			}
		}
		return out
	}
	return v
}
