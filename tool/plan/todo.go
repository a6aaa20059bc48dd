package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxItems = 100
	maxText  = 500 // characters of an item, a question or an option
)

// The states of an [Item].
const (
	Pending    = "pending"
	InProgress = "in_progress"
	Completed  = "completed"
)

// Item is one step of a plan.
type Item struct {
	Text   string `json:"text" jsonschema:"the step, in a few words"`
	Status string `json:"status" jsonschema:"state of the step" enum:"pending,in_progress,completed"`
}

type todoArguments struct {
	Items []Item `json:"items" jsonschema:"all steps in order, at most 100"`
}

func todo(record func(context.Context, []Item) error) tool.Tool {
	return &ordered{Tool: tool.New("todo", todoText,
		func(_ context.Context, args todoArguments) (tool.Effects, error) {
			return tool.Effects{None: true, Idempotent: true}, checkItems(args.Items)
		},
		func(ctx context.Context, args todoArguments, _ tool.Report) (tool.Result, error) {
			items := make([]Item, len(args.Items))
			count := map[string]int{}
			for i, item := range args.Items {
				items[i] = Item{Text: strings.TrimSpace(item.Text), Status: item.Status}
				count[item.Status]++
			}
			if err := record(ctx, items); err != nil {
				return tool.Result{}, fmt.Errorf("todo: cannot record the list: %w", err)
			}
			text := fmt.Sprintf("%d completed, %d in progress, %d pending", count[Completed], count[InProgress], count[Pending])
			return tool.TextResult(text).With(text, nil), nil
		}, tool.WithTitle(todoTitle))}
}

func todoTitle(args todoArguments) string {
	for _, item := range args.Items {
		if item.Status == InProgress {
			return item.Text
		}
	}
	return ""
}

// ordered runs the calls of a tool one at a time. It skips a call if a call that was prepared later has run: the calls of one answer may
// begin in any order, but the last list counts.
type ordered struct {
	tool.Tool
	prepared atomic.Int64

	mu   sync.Mutex
	done int64 // the place of the last call that ran
}

func (o *ordered) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	call, err := o.Tool.Prepare(ctx, arguments)
	if err != nil {
		return nil, err
	}
	place, run := o.prepared.Add(1), call.Run
	call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if place < o.done {
			return tool.TextResult("[a later list replaced this one]"), nil
		}
		result, err := run(ctx, report)
		if err == nil {
			o.done = place
		}
		return result, err
	}
	return call, nil
}

func checkItems(items []Item) error {
	var problems []error
	if len(items) > maxItems {
		problems = append(problems, tool.Codef("tool.arguments", "%d items are more than %d; join small ones", len(items), maxItems))
	}
	running := 0
	for i, item := range items[:min(len(items), maxItems)] {
		if item.Status == InProgress {
			running++
		}
		if err := checkText(fmt.Sprintf("items[%d].text", i), item.Text); err != nil {
			problems = append(problems, err)
		}
	}
	if running > 1 {
		problems = append(problems, tool.Codef("tool.arguments", "%d items are in progress; keep one and set the others to pending", running))
	}
	return errors.Join(problems...)
}

func checkText(place, text string) error {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return tool.Codef("tool.arguments", "%s is empty", place)
	case n > maxText:
		return tool.Codef("tool.arguments", "%s has %d characters, more than %d", place, n, maxText)
	}
	return nil
}
