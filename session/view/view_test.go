package view_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
)

// path is a branch with these bodies, all of one run, in turns that a session.TurnStarted begins.
func path(all ...session.Body) view.Entries {
	var out view.Entries
	turn := 1
	for _, b := range all {
		if _, ok := b.(live.TurnStarted); ok {
			turn++
			continue
		}
		n := len(out) + 1
		out = append(out, session.Event{Seq: int64(n), ID: session.ID(fmt.Sprint("e", n)), Run: "r", Turn: turn, Body: b})
	}
	return out
}

func user(text string) session.Message {
	return session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
}

func answer(text string, calls ...string) session.Message {
	m := llm.AssistantText(text)
	for _, id := range calls {
		m.Content = append(m.Content, llm.ToolCall{ID: id, Name: "tool", Arguments: "{}"})
	}
	m.Model = "test/model"
	return session.Message{Message: m}
}

func done(id string, outcome session.Outcome) session.Message {
	return view.Result(llm.ToolCall{ID: id, Name: "tool"}, outcome, "result of "+id)
}

func partial(parts ...llm.Part) session.Partial { return session.Partial{Content: parts} }

func text(s string) llm.Part { return llm.Text{Text: s} }

func think(s string) llm.Part { return llm.Thinking{Text: s} }

// words describes a conversation with one word for each message.
func words(messages []session.Event) string {
	var words []string
	for _, e := range messages {
		m := e.Body.(session.Message)
		switch {
		case m.Role == llm.RoleTool:
			words = append(words, "="+m.CallID)
		case m.Stop == llm.StopAborted:
			words = append(words, fmt.Sprintf("%s…(%d)", m.Text(), len(m.Content)))
		default:
			word := m.Text()
			for _, c := range m.Calls() {
				word += "+" + c.ID
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func TestMessages(t *testing.T) {
	nextTurn := live.TurnStarted{}
	tests := []struct {
		name string
		path view.Entries
		want string
	}{
		{"nothing", nil, ""},
		{"only messages", path(session.Created{}, user("a"), session.RunStarted{}, session.Epoch{}, answer("b"), session.RunEnded{}), "a b"},
		{
			"results in the order of the calls", path(user("a"), answer("b", "1", "2", "3"), done("3", ""), done("1", ""), done("2", ""), answer("c")),
			"a b+1+2+3 =1 =2 =3 c",
		},
		{
			"each answer has its own order", path(answer("a", "1", "2"), done("2", ""), done("1", ""), answer("b", "2", "1"), done("1", ""), done("2", "")),
			"a+1+2 =1 =2 b+2+1 =2 =1",
		},
		{
			"between results stands something else", path(answer("a", "1", "2"), session.CallStarted{}, done("2", ""), session.ModelChanged{}, done("1", "")),
			"a+1+2 =1 =2",
		},
		{"a cut answer", path(user("a"), partial(text("b")), partial(text("c"))), "a bc…(1)"},
		{"a cut answer that thought", path(user("a"), partial(think("x")), partial(think("y"), text("b")), partial(text("c"), think("z"))), "a bc…(3)"},
		{"a cut answer of blanks", path(user("a"), partial(text(" \n"))), "a"},
		{"its message makes it void", path(user("a"), partial(text("b")), answer("bc")), "a bc"},
		{"a discard makes it void", path(user("a"), partial(text("b")), session.Discarded{}), "a"},
		{"restarted", path(user("a"), partial(text("b")), session.Discarded{}, partial(text("c"))), "a c…(1)"},
		{"a later attempt replaces it", path(user("a"), partial(text("b")), nextTurn, partial(text("c")), partial(text("d"))), "a cd…(1)"},
		{"a later attempt without a word does not", path(user("a"), partial(text("b")), session.RunEnded{}, nextTurn, session.RunStarted{}), "a b…(1)"},
		{"unknown entries are skipped", path(user("a"), session.Opaque{Name: "dream"}, answer("b")), "a b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := view.Messages(t.Context(), test.path)
			if err != nil || words(got) != test.want {
				t.Errorf("%q, %v; want %q", words(got), err, test.want)
			}
		})
	}
}

// A view changes nothing that it looks at.
func TestViewsLeaveThePathAlone(t *testing.T) {
	p := path(user("a"), partial(think("x"), text("b")), partial(text("c")), answer("d", "1", "2"), done("2", ""), done("1", ""),
		partial(think("x"), text("b")), partial(text("c")))
	want := path(user("a"), partial(think("x"), text("b")), partial(text("c")), answer("d", "1", "2"), done("2", ""), done("1", ""),
		partial(think("x"), text("b")), partial(text("c")))
	for range 2 {
		if _, err := view.Messages(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if _, err := view.Settle(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if _, err := view.StateOf(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("the path is %v now", p)
	}
}

func TestUses(t *testing.T) {
	spend := func(model string, input int64, cost float64) session.Message {
		m := answer("x")
		m.Model, m.Usage = model, llm.Usage{Input: input, Cost: cost}
		return m
	}
	got, err := view.Uses(t.Context(), path(user("a"), spend("p/one", 10, 1), spend("p/two", 1, 0.5), done("x", ""), spend("p/one", 5, 0.25)))
	want := view.Used{
		Total: llm.Usage{Input: 16, Cost: 1.75}, Answers: 3,
		ByModel: map[string]llm.Usage{"p/one": {Input: 15, Cost: 1.25}, "p/two": {Input: 1, Cost: 0.5}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestTodos(t *testing.T) {
	list := func(words ...string) session.Todo {
		var todo session.Todo
		for _, w := range words {
			todo.Items = append(todo.Items, session.TodoItem{Text: w, Status: "pending"})
		}
		return todo
	}
	for want, p := range map[string]view.Entries{
		"":    path(user("a")),
		"b c": path(list("a"), user("x"), list("b", "c"), answer("y")),
		" ":   path(list("a"), list()),
	} {
		items, err := view.Todos(t.Context(), p)
		var words []string
		for _, i := range items {
			words = append(words, i.Text)
		}
		if err != nil || strings.Join(words, " ") != strings.TrimSpace(want) {
			t.Errorf("%v, %v; want %q", words, err, want)
		}
	}
}

func TestState(t *testing.T) {
	start := func(id session.RunID) session.RunStarted { return session.RunStarted{Run: id} }
	end := session.RunEnded{Reason: session.ReasonDone}
	use := func(id string, done bool, o session.Outcome) view.ToolUse {
		return view.ToolUse{Call: id, Tool: "tool", Arguments: "{}", Done: done, Outcome: o}
	}
	tests := []struct {
		name string
		path view.Entries
		want view.State
	}{
		{"nothing", nil, view.State{}},
		{
			"a run that is on", path(start("1"), user("a"), answer("<intent> to  see\n it </intent>x", "c", "d"), done("d", session.OutcomeDenied)),
			view.State{
				Intent: "to see it", Model: "test/model", Run: "1", Running: true, Denials: 1,
				Tools: []view.ToolUse{use("c", false, ""), use("d", true, session.OutcomeDenied)},
			},
		},
		{
			"a run that has ended", path(start("1"), answer("x", "c"), done("c", ""), end),
			view.State{Model: "test/model", Run: "1", Ended: &end, Tools: []view.ToolUse{use("c", true, "")}},
		},
		{
			"only the last run counts, but for intent, model and list", path(
				start("1"), answer("<intent>old</intent>", "c"), done("c", session.OutcomeDenied), session.Todo{Items: []session.TodoItem{{Text: "t"}}}, end,
				start("2"), user("b")),
			view.State{Intent: "old", Model: "test/model", Run: "2", Running: true, Todo: []session.TodoItem{{Text: "t"}}},
		},
		{
			"the same name in two answers", path(start("1"), answer("x", "c"), done("c", session.OutcomeFailed), answer("y", "c")),
			view.State{
				Model: "test/model", Run: "1", Running: true,
				Tools: []view.ToolUse{use("c", true, session.OutcomeFailed), use("c", false, "")},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := view.StateOf(t.Context(), test.path)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%+v, %v; want %+v", got, err, test.want)
			}
		})
	}

	back := path(start("1"), user("a"))
	back = append(back, session.Event{Seq: 9, ID: "head", Body: session.Head{To: "e2", Reason: "rewind"}})
	if s, err := view.StateOf(t.Context(), back); err != nil || s.Running {
		t.Errorf("after a step back into a run it is on again: %+v, %v", s, err)
	}
}

func TestIntent(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"no tag":                               "",
		"<intent>a</intent>":                   "a",
		"x <intent>\n a\tb \n</intent> y":      "a b",
		"<intent>never closed":                 "",
		"</intent><intent>":                    "",
		"<intent>a</intent><intent>b</intent>": "a",
		"<intent></intent>":                    "",
	} {
		if got := view.Intent(text); got != want {
			t.Errorf("Intent(%q) = %q, want %q", text, got, want)
		}
	}
}

// broken is a path that cannot be read to its root.
type broken struct{ view.Entries }

var errBroken = errors.New("a page is damaged")

func (b broken) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e := range b.Entries.Backward(ctx) {
			if !yield(e, nil) {
				return
			}
		}
		yield(session.Event{}, errBroken)
	}
}

// If a view cannot read an entry, it returns an error, never a part of the view.
func TestPathThatIsBroken(t *testing.T) {
	p := broken{path(session.CallStarted{})}
	_, messages := view.Messages(t.Context(), p)
	_, uses := view.Uses(t.Context(), p)
	_, todos := view.Todos(t.Context(), p)
	_, state := view.StateOf(t.Context(), p)
	_, lost := view.Recover(t.Context(), p, nil)
	_, settle := view.Settle(t.Context(), p)
	for what, err := range map[string]error{
		"Messages": messages, "Uses": uses, "Todos": todos, "StateOf": state, "Recover": lost, "Settle": settle,
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
