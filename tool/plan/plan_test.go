package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/plan"
)

// person gives fixed answers.
type person struct {
	answers []plan.Answer
	err     error
	asked   []plan.Question
}

func (p *person) Ask(ctx context.Context, questions []plan.Question) ([]plan.Answer, error) {
	p.asked = questions
	return p.answers, errors.Join(p.err, ctx.Err())
}

func run(t *testing.T, one tool.Tool, arguments any) (tool.Result, error) {
	t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	call, err := one.Prepare(t.Context(), string(text))
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(t.Context(), nil)
}

func TestToolsThatExist(t *testing.T) {
	record := func(context.Context, []plan.Item) error { return nil }
	for want, o := range map[string]plan.Options{
		"":              {},
		"todo":          {Record: record},
		"question":      {Asker: &person{}},
		"question todo": {Record: record, Asker: &person{}},
		"handoff":       {Receiver: &receiver{}},
	} {
		var names []string
		for _, one := range plan.New(o) {
			names = append(names, one.Spec().Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTodo(t *testing.T) {
	var kept []plan.Item
	var fail error
	todo := plan.New(plan.Options{Record: func(_ context.Context, items []plan.Item) error { kept = items; return fail }})[0]
	result, err := run(t, todo, map[string]any{"items": []plan.Item{{Text: " a ", Status: plan.Completed}, {Text: "b", Status: plan.Pending}, {Text: "c", Status: plan.Pending}}})
	if err != nil || result.Content.Text() != "1 completed, 0 in progress, 2 pending" {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
	if len(kept) != 3 || kept[0] != (plan.Item{Text: "a", Status: plan.Completed}) {
		t.Errorf("kept %+v", kept)
	}
	if result, err := run(t, todo, map[string]any{"items": []plan.Item{}}); err != nil || result.Content.Text() != "0 completed, 0 in progress, 0 pending" || len(kept) != 0 {
		t.Errorf("text %q, error %v", result.Content.Text(), err)
	}
	fail = errors.New("the disk is full")
	if _, err := run(t, todo, map[string]any{"items": []plan.Item{}}); !errors.Is(err, fail) {
		t.Errorf("error %v", err)
	}
}

// Two lists of one message may run in any order; the later one stands.
func TestTheLastListStands(t *testing.T) {
	var kept []plan.Item
	todo := plan.New(plan.Options{Record: func(_ context.Context, items []plan.Item) error { kept = items; return nil }})[0]
	var calls []*tool.Call
	for _, name := range []string{"first", "second"} {
		call, err := todo.Prepare(t.Context(), `{"items":[{"text":"`+name+`","status":"pending"}]}`)
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, call)
	}
	for _, place := range []int{1, 0} {
		if _, err := calls[place].Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) != 1 || kept[0].Text != "second" {
		t.Errorf("kept %+v", kept)
	}
}

func TestListsThatAreRefused(t *testing.T) {
	todo := plan.New(plan.Options{Record: func(context.Context, []plan.Item) error { t.Error("recorded"); return nil }})[0]
	running := plan.Item{Text: "a", Status: plan.InProgress}
	for want, items := range map[string][]plan.Item{
		"3 items are in progress": {running, running, running},
		"items[1].text is empty":  {running, {Text: " ", Status: plan.Pending}},
		"501 characters":          {{Text: strings.Repeat("ü", 501), Status: plan.Pending}},
		"101 items are more":      make([]plan.Item, 101),
		"items[0].status":         {{Text: "a", Status: "done"}},
	} {
		for i := range items {
			if items[i].Status == "" {
				items[i] = plan.Item{Text: "a", Status: plan.Pending}
			}
		}
		if _, err := run(t, todo, map[string]any{"items": items}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestQuestion(t *testing.T) {
	ask := []plan.Question{{Text: "Which database?", Options: []string{"SQLite", "Postgres"}, Multiple: true, Default: "SQLite"}, {Text: "Which name?"}}
	tests := []struct {
		name      string
		questions []plan.Question
		person    person
		want      string
	}{
		{"one", ask[:1], person{answers: []plan.Answer{{"SQLite", "and flat files"}}}, "SQLite; and flat files"},
		{"two", ask, person{answers: []plan.Answer{{"Postgres"}, nil}}, "Which database?\nPostgres\nWhich name?\n[not answered; decide yourself]"},
		{"no one", ask, person{err: fmt.Errorf("in time: %w", plan.ErrNobody)}, "[no one can answer; decide yourself and report your assumptions at the end; your defaults apply: question 1: SQLite]"},
		{"no one, no defaults", ask[1:], person{err: plan.ErrNobody}, "[no one can answer; decide yourself and report your assumptions at the end]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			question := plan.New(plan.Options{Asker: &test.person})[0]
			result, err := run(t, question, map[string]any{"questions": test.questions})
			if err != nil || result.IsError || result.Content.Text() != test.want {
				t.Errorf("text %q, error %v, want %q", result.Content.Text(), err, test.want)
			}
			details := plan.Answered{Questions: test.questions, Answers: test.person.answers}
			if !reflect.DeepEqual(result.Details, details) || !reflect.DeepEqual(test.person.asked, test.questions) {
				t.Errorf("details %+v, asked %+v", result.Details, test.person.asked)
			}
		})
	}
}

func TestQuestionWaitsForThePerson(t *testing.T) {
	call, err := plan.New(plan.Options{Asker: &person{}})[0].Prepare(t.Context(), `{"questions":{"text":"Why?"}}`)
	if err != nil || !call.Effects.Asks || !call.Effects.Idempotent || !call.Effects.ReadOnly() {
		t.Errorf("effects %+v, error %v", call.Effects, err)
	}
	if _, err := call.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "0 answers to 1 questions") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLongAnswersAreBounded(t *testing.T) {
	question := plan.New(plan.Options{Asker: &person{answers: []plan.Answer{{strings.Repeat("word ", 1_000_000)}}}})[0]
	result, err := run(t, question, map[string]any{"questions": []plan.Question{{Text: "Why?"}}})
	if err != nil || len(result.Content.Text()) > 21<<10 {
		t.Errorf("%d bytes, error %v", len(result.Content.Text()), err)
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	question := plan.New(plan.Options{Asker: &person{}})[0]
	for want, questions := range map[string][]plan.Question{
		"0 questions; ask 1 to 4":                {},
		"5 questions; ask 1 to 4":                make([]plan.Question, 5),
		"questions[0].text is empty":             {{}},
		"questions[0].options[1] is empty":       {{Text: "a", Options: []string{"b", ""}}},
		`questions[0].options: "b" occurs twice`: {{Text: "a", Options: []string{"b", "b"}}},
		"11 options are more than 10":            {{Text: "a", Options: make([]string, 11)}},
		"multiple needs options":                 {{Text: "a", Multiple: true}},
		`"c" is not one of the options`:          {{Text: "a", Options: []string{"b"}, Default: "c"}},
		"questions[0].default has 501":           {{Text: "a", Default: strings.Repeat("x", 501)}},
	} {
		if _, err := run(t, question, map[string]any{"questions": questions}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
