package undo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// ProblemsError refuses a plan as a whole: some of its files must not or cannot change.
type ProblemsError struct{ Files []File }

// Error implements [error].
func (e *ProblemsError) Error() string {
	if len(e.Files) == 1 {
		return fmt.Sprintf("%s: %s; nothing was changed", workspace.Quote(e.Files[0].Path), e.Files[0].Problem)
	}
	return fmt.Sprintf("cannot restore %d files, such as %s: %s; nothing was changed",
		len(e.Files), workspace.Quote(e.Files[0].Path), e.Files[0].Problem)
}

// Code returns "undo.problems".
func (e *ProblemsError) Code() string { return "undo.problems" }

// RefusedError reports files that stayed because they are out of bounds. The rest of the plan is done.
type RefusedError struct{ Files []File }

// Error implements [error].
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%d of the files cannot change, such as %s: %s", len(e.Files), workspace.Quote(e.Files[0].Path), e.Files[0].Problem)
}

// Code returns "undo.refused".
func (e *RefusedError) Code() string { return "undo.refused" }

// refusal returns a [*RefusedError] if files of the plan are out of bounds.
func (p *Plan) refusal() error {
	if files := p.Refused(); len(files) > 0 {
		return &RefusedError{files}
	}
	return nil
}

// Apply carries out a plan: all of it or nothing. It writes the plan to the journal, changes the files, and then writes to the journal that
// the plan is done. If the process dies in between, the next undo or redo finishes it. With force, Apply overwrites files that another
// program or person changed, or may have changed, and leaves out files that cannot come back. Files out of bounds stay in any case: Apply
// does the rest, and then the error is a [*RefusedError].
//
// w must be the lease of the session since before the history was read.
func (p *Plan) Apply(ctx context.Context, w session.Writer, kept contents.Store, force bool) error {
	edits, err := p.edits(force)
	if err != nil {
		return err
	}
	r := recorder{plan: p, ctx: ctx, writer: w}
	if len(edits) == 0 && len(p.tidy) == 0 {
		return cmp.Or(r.finish(), p.refusal()) // the directory need not be there
	}
	ws, err := p.bounds.open(p.dir, workspace.Options{
		Checkpoints: kept, Session: string(p.Session), Shared: p.Shared, Changed: r.begin,
	})
	if err != nil {
		return err
	}
	defer ws.Close()
	ws.Tidy(p.tidy...)
	now := map[string]*session.FileState{}
	for _, f := range p.Files {
		now[f.Path] = f.Now
	}
	for i := range edits {
		edits[i].Check = func() error { return unchanged(ws, edits[i].Path, now[edits[i].Path]) }
	}
	if err := ws.Apply(ctx, edits); err != nil {
		return errors.Join(err, r.takeBack())
	}
	return cmp.Or(r.finish(), p.refusal())
}

// edits returns the edits of a workspace that carry out the plan.
func (p *Plan) edits(force bool) ([]workspace.Edit, error) {
	if problems := p.Problems(); len(problems) > 0 && !force {
		return nil, &ProblemsError{problems}
	}
	var edits []workspace.Edit
	for _, f := range p.Files {
		if f.Lost || f.Unsure && !force || f.Problem != "" && f.Now == nil && f.Want == nil {
			continue
		}
		e := workspace.Edit{Path: f.Path, Exact: true}
		if f.Want != nil {
			e.State = &workspace.State{Hash: f.Want.Hash, Size: f.Want.Size, Mode: fs.FileMode(f.Want.Mode), Link: f.Want.Link}
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// unchanged returns an error if a file has changed since the plan was made.
func unchanged(ws *workspace.Workspace, path string, was *session.FileState) error {
	now, err := ws.State(path)
	if err == nil && !same(stateOf(now), was) {
		err = fmt.Errorf("%s has just changed; try again", workspace.Quote(path))
	}
	return err
}

// recorder writes a plan to the journal.
type recorder struct {
	plan   *Plan
	ctx    context.Context
	writer session.Writer
	begun  session.ID // the first entry
}

func (r *recorder) cause() session.Cause {
	if r.plan.Redo {
		return session.ByRedo
	}
	return session.ByUndo
}

// begin is called before the first file changes. The same append has the change of the conversation: the journal has both, or none.
func (r *recorder) begin(ctx context.Context, changes []workspace.Change) error {
	body := Record("", changes)
	body.Cause, body.To = r.cause(), r.plan.To
	if r.plan.Finishes != "" {
		body.To = r.plan.Finishes
	}
	return r.append(ctx, body)
}

func (r *recorder) append(ctx context.Context, first ...session.Body) error {
	if r.plan.Head != "" {
		first = append(first, session.Head{To: r.plan.Head, Reason: r.plan.reason})
	}
	events, err := r.writer.Append(ctx, session.Stamp{}, first...)
	if err == nil && len(events) > 0 {
		r.begun = events[0].ID
	}
	return err
}

// finish records that the plan is done.
func (r *recorder) finish() error {
	id := r.plan.Finishes
	if id == "" {
		if r.begun == "" { // no file changed
			return r.append(r.ctx)
		}
		id = r.begun
	}
	_, err := r.writer.Append(context.WithoutCancel(r.ctx), session.Stamp{}, session.FilesChanged{Cause: r.cause(), To: id})
	return err
}

// takeBack records that an undo failed. A redo stays begun: it can be tried again.
func (r *recorder) takeBack() error {
	if r.begun == "" || r.plan.Finishes != "" || r.plan.Redo {
		return nil
	}
	bodies := []session.Body{session.FilesChanged{Cause: session.ByRedo, To: r.begun}}
	if r.plan.Head != "" {
		bodies = append(bodies, session.Head{To: r.plan.back, Reason: reasonRedo})
	}
	_, err := r.writer.Append(context.WithoutCancel(r.ctx), session.Stamp{}, bodies...)
	return err
}
