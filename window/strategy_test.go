package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// chat is a session whose requests follow a strategy. Each turn has a prompt, a call with a result of this many lines, and an answer.
func chat(t tester, by window.Strategy, h window.Header, turns, lines int) *talk {
	k := newTalk(t, window.Options{})
	k.header = h
	ask := func() {
		req, entries, err := window.New(window.Options{Strategy: by}).Request(context.Background(), k.path, k.header)
		if err != nil {
			t.Fatalf("request: %v", err)
		}
		entries, err = window.Seal(context.Background(), k.path, entries, req)
		if err != nil {
			t.Fatalf("seal: %v", err)
		}
		k.append(entries...)
		k.last = req
		if problem := invalid(req.Messages); problem != "" {
			t.Fatalf("the request is not valid: %s: %s", problem, words(req.Messages))
		}
		if r := entries[len(entries)-1].(session.Requested); r.Broken != "" {
			t.Fatalf("within an epoch %s has changed", r.Broken)
		}
		k.checkView()
	}
	for i := range turns {
		k.say(fmt.Sprintf("Question %d.", i+1))
		ask()
		c := llm.ToolCall{ID: "1", Name: "look", Arguments: `{}`}
		k.answer(fmt.Sprintf("I look for %d.", i+1), c)
		k.append(session.Message{Message: llm.ToolText(c, strings.TrimSpace(output(i, lines)), false)})
		ask()
		k.answer(fmt.Sprintf("Answer %d.", i+1))
	}
	k.say("The last question.")
	ask()
	return k
}

func questions(req *llm.Request) string {
	var out []string
	for _, m := range req.Messages {
		if m.Role == llm.RoleUser {
			text, _, _ := strings.Cut(m.Text(), "\n")
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

func TestRecent(t *testing.T) {
	k := chat(t, window.Recent{Turns: 3}, header(), 6, 2)
	if got := questions(k.last); got != "Question 5. Question 6. The last question." {
		t.Errorf("sent: %s", got)
	}
	if sent := texts(k.last.Messages); !strings.Contains(sent, "line 4") || strings.Contains(sent, "line 3 ") {
		t.Errorf("sent:\n%s", sent)
	}
	if n := strings.Count(k.reasons(), "compaction"); n != 4 {
		t.Errorf("epochs: %s", k.reasons())
	}
	h := header()
	h.Model.Context = 1500 // three turns do not fit
	if got := questions(chat(t, window.Recent{Turns: 3}, h, 6, 60).last); strings.Count(got, "Question") != 1 {
		t.Errorf("sent: %s", got)
	}
}

func TestSummaryPlusRecent(t *testing.T) {
	var tasks []window.Task
	by := summarizerFunc(func(_ context.Context, task window.Task) (session.Summarized, error) {
		tasks = append(tasks, task)
		if len(tasks) == 2 {
			return session.Summarized{}, errTired
		}
		return session.Summarized{Summary: fmt.Sprintf("%d messages.", len(task.Events)), By: "test/small"}, nil
	})
	k := chat(t, window.SummaryPlusRecent{Turns: 2, Summarizer: by}, header(), 6, 2)
	if len(tasks) != 2 || len(tasks[0].Events) != 8 || tasks[0].Live.System != header().System || tasks[1].Before.Summary != "8 messages." {
		t.Errorf("%d tasks: %+v", len(tasks), tasks)
	}
	sent := texts(k.last.Messages)
	if got := questions(k.last); got != "<summary> Question 5. Question 6. The last question." && !strings.Contains(sent, "## Goal") {
		t.Errorf("sent: %s", got)
	}
	if d := k.summaries(); len(d) != 2 || d[0].By != "test/small" || !strings.Contains(d[1].Summary, "## Decisions\n8 messages.") {
		t.Errorf("summaries: %+v", d)
	}
}

type summarizerFunc func(context.Context, window.Task) (session.Summarized, error)

func (f summarizerFunc) Summarize(ctx context.Context, t window.Task) (session.Summarized, error) {
	return f(ctx, t)
}

// The smaller the context window, the more Tiers omits. The first and the recent turns appear once.
func TestTiers(t *testing.T) {
	tiers := window.Tiers{Lines: 4, Recent: 2}
	for _, test := range []struct {
		name          string
		context       int
		sent, without []string
	}{
		{"everything fits", 100_000, []string{"Question 3."}, []string{"left out"}},
		{"old results are cut", 2900, []string{"Question 3.", "lines left out", "I look for 1."}, []string{"[called look"}},
		{"old messages are shortened", 1500, []string{"Question 1.", "Question 5.", "[called look"}, []string{"were left out", "are omitted"}},
		{"only first and recent turns stay", 850, []string{"Question 1.", "Answer 1.", "Question 8.", "are omitted"}, []string{"Question 4."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := header()
			h.Model.Context = test.context
			sent := texts(chat(t, tiers, h, 8, 30).last.Messages)
			for _, want := range test.sent {
				if strings.Count(sent, want) == 0 || strings.HasPrefix(want, "Question") && strings.Count(sent, want) > 1 {
					t.Errorf("the request has %q %d times", want, strings.Count(sent, want))
				}
			}
			for _, not := range test.without {
				if strings.Contains(sent, not) {
					t.Errorf("the request has %q", not)
				}
			}
			if t.Failed() {
				t.Log(sent)
			}
		})
	}
}

// Whatever the settings of a strategy, its requests are valid and have the last prompt once.
func TestAnyStrategy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(0, 4).Draw(t, name) }
		h := header()
		h.Model.Context = rapid.SampledFrom([]int{300, 2000, 8000, 200_000}).Draw(t, "context")
		by := rapid.SampledFrom([]window.Strategy{
			window.Recent{Turns: n("turns")},
			window.SummaryPlusRecent{Turns: n("turns")},
			window.Tiers{Lines: n("lines"), First: n("first"), Recent: n("recent")},
		}).Draw(t, "by")
		k := chat(t, by, h, rapid.IntRange(0, 8).Draw(t, "all"), rapid.IntRange(0, 60).Draw(t, "length"))
		if strings.Count(texts(k.last.Messages), "The last question.") != 1 {
			t.Errorf("the request does not have the last prompt exactly once:\n%s", texts(k.last.Messages))
		}
	})
}

type strategyFunc func(v *window.View, used, budget int) ([]session.Body, error)

func (f strategyFunc) Shrink(_ context.Context, v *window.View, used, budget int) ([]session.Body, error) {
	return f(v, used, budget)
}

func TestErrorsOfStrategies(t *testing.T) {
	path := view.Entries(events("u:a"))
	failing := window.New(window.Options{Strategy: strategyFunc(func(*window.View, int, int) ([]session.Body, error) { return nil, errTired })})
	if _, _, err := failing.Request(t.Context(), path, header()); !errors.Is(err, errTired) {
		t.Errorf("error = %v", err)
	}
	if _, err := failing.Overflow(t.Context(), path, header(), errNotFound); !errors.Is(err, errTired) {
		t.Errorf("error = %v", err)
	}
	endless := window.New(window.Options{Strategy: strategyFunc(func(*window.View, int, int) ([]session.Body, error) {
		return []session.Body{session.Trimmed{}}, nil
	})})
	if _, _, err := endless.Request(t.Context(), path, header()); code(err) != "window.strategy" {
		t.Errorf("error = %v", err)
	}
	by := window.New(window.Options{Strategy: window.Recent{}})
	if _, _, err := by.Request(t.Context(), damaged(0), header()); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
	if _, err := by.Room(t.Context(), damaged(0), header()); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
	if _, err := by.Overflow(t.Context(), damaged(0), header(), errNotFound); !errors.Is(err, errDamaged) {
		t.Errorf("error = %v", err)
	}
}

func TestOverflowOfAStrategy(t *testing.T) {
	k := chat(t, window.Recent{Turns: 6}, header(), 5, 20)
	cause := &llm.Error{Kind: llm.KindContextOverflow}
	by := window.New(window.Options{Strategy: window.Recent{Turns: 6}})
	for n := 0; ; n++ {
		entries, err := by.Overflow(t.Context(), k.path, k.header, cause)
		if errors.Is(err, cause) && n > 1 {
			break // one turn is left
		}
		if err != nil || n > 5 {
			t.Fatal(n, err)
		}
		k.append(entries...)
	}
	if room, err := by.Room(t.Context(), k.path, k.header); err != nil || room.Level != window.Normal || room.Result == 0 {
		t.Errorf("room = %+v, %v", room, err)
	}
}
