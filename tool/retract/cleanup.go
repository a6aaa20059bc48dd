package retract

import (
	"context"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

type cleanupArguments struct {
	Quote   string `json:"quote,omitempty" jsonschema:"words from the result, copied exactly"`
	Tool    string `json:"tool,omitempty" jsonschema:"tool of the result"`
	Back    int    `json:"back,omitempty" jsonschema:"which result of that tool: 1 is the newest; default 1" min:"1"`
	Reason  string `json:"reason" jsonschema:"why it no longer helps" min:"1" max:"300"`
	Summary string `json:"summary,omitempty" max:"2000" jsonschema:"facts worth keeping"`
}

func cleanup(c Conversation) tool.Tool {
	return tool.New("cleanup", cleanupText,
		func(_ context.Context, args cleanupArguments) (tool.Effects, error) {
			if strings.TrimSpace(args.Quote) == "" && args.Tool == "" {
				return tool.Effects{}, tool.Codef("tool.arguments", "identify the result by a quote from it, or by tool and back")
			}
			return tool.Effects{None: true}, nil
		},
		func(ctx context.Context, args cleanupArguments, _ tool.Report) (tool.Result, error) {
			results, err := c.Results(ctx)
			if err != nil {
				return tool.Result{}, fmt.Errorf("cleanup: %w", err)
			}
			r, err := args.choose(results)
			if err != nil {
				return tool.Result{}, err
			}
			if err := c.GiveUp(ctx, r, strings.TrimSpace(args.Reason), strings.TrimSpace(args.Summary)); err != nil {
				return tool.Result{}, fmt.Errorf("cleanup: %w", err)
			}
			brief := fmt.Sprintf("%s, %d bytes", r.Tool, len(r.Text))
			return tool.TextResult("The result of "+brief+", leaves your context when Tenon next rebuilds it.").With(brief, nil), nil
		}, tool.WithTitle(func(args cleanupArguments) string { return args.Reason }))
}

func (a cleanupArguments) choose(results []Result) (Result, error) {
	var fits []Result
	var places []string
	seen := make(map[string]int) // of each tool
	for i := len(results) - 1; i >= 0; i-- {
		r := results[i]
		seen[r.Tool]++
		switch {
		case a.Tool != "" && r.Tool != a.Tool, a.Back > 0 && a.Tool != "" && seen[r.Tool] != a.Back:
		case a.Quote != "" && !strings.Contains(r.Text, strings.TrimSpace(a.Quote)):
		default:
			fits = append(fits, r)
			places = append(places, fmt.Sprintf("%s, back %d", r.Tool, seen[r.Tool]))
		}
	}
	switch {
	case len(fits) == 1, len(fits) > 1 && a.Quote == "" && a.Back == 0:
		return fits[0], nil // a tool alone identifies its newest result
	case len(fits) == 0 && a.Quote != "":
		return Result{}, tool.Codef("tool.not_found", "no visible result has this quote; copy it exactly, from a single result")
	case len(fits) == 0:
		return Result{}, tool.Codef("tool.not_found", "there are only %d results of %s", seen[a.Tool], a.Tool)
	}
	const most = 5
	return Result{}, tool.Codef("tool.ambiguous", "%d results have this quote: %s; quote more, or give tool and back", len(fits), strings.Join(places[:min(len(places), most)], "; "))
}
