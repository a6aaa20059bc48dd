package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxQuestions = 4
	maxOptions   = 10
	maxAnswer    = 20 << 10 // bytes of one answer for the model
)

// ErrNobody reports that no person can answer, or that no person answered in time. Its code is "tool.unanswered".
var ErrNobody = tool.Codef("tool.unanswered", "no person can answer")

// Asker asks a person. Implementations are safe for concurrent use.
type Asker interface {
	// Ask blocks until the person has answered all questions or ctx ends. It returns one answer for each question, in their order. If the
	// error is [ErrNobody], the model decides for itself.
	Ask(ctx context.Context, questions []Question) ([]Answer, error)
}

// Question is one question to a person.
type Question struct {
	Text     string   `json:"text" jsonschema:"the question"`
	Options  []string `json:"options,omitempty" jsonschema:"possible answers, at most 10; none for a free answer"`
	Multiple bool     `json:"multiple,omitempty" jsonschema:"several options may be chosen"`
	Default  string   `json:"default,omitempty" jsonschema:"the answer if the user gives none"`
}

// Answer is the answer of a person: chosen options, or their own words. Empty: the person declined to answer.
type Answer []string

// Answered is the details of a question.
type Answered struct {
	Questions []Question `json:"questions"`
	Answers   []Answer   `json:"answers,omitzero"` // none if no person could answer
}

type questionArguments struct {
	Questions []Question `json:"questions" jsonschema:"1 to 4 questions"`
}

func question(asker Asker) tool.Tool {
	return tool.New("question", questionText,
		func(_ context.Context, args questionArguments) (tool.Effects, error) {
			return tool.Effects{Asks: true, Idempotent: true}, checkQuestions(args.Questions)
		},
		func(ctx context.Context, args questionArguments, _ tool.Report) (tool.Result, error) {
			questions := args.Questions
			answers, err := asker.Ask(ctx, questions)
			switch {
			case errors.Is(err, ErrNobody):
				return tool.TextResult(unanswered(questions)).With("not answered", Answered{Questions: questions}), nil
			case err != nil:
				return tool.Result{}, fmt.Errorf("question: %w", err)
			case len(answers) != len(questions):
				return tool.Result{}, fmt.Errorf("question: got %d answers to %d questions", len(answers), len(questions))
			}
			return tool.TextResult(answered(questions, answers)).With(brief(answers), Answered{Questions: questions, Answers: answers}), nil
		}, tool.WithTitle(func(args questionArguments) string { return args.Questions[0].Text }))
}

func brief(answers []Answer) string {
	var all []string
	for _, a := range answers {
		if all = append(all, strings.Join(a, ", ")); len(a) == 0 {
			all[len(all)-1] = "not answered"
		}
	}
	return strings.Join(all, "; ")
}

func checkQuestions(questions []Question) error {
	if len(questions) == 0 || len(questions) > maxQuestions {
		return tool.Codef("tool.arguments", "%d questions; ask 1 to %d at a time", len(questions), maxQuestions)
	}
	var problems []error
	for i, q := range questions {
		place := fmt.Sprintf("questions[%d]", i)
		problems = append(problems, checkText(place+".text", q.Text))
		if len(q.Options) > maxOptions {
			problems = append(problems, tool.Codef("tool.arguments", "%s: %d options are more than %d", place, len(q.Options), maxOptions))
			continue
		}
		for k, option := range q.Options {
			problems = append(problems, checkText(fmt.Sprintf("%s.options[%d]", place, k), option))
			if slices.Contains(q.Options[:k], option) {
				problems = append(problems, tool.Codef("tool.arguments", "%s.options: %q occurs twice", place, option))
			}
		}
		switch {
		case q.Multiple && len(q.Options) == 0:
			problems = append(problems, tool.Codef("tool.arguments", "%s: multiple needs options", place))
		case q.Default != "" && len(q.Options) > 0 && !slices.Contains(q.Options, q.Default):
			problems = append(problems, tool.Codef("tool.arguments", "%s.default: %q is not one of the options", place, q.Default))
		case q.Default != "":
			problems = append(problems, checkText(place+".default", q.Default))
		}
	}
	return errors.Join(problems...)
}

func answered(questions []Question, answers []Answer) string {
	var b strings.Builder
	for i, answer := range answers {
		text := "[not answered; decide yourself]"
		if len(answer) > 0 {
			text, _ = tool.Bound(strings.Join(answer, "; "), maxAnswer)
		}
		if len(answers) > 1 {
			fmt.Fprintf(&b, "%s\n", questions[i].Text)
		}
		b.WriteString(text + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// unanswered returns the result for the model if no person can answer.
func unanswered(questions []Question) string {
	var defaults []string
	for i, q := range questions {
		if q.Default != "" {
			defaults = append(defaults, fmt.Sprintf("question %d: %s", i+1, q.Default))
		}
	}
	text := "[no one can answer; decide yourself and report your assumptions at the end"
	if len(defaults) > 0 {
		text += "; your defaults apply: " + strings.Join(defaults, ", ")
	}
	return text + "]"
}
