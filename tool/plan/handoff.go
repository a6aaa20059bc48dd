package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

const maxPlan = 100 << 10 // bytes, about as many as a model writes in one answer

// Plan is a plan that another agent can execute without the conversation.
type Plan struct {
	Title string `json:"title" jsonschema:"the goal, in a few words"`
	Text  string `json:"plan" jsonschema:"the whole plan, in Markdown"`
	Role  string `json:"role,omitempty" jsonschema:"the role that fits best, if it is not builder"`
}

// HandedOver is the details of a handoff.
type HandedOver struct {
	File    string `json:"file"`             // of the plan
	Role    string `json:"role,omitzero"`    // that executes it; empty: no person chose one
	Session string `json:"session,omitzero"` // the new session in which it does; empty: the present one
	Again   bool   `json:"again,omitzero"`   // the person wants another plan
}

// Receiver takes finished plans. Implementations are safe for concurrent use.
type Receiver interface {
	// Keep writes a plan to a file and returns the name of the file. The same plan has the same file. It fails if the agent makes no plans.
	Keep(ctx context.Context, p Plan) (file string, err error)

	// Roles returns the roles that can execute a plan, the usual one first.
	Roles(ctx context.Context) ([]string, error)

	// Execute lets a role that a person chose execute the plan in a file: in the present session or, with fresh, in a new one, whose ID it
	// returns. Without a role it only ends the present run. The run ends after the call.
	Execute(ctx context.Context, file, role string, fresh bool) (session string, err error)
}

// The answers of a person to a handoff, apart from their own words.
const (
	here  = ", in this session"
	fresh = ", in a new session"
	again = "keep planning"
)

// handoff asks a person who executes a plan. Only the answer of the person counts, never the suggestion of the model. Its effects do not have
// the file: the receiver chooses the name, and it is the only file that a planner may write. A repeated call finds the file and the question.
func handoff(r Receiver, asker Asker) tool.Tool {
	return tool.New("handoff", handoffText,
		func(_ context.Context, p Plan) (tool.Effects, error) {
			err := errors.Join(checkText("title", p.Title))
			switch {
			case strings.TrimSpace(p.Text) == "":
				err = errors.Join(err, tool.Codef("tool.arguments", "plan is empty"))
			case len(p.Text) > maxPlan:
				err = errors.Join(err, tool.Codef("tool.arguments", "plan has %d bytes, more than %d", len(p.Text), maxPlan))
			}
			return tool.Effects{Asks: true, Idempotent: true}, err
		},
		func(ctx context.Context, p Plan, _ tool.Report) (tool.Result, error) {
			file, err := r.Keep(ctx, p)
			if err != nil {
				return tool.Result{}, err
			}
			roles, err := r.Roles(ctx)
			if err != nil {
				return tool.Result{}, err
			}
			answer, err := askWho(ctx, asker, p, file, roles)
			if err != nil && !errors.Is(err, ErrNobody) {
				return tool.Result{}, err
			}
			done := HandedOver{File: file}
			if err != nil {
				_, err := r.Execute(ctx, file, "", false)
				return tool.TextResult("No one can choose who executes the plan. It is in "+file+".").With(file, done), err
			}
			role, isNew, ok := chosen(answer, roles)
			if done.Role = role; !ok {
				done.Again = true
				return tool.TextResult(keepPlanning(answer)).With(again, done), nil
			}
			if done.Session, err = r.Execute(ctx, file, role, isNew); err != nil {
				return tool.Result{}, err
			}
			return tool.TextResult(fmt.Sprintf("The user chose: %s. The plan is in %s.", answer[0], file)).With(answer[0], done), nil
		}, tool.WithTitle(func(p Plan) string { return p.Title }))
}

// askWho asks a person who executes a plan. The question has the plan, so that the person can read it.
func askWho(ctx context.Context, asker Asker, p Plan, file string, roles []string) (Answer, error) {
	if asker == nil {
		return nil, ErrNobody
	}
	q := Question{Text: "Who executes this plan? It is in " + file + "."}
	if slices.Contains(roles, p.Role) {
		q.Text += " The model suggests the role " + p.Role + "."
	}
	text, _ := tool.Bound(p.Text, maxAnswer)
	q.Text += "\n\n" + strings.TrimSpace(text)
	for _, role := range roles {
		q.Options = append(q.Options, role+here, role+fresh)
	}
	q.Options = append(q.Options, again)
	answers, err := asker.Ask(ctx, []Question{q})
	if err == nil && len(answers) != 1 {
		err = fmt.Errorf("handoff: got %d answers to 1 question", len(answers))
	}
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// chosen returns the role that an answer names; !ok: none.
func chosen(a Answer, roles []string) (role string, isNew, ok bool) {
	for _, role := range roles {
		if len(a) == 1 && (a[0] == role+here || a[0] == role+fresh) {
			return role, a[0] == role+fresh, true
		}
	}
	return "", false, false
}

// keepPlanning returns the result for the model if the person wants another plan.
func keepPlanning(a Answer) string {
	words := strings.TrimSpace(strings.Join(slices.DeleteFunc(slices.Clone(a), func(s string) bool { return s == again }), "; "))
	if words == "" {
		return "The user does not want to execute this plan yet. Ask them what to change."
	}
	words, _ = tool.Bound(words, maxAnswer)
	return "The user does not want to execute this plan yet, and says:\n" + words
}
