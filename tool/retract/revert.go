package retract

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

type revertArguments struct {
	Steps    int    `json:"steps" jsonschema:"answers to drop, in addition to this one" min:"1"`
	Category string `json:"category" jsonschema:"why you go back" enum:"failure,tangent,completion,step"`
	Lesson   string `json:"lesson" jsonschema:"everything worth knowing" min:"1" max:"4000"`
}

func revert(c Conversation) tool.Tool {
	return tool.New("revert", revertText, tool.Nothing,
		func(ctx context.Context, args revertArguments, _ tool.Report) (tool.Result, error) {
			steps, err := c.Steps(ctx)
			switch {
			case err != nil:
				return tool.Result{}, fmt.Errorf("revert: %w", err)
			case steps.Pending:
				return tool.Result{}, errors.New("your next answer already goes back")
			case steps.Most == 0:
				return tool.Result{}, fmt.Errorf("cannot go back: %s", steps.Why)
			case args.Steps > steps.Most:
				return tool.Result{}, fmt.Errorf("you can go back at most %s: %s", tool.Count(steps.Most, "answer"), steps.Why)
			}
			lesson := strings.TrimSpace(args.Lesson)
			if lesson == "" {
				return tool.Result{}, tool.Codef("tool.arguments", "the lesson is empty; without it you would repeat the same steps")
			}
			if err := c.GoBack(ctx, args.Steps, args.Category, lesson); err != nil {
				return tool.Result{}, fmt.Errorf("revert: %w", err)
			}
			return tool.TextResult("You continue from there with the lesson.").With(args.Category, nil), nil
		}, tool.WithTitle(func(args revertArguments) string { return args.Lesson }))
}
