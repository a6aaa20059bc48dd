package undo

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
)

// earlier returns the newest run of a directory whose changes of files an undo would revert, and the command for that. It is empty if there
// is none in the newest sessions.
func earlier(ctx context.Context, a *app.App, dir string) (string, error) {
	const most = 10 // sessions
	for s, err := range a.Store.List(ctx, index.Query{Dir: dir, Limit: most}) {
		if err != nil {
			return "", err
		}
		h, err := undo.Read(ctx, a.Store, s.ID, a.Bounds)
		if err != nil {
			return "", err
		}
		plan, err := h.Undo("", undo.Files)
		if _, nothing := errors.AsType[*undo.NothingError](err); nothing || err == nil && len(plan.Files) == 0 {
			continue
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("the last run that changed files: %s (%s); 'tenon undo --files %s' undoes it",
			term.Fit(term.OneLine(plan.Title), 50), transcript.Count(len(plan.Files), "file"), s.ID), nil
	}
	return "", nil
}
