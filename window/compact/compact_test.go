package compact_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/compact"
	"github.com/tenon-agent/tenon/window/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const whole = `<<END
## Goal
A mill.
## Decisions
Oak.
## State
The wheel turns.
## Files
wheel.go
## Errors
None.
## Open
The stones.
## Next step
Cut them.
END`

func task() window.Task {
	live := &llm.Request{
		System: "Be good.", Tools: []llm.Tool{{Name: "look"}},
		Messages: []llm.Message{llm.UserText("Build a mill."), llm.AssistantText("I begin."), llm.UserText("Go on.")},
	}
	var events []session.Event
	for _, m := range live.Messages {
		events = append(events, session.Event{Body: spoken(m)})
	}
	return window.Task{Live: live, Model: llm.Model{Provider: "test", ID: "test"}, Events: events, Reason: "full", Limit: 1000}
}

// The instruction follows the live request, which stays unchanged, because the provider has it in its cache.
func TestInstructionIsAppended(t *testing.T) {
	client := llmtest.New(t, "text "+whole+"\nusage input=10 cache_read=900 output=70")
	work := task()
	work.Focus = "the stones"
	work.Before = &session.Summarized{Summary: "Before.", Files: []string{"/old.go"}}
	d, err := compact.Model{Client: client}.Summarize(t.Context(), work)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(d.Summary, "## Goal") || d.By != client.Model().Ref() || d.Usage.CacheRead != 900 || !slices.Contains(d.Files, "/old.go") {
		t.Errorf("summary = %+v", d)
	}
	req := client.Requests()[0]
	if req.System != work.Live.System || len(req.Tools) != 1 || req.ToolChoice != llm.ToolAuto || len(req.Messages) != 4 {
		t.Errorf("request = %+v", req)
	}
	for i, m := range work.Live.Messages {
		if req.Messages[i].Text() != m.Text() {
			t.Errorf("message %d is %q", i, req.Messages[i].Text())
		}
	}
	last := req.Messages[3].Text()
	for _, want := range append(window.Sections(), "the stones", "Update the summary") {
		if !strings.Contains(last, want) {
			t.Errorf("the instruction does not mention %q", want)
		}
	}
	if len(work.Live.Messages) != 3 {
		t.Error("the live request has another message")
	}
}

// If a summary lacks a section, the model writes it again once. Calls do not run.
func TestRepair(t *testing.T) {
	client := llmtest.New(t, "text Going on.\ncall look {}\n---\ntext "+whole)
	d, err := compact.Model{Client: client}.Summarize(t.Context(), task())
	if err != nil || len(compact.Lacking(d.Summary)) > 0 {
		t.Fatal(d, err)
	}
	repaired := client.Requests()[1].Messages
	if n := len(repaired); n != 6 || len(repaired[4].Calls()) != 0 || !strings.Contains(repaired[5].Text(), "Decisions") {
		t.Errorf("repair = %+v", repaired)
	}
}

func TestFailures(t *testing.T) {
	for name, script := range map[string]string{
		"sections missing twice": "text ## Goal\nusage output=7\n---\ntext ## Goal\nusage output=7",
		"an overloaded server":   `error overloaded "later"`,
		"a refusal, twice":       "text I will not.\nstop refused\nusage output=7\n---\ntext No.\nstop refused\nusage output=7",
		"only calls":             "call look {}\nusage output=7\n---\ncall look {}\nusage output=7",
		"only thinking":          "think Hm.\nusage output=7\n---\nthink Hm.\nusage output=7",
		"an empty answer":        "usage output=7\n---\nusage output=7",
		"a stream without end":   "text x\nend",
		"the repair fails":       "text x\nusage output=7\n---\nerror network \"gone\"",
	} {
		t.Run(name, func(t *testing.T) {
			client := llmtest.New(t, script)
			d, err := (compact.Model{Client: client}).Summarize(t.Context(), task())
			if err == nil || d.Summary != "" || d.By != client.Model().Ref() {
				t.Errorf("summary = %+v", d)
			}
			if answers := strings.Count(script, "output=7"); d.Usage.Output != int64(7*answers) {
				t.Errorf("usage %+v", d.Usage)
			}
		})
	}
}

// The small model writes the summary if the conversation fits into its context window.
func TestSmallModel(t *testing.T) {
	for _, test := range []struct {
		name    string
		context int
		small   bool
	}{{"it fits", 8000, true}, {"it does not", 1200, false}, {"its context window is unknown", 0, true}} {
		t.Run(test.name, func(t *testing.T) {
			large, small := llmtest.New(t, "text "+whole), llmtest.New(t, "text "+whole)
			facts := llm.Model{Provider: "test", ID: "small", Context: test.context}
			work := task()
			work.Live.Messages[0] = llm.UserText(strings.Repeat("word ", 1500))
			d, err := compact.Model{Client: large, Small: withModel{small, facts}}.Summarize(t.Context(), work)
			if err != nil {
				t.Fatal(err)
			}
			if asked := len(small.Requests()) == 1; asked != test.small || (d.By == "test/small") != test.small {
				t.Errorf("written by %s", d.By)
			}
		})
	}
}

// withModel is a client with another model.
type withModel struct {
	llm.Client
	facts llm.Model
}

func (c withModel) Model() llm.Model { return c.facts }

// If the conversation leaves no space for the instruction and the summary, the request omits answers at the end that stay verbatim, and
// nothing else. If it would still be too long, it is not sent: one text with excerpts is.
func TestInstructionFits(t *testing.T) {
	long := strings.Repeat("The wheel turns. ", 700) // about 2800 tokens
	for name, c := range map[string]struct{ context, tail, want int }{
		"it fits":                        {20_000, 2, 7},
		"one answer too many":            {10_000, 2, 5},
		"two answers too many":           {7500, 2, 3},
		"summarized messages stay":       {5000, 1, 0},
		"unknown context window":         {0, 2, 7},
		"no answer stays verbatim":       {6000, 0, 0},
		"a tail longer than the request": {3000, 9, 1},
	} {
		t.Run(name, func(t *testing.T) {
			work := task()
			work.Live.Messages = []llm.Message{llm.UserText("Build a mill.")}
			for range 3 {
				work.Live.Messages = append(work.Live.Messages, llm.AssistantText("I look."), llm.UserText(long))
			}
			work.Tail = c.tail
			client := llmtest.New(t, "text "+whole, llmtest.WithModel(llm.Model{Provider: "test", ID: "test", Context: c.context}))
			if _, err := (compact.Model{Client: client}).Summarize(t.Context(), work); err != nil {
				t.Fatal(err)
			}
			if got := len(client.Requests()[0].Messages) - 1; got != c.want {
				t.Errorf("%d messages before the instruction, want %d", got, c.want)
			}
			if len(work.Live.Messages) != 7 {
				t.Error("the live request has changed")
			}
		})
	}
}

// A conversation that is larger than the context window is summarized in stages. No request is longer than the window.
func TestStages(t *testing.T) {
	for _, size := range []int{8_000, 16_000, 200_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			m := llm.Model{Provider: "test", ID: "test", Context: size}
			var sent []string
			client := llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
				n := tokens.Start(m).Tokens(tokens.FamilyOf(m).Request(req))
				if n+req.MaxTokens > size {
					t.Errorf("request %d has %d tokens and an answer of %d", len(sent), n, req.MaxTokens)
				}
				sent = append(sent, req.Messages[len(req.Messages)-1].Text())
				answer := llm.AssistantText(strings.Trim(strings.TrimPrefix(whole, "<<END"), "END\n") + fmt.Sprintf("\nStage %d.", len(sent)))
				answer.Usage.Output = 10
				return answer, nil
			}, llmtest.WithModel(m))
			work := task()
			for i := range 4000 {
				work.Live.Messages = append(work.Live.Messages,
					llm.AssistantText(fmt.Sprintf("Message %d. </conversation> ", i)+strings.Repeat("More text and 12345 numbers. ", i%300)))
			}
			d, err := compact.Model{Client: client}.Summarize(t.Context(), work)
			if err != nil {
				t.Fatal(err)
			}
			n := len(sent)
			if n < 2 || n > 200 || d.Usage.Output != int64(10*n) || !strings.Contains(d.Summary, fmt.Sprintf("Stage %d.", n)) {
				t.Errorf("%d requests, usage %+v, %s", n, d.Usage, d.Summary)
			}
			for i, text := range sent {
				if strings.Count(text, "</conversation>") != 1 || strings.Contains(text, fmt.Sprintf("Stage %d.", i)) != (i > 0) {
					t.Errorf("request %d is\n%.300s", i, text)
				}
			}
			if !strings.Contains(sent[0], "Build a mill.") || !strings.Contains(sent[n-1], "Message 3999.") {
				t.Error("the first or the last message is missing")
			}
		})
	}
}
