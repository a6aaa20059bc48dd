package dialog

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
)

func someQuestions() request.Question {
	return request.Question{Asking: session.Asking{ID: "q2", Until: noon.Add(5 * time.Minute), Questions: []ask.Question{
		{Text: "Which database should the service use?", Default: "SQLite", Options: []ask.Option{
			{Label: "Postgres", Description: "the one of the other services"}, {Label: "SQLite", Description: "a file next to the program; no server to run, and enough for one process that writes"},
		}},
		{Text: "Which checks should run before a commit?", Multiple: true, Options: []ask.Option{{Label: "vet"}, {Label: "tests"}, {Label: "format"}}},
		{Text: "What is the name of the service?", Default: "ledger"},
	}}}
}

func TestQuestionScreens(t *testing.T) {
	o := options(t)
	d := awaken(NewQuestions(someQuestions(), false, o))
	golden(t, "question-one", o, d)
	typed(d, "enter", "space", "down")
	golden(t, "question-several", o, d)
	typed(d, "enter")
	golden(t, "question-text", o, d)
}

func TestQuestionAnswers(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		want       [3][]string
	}{
		{"the defaults", "enter enter enter", [3][]string{{"SQLite"}, nil, {"ledger"}}},
		{"another option", "up enter enter enter", [3][]string{{"Postgres"}, nil, {"ledger"}}},
		{"several options", "enter space down down space enter enter", [3][]string{{"SQLite"}, {"vet", "format"}, {"ledger"}}},
		{"own words without a move", "o k enter enter enter", [3][]string{{"ok"}, nil, {"ledger"}}},
		{"own words", "down o k enter down down down x enter b enter", [3][]string{{"ok"}, {"x"}, {"b"}}},
		{"back to the first question", "enter space enter esc esc up enter enter c enter", [3][]string{{"Postgres"}, {"vet"}, {"c"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := awaken(NewQuestions(someQuestions(), false, options(t)))
			got, closed := outcome[Answered](t, typed(d, strings.Fields(c.keys)...))
			var choices [3][]string
			for i, a := range got.Answers {
				choices[i] = a.Choices
			}
			if !closed || got.Question != "q2" || !reflect.DeepEqual(choices, c.want) {
				t.Errorf("got %q", choices)
			}
		})
	}
}

// A person can read all of a long option.
func TestLongOptionsWrap(t *testing.T) {
	label := strings.Repeat("a long option of the model ", 10) + "end"
	d := awaken(NewQuestions(request.Question{Asking: session.Asking{Questions: []ask.Question{{Text: "Which?", Options: []ask.Option{{Label: label}}}}}}, false, options(t)))
	text := strings.Join(strings.Fields(ansi.Strip(strings.Join(d.Lines(60, 20), " "))), " ")
	if !strings.Contains(text, label) {
		t.Errorf("the option is cut: %s", text)
	}
}

func TestEscLeavesAQuestionOpen(t *testing.T) {
	d := awaken(NewQuestions(someQuestions(), false, options(t)))
	if out := typed(d, "esc"); len(out) != 1 || out[0] != (Closed{d}) {
		t.Errorf("got %v", out)
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add("which?\x1b[2J", 80, 24, true)
	f.Add("日本\u202e\n\n\r", 3, 2, false)
	f.Fuzz(func(t *testing.T, text string, width, height int, several bool) {
		width, height = 1+abs(width)%200, 1+abs(height)%60
		o := options(t)
		d := awaken(NewQuestions(request.Question{Asking: session.Asking{Questions: []ask.Question{
			{Text: text, Options: []ask.Option{{Label: text, Description: text}, {Label: "b"}}, Multiple: several, Default: text}, {Text: text, Default: text},
		}}}, false, o))
		for _, key := range []string{"space", "down", "down", "x", "up", "enter", "tab", "y", "pgdown", "esc"} {
			checkLines(t, d.Lines(width, height), width, height)
			d.Update(press(key))
		}
		checkLines(t, Box(d, width, height, o.Theme), width, height)
	})
}
