package retract

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

type revertArguments struct {
	Steps    int    `json:"steps" min:"1"`
	Category string `json:"category" enum:"failure,tangent,completion,step"`
	Lesson   string `json:"lesson" min:"1" max:"4000"`
}

// GoneBack is the details of a revert.
type GoneBack struct {
	Steps    int    `json:"steps"`
	Category string `json:"category"`
	Lesson   string `json:"lesson"`
}

func revert(c Conversation) tool.Tool {
	return tool.New("revert", revertText, nil,
		func(ctx context.Context, args revertArguments, _ tool.Report) (tool.Result, error) {
			steps, err := c.Steps(ctx)
			switch {
			case err != nil:
				return tool.Result{}, fmt.Errorf("revert: %w", err)
			case steps.Pending:
				return tool.Result{}, errors.New("you go back already, with your next answer")
			case steps.Most == 0:
				return tool.Result{}, fmt.Errorf("there is nothing to go back from: %s", steps.Why)
			case args.Steps > steps.Most:
				return tool.Result{}, fmt.Errorf("you can take back %d answers at most: %s", steps.Most, steps.Why)
			}
			lesson := strings.TrimSpace(args.Lesson)
			if lesson == "" {
				return tool.Result{}, errors.New("the lesson is empty: without it you would do the same again")
			}
			if err := c.GoBack(ctx, args.Steps, args.Category, lesson); err != nil {
				return tool.Result{}, fmt.Errorf("revert: %w", err)
			}
			result := tool.TextResult("You go on from there with the lesson.")
			result.Details = GoneBack{Steps: args.Steps, Category: args.Category, Lesson: lesson}
			return result, nil
		})
}
