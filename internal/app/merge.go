package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// Merge brings the changes of a worktree into the project, as a call of a person in the session that made it: undo reverts them. agree gets the
// plan before anything changes; its error ends Merge. With marks, conflicts get their texts with markers. The error is a
// [*session.LockedError] while another process has the session open.
func (a *App) Merge(ctx context.Context, w *worktree.Worktree, marks bool, owner string, agree func(*worktree.Merge) error) (err error) {
	id := session.SessionID(w.Owner)
	writer, err := a.Store.Open(ctx, id, session.Lease{Owner: owner})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Close()) }()
	plan, err := w.Merge(ctx)
	if err == nil {
		err = agree(plan)
	}
	if err != nil {
		return err
	}
	o, err := a.Bounds(w.Root)
	if err != nil {
		return err
	}
	arguments, _ := json.Marshal(map[string]any{"worktree": w.Name, "marks": marks}) // a text and a truth value always encode
	call := llm.ToolCall{ID: string(session.NewID()), Name: "merge", Arguments: string(arguments)}
	settled, err := view.Settle(ctx, view.Stored(a.Store, id, ""))
	if err != nil {
		return err
	}
	began := session.CallStarted{Call: call.ID, Tool: call.Name, Title: "merge " + w.Name, Arguments: arguments}
	if _, err := writer.Append(ctx, session.Stamp{}, append(settled, began)...); err != nil {
		return err
	}
	kept := a.Checkpoints(id)
	o.Checkpoints, o.Session = kept, string(id)
	o.Changed = func(ctx context.Context, changes []workspace.Change) error {
		_, err := writer.Append(ctx, session.Stamp{}, undo.Record(call.ID, changes))
		return err
	}
	merged := inWorkspace(w.Root, o, func(ws *workspace.Workspace) error { return plan.Apply(ctx, ws, kept, marks) })
	outcome, text := session.OutcomeOK, fmt.Sprintf("The changes of worktree %s are in the project: %d files, %d conflicts.", w.Name, len(plan.Files), len(plan.Conflicts))
	if merged != nil {
		outcome, text = session.OutcomeFailed, merged.Error()
	}
	result := session.Message{Message: llm.ToolText(call, text, merged != nil), Outcome: outcome}
	_, err = writer.Append(context.WithoutCancel(ctx), session.Stamp{}, view.Ran(call, result))
	return errors.Join(merged, err)
}

// inWorkspace does something in a workspace.
func inWorkspace(dir string, o workspace.Options, do func(*workspace.Workspace) error) error {
	ws, err := workspace.Open(dir, o)
	if err != nil {
		return err
	}
	return errors.Join(do(ws), ws.Close())
}
