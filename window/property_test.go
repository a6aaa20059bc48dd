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

// Whatever the model, the tools and the person do: requests are valid, fit, extend each other within an epoch, keep what must stay, and
// equal the view of the journal; see [talk.checkRequest]. After a rewind, the view is the same as before, byte for byte.
func TestAnySession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ rapid.TB }{t}, func(t *rapid.T) { // the bubble has its own clock, so the deadline of the test does not apply
			a := &anySession{t: t}
			o := window.Options{KeepTurns: 400, Cooldown: rapid.SampledFrom([]time.Duration{1, time.Minute}).Draw(t, "cooldown")}
			a.talk = newTalk(t, o)
			defer a.window.Close()
			a.summarizer = rapid.SampledFrom([]func(context.Context, window.Task) (session.Summarized, error){
				nil, slowly, a.unreliable,
			}).Draw(t, "summarizer")
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

// unreliable sometimes fails or panics.
func (a *anySession) unreliable(ctx context.Context, t window.Task) (session.Summarized, error) {
	switch len(t.Events) % 4 {
	case 0:
		return session.Summarized{}, errTired
	case 1:
		panic("a summarizer")
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

// work is a turn: a request, an answer with calls, and their results in any order.
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

// other is everything that happens between turns.
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
		a.context = []session.ContextBlock{{Name: "AGENTS.md", Text: fmt.Sprintf("Rule %d.", a.ids%3)}, {Name: "environment", Text: "Linux"}}
	case 6:
		a.context = nil
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

// isSent reports whether the view has a message unchanged.
func (a *anySession) isSent(id session.ID) bool {
	v, err := window.Look(a.t.Context(), a.path)
	if err != nil {
		a.t.Fatal(err)
	}
	return slices.ContainsFunc(v.Blocks, func(b window.Block) bool { return b.Why == window.Said && b.Entries[0] == id })
}

// overflow simulates a provider that refuses a request.
func (a *anySession) overflow() {
	a.ask()
	refused := &llm.Error{Kind: llm.KindContextOverflow}
	entries, err := a.window.Overflow(context.Background(), a.path, a.header, refused)
	if err != nil {
		return // the window can omit nothing
	}
	a.append(entries...)
	const few = 500 // tokens: below this, the savings are within the error of the estimate
	if before := size(a.last); size(a.ask()) >= max(before, few) {
		a.t.Errorf("after an overflow, the request still has %d tokens of %d", size(a.last), before)
	}
}

// rewind returns to an earlier request: a person rewinds, or the model reverts.
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
			t.Fatalf("the revert to %s has no effect", to)
		}
		return
	}
	want := a.views[to]
	a.append(session.Head{To: to, Reason: "rewind"})
	v, err := window.Look(t.Context(), a.path)
	if err != nil || encode(v.Messages) != want {
		t.Fatalf("the view at %s is\n%s\nwant\n%s (%v)", to, encode(v.Messages), want, err)
	}
	a.question()
}

// The same journal gives the same request, byte for byte, in every window.
func TestSameJournalSameRequest(t *testing.T) {
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
				return err.Error(), nil // the last message is too long
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
			t.Fatalf("the same journal gives\n%s\nand\n%s", one, two)
		}
		if first := trims(t, path); !slices.Equal(first, trims(t, path)) {
			t.Fatal("the same journal gives two different trims")
		}
	})
}

func trims(t *rapid.T, path view.Path) []session.Trim {
	v, err := window.Look(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return v.Trim(window.Trimming{Hard: true})
}

// anyJournal is an arbitrary journal, also one that no program writes.
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
