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
	maxAnswer    = 20 << 10 // bytes of one answer that the model is told
)

// ErrNobody says that there is nobody to be asked, or that nobody answered in time.
var ErrNobody = errors.New("nobody can be asked")

// Asker asks a person. Implementations are safe for concurrent use.
type Asker interface {
	// Ask blocks until all questions are answered or ctx ends, and returns one answer for each, in their order. With
	// [ErrNobody] the model is told to decide for itself.
	Ask(ctx context.Context, questions []Question) ([]Answer, error)
}

// Question is one question to a person.
type Question struct {
	Text     string   `json:"text"`
	Options  []string `json:"options,omitempty"`
	Multiple bool     `json:"multiple,omitempty"`
	Default  string   `json:"default,omitempty"`
}

// Answer is what a person said: options that were chosen, or words of their own. None: they would not answer.
type Answer []string

// Answered is the details of a question.
type Answered struct {
	Questions []Question `json:"questions"`
	Answers   []Answer   `json:"answers,omitzero"` // none when nobody could be asked
}

type questionArguments struct {
	Questions []Question `json:"questions"`
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
				result := tool.TextResult(unanswered(questions))
				result.Details = Answered{Questions: questions}
				return result, nil
			case err != nil:
				return tool.Result{}, fmt.Errorf("question: %w", err)
			case len(answers) != len(questions):
				return tool.Result{}, fmt.Errorf("question: there are %d answers to %d questions", len(answers), len(questions))
			}
			result := tool.TextResult(answered(questions, answers))
			result.Details = Answered{Questions: questions, Answers: answers}
			return result, nil
		})
}

// checkQuestions returns all that is wrong with questions.
func checkQuestions(questions []Question) error {
	if len(questions) == 0 || len(questions) > maxQuestions {
		return fmt.Errorf("%d questions; ask 1 to %d at a time", len(questions), maxQuestions)
	}
	var problems []error
	for i, q := range questions {
		place := fmt.Sprintf("questions[%d]", i)
		problems = append(problems, checkText(place+".text", q.Text))
		if len(q.Options) > maxOptions {
			problems = append(problems, fmt.Errorf("%s: %d options are more than %d", place, len(q.Options), maxOptions))
			continue
		}
		for k, option := range q.Options {
			problems = append(problems, checkText(fmt.Sprintf("%s.options[%d]", place, k), option))
			if slices.Contains(q.Options[:k], option) {
				problems = append(problems, fmt.Errorf("%s.options: %q is there twice", place, option))
			}
		}
		switch {
		case q.Multiple && len(q.Options) == 0:
			problems = append(problems, fmt.Errorf("%s: multiple needs options", place))
		case q.Default != "" && len(q.Options) > 0 && !slices.Contains(q.Options, q.Default):
			problems = append(problems, fmt.Errorf("%s.default: %q is none of the options", place, q.Default))
		case q.Default != "":
			problems = append(problems, checkText(place+".default", q.Default))
		}
	}
	return errors.Join(problems...)
}

// answered is what the model is told.
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

// unanswered is what the model is told when there is nobody.
func unanswered(questions []Question) string {
	var defaults []string
	for i, q := range questions {
		if q.Default != "" {
			defaults = append(defaults, fmt.Sprintf("question %d: %s", i+1, q.Default))
		}
	}
	text := "[nobody can be asked; decide yourself and say in the end what you assumed"
	if len(defaults) > 0 {
		text += "; your defaults hold: " + strings.Join(defaults, ", ")
	}
	return text + "]"
}
