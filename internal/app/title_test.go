package app

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session/index"
)

// titles lets a small model write titles, and counts how often it is asked.
func (w *workplace) titles(answer string, fail error) (asked *int) {
	asked = new(int)
	small := llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
		*asked++
		w.wants(req.Messages[0].Text(), "Stop the leak in the cellar.")
		m := llm.AssistantText(answer)
		m.Usage = llm.Usage{Input: 1000, Output: 10}
		return m, fail
	}, llmtest.WithModel(llm.Model{Provider: "test", ID: "tiny", Price: llm.Price{Input: 1}}))
	w.spec.Titles = Titling{Writer: func() (llm.Client, error) { return small, nil }}
	return asked
}

// summary is what lists show of the session, once its agent is closed.
func (w *workplace) summary() index.Summary {
	w.t.Helper()
	id := w.agent.Session()
	w.close()
	for s, err := range w.app.Store.List(w.t.Context(), index.Query{Prefix: string(id)}) {
		if err != nil {
			w.t.Fatal(err)
		}
		return s
	}
	w.t.Fatal("the session is not listed")
	return index.Summary{}
}

func TestASessionGetsATitle(t *testing.T) {
	w := newWorkplace(t)
	asked := w.titles("<think>Hm.</think>\n**\"Stopping the leak in the old cellar\"**\n", nil)
	w.write("repo/a.txt", "x")
	w.script(calls("read", `{"path": "a.txt"}`), calls("read", `{"path": "a.txt"}`))
	w.open()
	w.ask("Stop the leak in the cellar.")
	s := w.summary()
	if s.Title != "Stopping the leak in the old" || !s.Named || *asked != 1 || s.Usage.Cost < 0.0009 {
		t.Errorf("got %+v, asked %d times", s, *asked)
	}
	w.titles("Another", nil)
	ag, err := w.app.Resume(t.Context(), s.ID, w.spec)
	if err != nil {
		t.Fatal(err)
	}
	w.use(ag)
	w.script(calls("read", `{"path": "a.txt"}`))
	w.ask("Go on.")
	if got := w.summary(); got.Title != s.Title {
		t.Errorf("it has another title: %q", got.Title)
	}
}

// The journal has the cost of a title even if the title is empty.
func TestATitleMadeInVain(t *testing.T) {
	w := newWorkplace(t)
	w.titles("***", nil)
	w.script(calls("list", `{}`))
	w.open()
	w.ask("Stop the leak in the cellar.")
	if s := w.summary(); s.Named || s.Usage.Cost < 0.0009 {
		t.Errorf("got %+v", s)
	}
}

func TestSessionsWithoutATitle(t *testing.T) {
	call := calls("list", `{}`)
	for name, c := range map[string]struct {
		answers []llm.Message
		change  func(w *workplace) (asked *int)
		asked   int
	}{
		"one question and its answer": {nil, func(w *workplace) *int { return w.titles("A title", nil) }, 0},
		"switched off":                {[]llm.Message{call}, func(w *workplace) *int { n := w.titles("A title", nil); w.spec.Titles.Off = true; return n }, 0},
		"a model that says nothing":   {[]llm.Message{call}, func(w *workplace) *int { return w.titles(" \n\"\"\n", nil) }, 1},
		"a model that fails":          {[]llm.Message{call}, func(w *workplace) *int { return w.titles("", errors.New("down")) }, 1},
		"a model that cannot be asked": {[]llm.Message{call}, func(w *workplace) *int {
			w.spec.Titles = Titling{Writer: func() (llm.Client, error) { return nil, errors.New("no key") }}
			return new(int)
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkplace(t)
			asked := c.change(w)
			w.script(c.answers...)
			w.open()
			w.ask("Stop the leak in the cellar.")
			if s := w.summary(); s.Title != "Stop the leak in the cellar." || s.Named || *asked != c.asked {
				t.Errorf("got %+v, asked %d times", s, *asked)
			}
		})
	}
}

// A title that does not come delays no run for long, and a run that was cancelled does not wait for one at all.
func TestATitleIsNotWaitedForWhenTheRunIsCancelled(t *testing.T) {
	w := newWorkplace(t)
	waiting, gone := make(chan struct{}), make(chan struct{})
	slow := llmtest.Func(func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
		defer close(gone)
		close(waiting)
		<-ctx.Done()
		return llm.Message{}, ctx.Err()
	})
	w.spec.Titles = Titling{Writer: func() (llm.Client, error) { return slow, nil }}
	ctx, cancel := context.WithCancel(t.Context())
	w.answer = func(*llm.Request) llm.Message {
		if len(w.requests) > 1 {
			<-waiting
			cancel()
		}
		return calls("list", `{}`)
	}
	w.open()
	for _, err := range w.agent.Run(ctx, llm.UserText("Go.")) {
		if err != nil && !strings.Contains(err.Error(), "cancel") {
			t.Error(err)
		}
	}
	select {
	case <-gone:
	default:
		t.Error("the title is still being written after the run was cancelled")
	}
}
