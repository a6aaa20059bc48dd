package conversation

import (
	"context"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// Plan plans b for a session, within bounds.
func (b Back) Plan(ctx context.Context, store index.Store, id session.SessionID, bounds undo.Bounds) (*undo.Plan, error) {
	h, err := undo.Read(ctx, store, id, bounds)
	switch {
	case err != nil:
		return nil, err
	case b.Redo:
		return h.Redo()
	case b.Turns > 0:
		return h.Back(b.Turns, b.Scope)
	default:
		return h.Undo(b.To, b.Scope)
	}
}

// Apply plans b for the session of w, and carries the plan out within bounds, with the saved contents of files. Shared connects it with the
// workspaces that are open in the directory; nil: none are. Apply returns the plan also with an [*undo.ProblemsError] or [*undo.RefusedError].
func (b Back) Apply(
	ctx context.Context, store index.Store, w session.Writer, kept contents.Store, shared *workspace.Shared, bounds undo.Bounds,
) (*undo.Plan, error) {
	plan, err := b.Plan(ctx, store, w.Session(), bounds)
	if err != nil || b.DryRun {
		return plan, err
	}
	plan.Shared = shared
	return plan, plan.Apply(ctx, w, kept, b.Force)
}
