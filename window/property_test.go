package window_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// Whatever the model, the tools and the people do: requests are valid, fit, go on from each other within an epoch, keep what must be
// kept, and are what the journal shows; see [talk.check]. A state that somebody goes back to is the same to the byte.
func TestAnySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) { // without a deadline, of which nobody knows in a bubble
			a := &anySession{t: t}
			o := window.Options{KeepTurns: 400, Cooldown: rapid.SampledFrom([]time.Duration{1, time.Minute}).Draw(t, "cooldown")}
			a.talk = newTalk(t, o)
			defer a.window.Close()
			a.digest = rapid.SampledFrom([]func(context.Context, window.Task) (session.Summarized, error){
				nil, slowly, a.moody,
			}).Draw(t, "digester")
			a.question()
			t.Repeat(map[string]func(*rapid.T){
				"":       func(*rapid.T) {},
				"work":   a.work,
				"work2":  a.work,
				"work3":  a.work,
				"other":  a.other,
				"asks":   func(*rapid.T) { a.ask(); a.answer("Done."); a.question() },
				"wait":   func(*rapid.T) { time.Sleep(2 * time.Minute); synctest.Wait() },
				"rewind": a.rewind,
			})
		})
	})
}

type anySession struct {
	*talk
	t         *rapid.T
	questions int
	seen      []llm.ToolCall // with results
}

// moody fails now and then, and panics.
func (a *anySession) moody(ctx context.Context, t window.Task) (session.Summarized, error) {
	switch len(t.Events) % 4 {
	case 0:
		return session.Summarized{}, errTired
	case 1:
		panic("a digester")
	case 2:
		return session.Summarized{Summary: " \n"}, nil
	}
	return slowly(ctx, t)
}

func (a *anySession) question() {
	a.questions++
	mark := ""
	if a.questions%7 == 3 {
		mark = " [[keep]]"
	}
	a.say(fmt.Sprintf("Question %d of them all%s.", a.questions, mark))
}

// work is a turn: a request, an answer with calls, and their results, which come in any order.
func (a *anySession) work(t *rapid.T) {
	a.ask()
	if n, most := size(a.last), a.header.Model.Context-a.header.MaxTokens; n > most {
		t.Fatalf("the request has %d tokens of %d", n, most)
	}
	var calls []llm.ToolCall
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		name := rapid.SampledFrom([]string{"read", "shell", "write"}).Draw(t, "tool")
		file := rapid.IntRange(0, 3).Draw(t, "file")
		calls = append(calls, llm.ToolCall{ID: fmt.Sprintf("c%d", len(a.seen)%5+len(calls)), Name: name, Arguments: fmt.Sprintf(`{"path":"f%d"}`, file)})
	}
	a.answer("I work.", calls...)
	order := rapid.Permutation(calls).Draw(t, "order")
	for _, c := range order {
		effects := map[string]string{
			"read":  `{"reads":[{"name":"/%s"}]}`,
			"write": `{"writes":[{"name":"/%s"}]}`,
			"shell": `{"unknown":true,"exclusive":true,"writes":[{"name":"/%s","tree":true}]}`,
		}[c.Name]
		text := output(rapid.IntRange(0, 9).Draw(t, "output"), rapid.SampledFrom([]int{0, 1, 10, 40, 200}).Draw(t, "lines"))
		a.result(c, text, fmt.Sprintf(effects, c.Arguments[9:11]))
	}
	a.seen = append(a.seen, calls...)
}

// other is what happens beside the work.
func (a *anySession) other(t *rapid.T) {
	switch rapid.IntRange(0, 10).Draw(t, "what") {
	case 0:
		a.append(session.Todo{Items: []session.TodoItem{
			{Text: fmt.Sprintf("point %d", a.ids), Status: "pending"}, {Text: "done with", Status: "completed"},
		}})
	case 1:
		a.append(session.Todo{})
	case 2:
		for i, e := range a.path {
			m, ok := e.Body.(session.Message)
			if ok && len(m.Text()) < 500 && i%5 == a.ids%5 && len(a.pinned) < 4 && a.isSent(e.ID) {
				a.pinned = append(a.pinned, e.ID)
				break
			}
		}
	case 3:
		a.pinned = nil
	case 4:
		if n := len(a.seen); n > 0 {
			a.append(session.Cleanup{Call: a.seen[n/2].ID, Reason: "it is wrong"})
		}
	case 5:
		a.place = []session.ContextBlock{{Name: "AGENTS.md", Text: fmt.Sprintf("Rule %d.", a.ids%3)}, {Name: "environment", Text: "Linux"}}
	case 6:
		a.place = nil
	case 7:
		a.header.System = fmt.Sprintf("Be good, %d.", a.ids%3)
	case 8:
		a.header.Model.ID = fmt.Sprintf("model%d", a.ids%2)
	case 9:
		a.window.Compact(window.Ask{Focus: rapid.SampledFrom([]string{"", "the mill"}).Draw(t, "focus")})
	case 10:
		a.overflow()
	}
}

// isSent reports whether the model was sent a message as it is.
func (a *anySession) isSent(id session.ID) bool {
	v, err := window.Look(a.t.Context(), a.path)
	if err != nil {
		a.t.Fatal(err)
	}
	return slices.ContainsFunc(v.Blocks, func(b window.Block) bool { return b.Why == window.Said && b.Entries[0] == id })
}

// overflow lets the provider refuse a request.
func (a *anySession) overflow() {
	a.ask()
	refused := &llm.Error{Kind: llm.KindContextOverflow}
	entries, err := a.window.Overflow(context.Background(), a.path, a.header, refused)
	if err != nil {
		return // there was nothing to leave out
	}
	a.append(entries...)
	const few = 500 // tokens: what is left out of so few is within the error of the estimate
	if before := size(a.last); size(a.ask()) >= max(before, few) {
		a.t.Errorf("after an overflow the request has still %d tokens of %d", size(a.last), before)
	}
}

// rewind goes back to an earlier request, as a person or as the model does.
func (a *anySession) rewind(t *rapid.T) {
	var there []session.ID
	for _, e := range a.path {
		if _, ok := a.views[e.ID]; ok {
			there = append(there, e.ID)
		}
	}
	if len(there) == 0 {
		return
	}
	to := rapid.SampledFrom(there).Draw(t, "to")
	if rapid.Bool().Draw(t, "by the model") {
		category := rapid.SampledFrom([]string{"failure", "tangent", "completion", "step"}).Draw(t, "category")
		a.append(session.Revert{To: to, Category: category, Lesson: "it is too steep"})
		a.ask()
		if a.at(to) < 0 || !strings.Contains(texts(a.last.Messages), "it is too steep") {
			t.Fatalf("the wish to go back to %s was not fulfilled", to)
		}
		return
	}
	want := a.views[to]
	a.append(session.Head{To: to, Reason: "rewind"})
	v, err := window.Look(t.Context(), a.path)
	if err != nil || encode(v.Messages) != want {
		t.Fatalf("the state at %s is\n%s\nand was\n%s (%v)", to, encode(v.Messages), want, err)
	}
	a.question()
}

// The same journal makes the same request, byte for byte, whoever asks.
func TestTheSameJournalMakesTheSameRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := anyJournal.Draw(t, "journal")
		h := header()
		h.Model.Context = rapid.SampledFrom([]int{0, 2000, 200_000}).Draw(t, "context")
		request := func() (string, []session.Body) {
			w := window.New(window.Options{})
			defer w.Close()
			req, entries, err := w.Request(t.Context(), path, h)
			switch {
			case err != nil && h.Model.Context == 2000 && code(err) == "window.too_long":
				return err.Error(), nil // what was said last is longer than that
			case err != nil:
				t.Fatal(err)
			}
			if problem := invalid(req.Messages); problem != "" {
				t.Fatalf("%s: %s", problem, words(req.Messages))
			}
			return encode(req.Messages), entries
		}
		one, entries := request()
		if two, again := request(); one != two || len(entries) != len(again) {
			t.Fatalf("the same journal makes\n%s\nand\n%s", one, two)
		}
		if reduced := reductions(t, path); !slices.Equal(reduced, reductions(t, path)) {
			t.Fatal("the same journal is reduced in two ways")
		}
	})
}

func reductions(t *rapid.T, path view.Path) []session.Trim {
	v, err := window.Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return v.Trim(window.Trimming{Hard: true})
}

// anyJournal is a journal as no program should have left it.
var anyJournal = rapid.Custom(func(t *rapid.T) view.Entries {
	var path view.Entries
	for i := range rapid.IntRange(0, 30).Draw(t, "entries") {
		var b session.Body
		id := session.ID(fmt.Sprintf("e%d", rapid.IntRange(0, 30).Draw(t, "id")))
		switch rapid.IntRange(0, 14).Draw(t, "kind") {
		case 0:
			b = session.Partial{Content: llm.Content{llm.Text{Text: "half a"}}}
		case 1:
			b = session.Discarded{}
		case 2:
			b = session.Summarized{Through: id, Summary: "It was long.", Verbatim: []session.Verbatim{{Entry: id, Message: llm.UserText("Kept.")}}}
		case 3:
			b = session.Trimmed{Messages: []session.Trim{{Entry: id, Reason: "stale", Text: "[shorter]"}}}
		case 4:
			b = session.Epoch{Reason: "start", Model: header().Model}
		case 5:
			b = session.Context{Blocks: []session.ContextBlock{{Name: "AGENTS.md", Text: string(id)}}}
		case 6:
			b = session.Cleanup{Call: "1", Reason: "wrong"}
		case 7:
			b = session.Revert{To: id, Category: "step", Lesson: "steep"}
		case 8:
			b = session.Requested{Model: header().Model.Ref(), Segments: 3, Scale: 1}
		default:
			b = session.Message{Message: anyMessage.Draw(t, "message")}
		}
		path = append(path, session.Event{Seq: int64(i + 1), ID: session.ID(fmt.Sprintf("e%d", i)), Body: b})
	}
	return path
})
