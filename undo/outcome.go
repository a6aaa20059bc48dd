package undo

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// Outcomes decides the outcome of the calls during which the process of a session died, for tools that change files only by
// [workspace.Workspace.Apply], once in each call: changes reports whether a tool is one. The journal has the changes of such a call
// before a file changes. If it has none, nothing happened; otherwise the files show whether it happened. Each decided call gets its
// result. A call stays undecided if its files are neither what they were before nor what they would be after it, if they are out of bounds, or
// if the call was imported.
//
// w must be the lease of the session. Call Outcomes before the session is recovered: [view.Recover] leaves decided calls alone.
func Outcomes(ctx context.Context, store session.Log, w session.Writer, changes func(tool string) bool, bounds Bounds) error {
	path := view.Stored(store, w.Session(), "")
	lost, err := view.Recover(ctx, path, nil)
	if err != nil {
		return err
	}
	calls := map[string][]session.FileChange{} // of the undecided calls
	for _, b := range lost {
		if m, ok := b.(session.Message); ok && m.Outcome == session.OutcomeUnknown && changes(m.Tool) {
			calls[m.CallID] = nil
		}
	}
	if len(calls) == 0 {
		return nil
	}
	dir, err := announced(ctx, store, w.Session(), calls)
	if err != nil {
		return err
	}
	if len(calls) == 0 {
		return nil
	}
	look, err := newLooker(dir, bounds)
	if err != nil {
		return nil // without the directory, the outcome is unknown
	}
	defer look.close()
	var results []session.Body
	for _, b := range lost {
		m, ok := b.(session.Message)
		files, mine := calls[m.CallID]
		if !ok || !mine {
			continue
		}
		if result, known := look.outcome(llm.ToolCall{ID: m.CallID, Name: m.Tool}, files); known {
			results = append(results, result)
		}
	}
	run, err := lastRun(ctx, path)
	if err != nil || len(results) == 0 {
		return err
	}
	_, err = w.Append(ctx, session.Stamp{Run: run}, results...)
	return err
}

// lastRun returns the run that wrote last on a branch.
func lastRun(ctx context.Context, p view.Path) (session.RunID, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil || e.Run != "" {
			return e.Run, err
		}
	}
	return "", nil
}

// announced fills in the changes that the journal has for calls, and returns the directory of the session.
func announced(ctx context.Context, store session.Log, id session.SessionID, calls map[string][]session.FileChange) (dir string, err error) {
	kinds := []string{session.Created{}.Kind(), session.CallStarted{}.Kind(), session.FilesChanged{}.Kind()}
	for e, err := range store.Read(ctx, id, 0, kinds...) {
		if err != nil {
			return "", err
		}
		switch b := e.Body.(type) {
		case session.Created:
			dir = b.Dir
		case session.CallStarted:
			if _, ok := calls[b.Call]; ok {
				calls[b.Call] = nil // IDs of calls come again
			}
			if e.Imported {
				delete(calls, b.Call)
			}
		case session.FilesChanged:
			if _, ok := calls[b.Call]; ok && !e.Imported && b.Cause == session.ByTool && b.More == 0 {
				calls[b.Call] = append(calls[b.Call], b.Files...)
			}
		}
	}
	return dir, nil
}

// outcome returns the result of a call that announced changes of files, if the files show it.
func (l *looker) outcome(call llm.ToolCall, files []session.FileChange) (session.Message, bool) {
	var done, left []string
	for _, f := range files {
		f = renamed(f, unwritten)
		if isDir(f.After) {
			continue // a directory is made before the file in it
		}
		now, err := l.state(f.Path)
		name := workspace.Quote(l.ws.Rel(f.Path))
		switch {
		case err != nil:
			return session.Message{}, false
		case same(now, f.After):
			done = append(done, name)
		case same(now, f.Before):
			left = append(left, name)
		default:
			return session.Message{}, false
		}
	}
	slices.Sort(done)
	slices.Sort(left)
	switch {
	case len(done) == 0:
		return view.Result(call, session.OutcomeInterrupted,
			"This call changed nothing: the process ended before it changed a file. It can be called again."), true
	case len(left) == 0:
		m := session.Message{Message: llm.ToolText(call, "This call succeeded. The process ended before its result was recorded. It changed "+
			list(done)+".", false)}
		return m, true
	}
	return view.Result(call, session.OutcomeFailed, fmt.Sprintf(
		"This call was done in part: the process ended while it ran. It changed %s, and did not change %s.", list(done), list(left))), true
}

// list names files, the first of them if they are many.
func list(names []string) string {
	const most = 40
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more files", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// UnfinishedError reports that an undo or a redo was interrupted when its process died, and that its files have changed since, so that
// it cannot be finished without a decision.
type UnfinishedError struct {
	Session session.SessionID
	Files   []File
}

// Error implements [error].
func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("cannot finish an interrupted undo of session %s: %s: %s; run 'tenon undo %[1]s --force' to finish it, or 'tenon redo %[1]s' to revert it",
		e.Session, workspace.Quote(e.Files[0].Path), e.Files[0].Problem)
}

// Code returns "undo.unfinished".
func (e *UnfinishedError) Code() string { return "undo.unfinished" }

// Finish finishes the undo or redo of a session during which the process died, if nothing has happened since. Call it when a
// session is opened to continue it. The error is an [*UnfinishedError] if files of it have changed since, or are out of bounds now.
//
// w must be the lease of the session. Finish costs next to nothing if nothing was interrupted.
func Finish(ctx context.Context, store index.Store, w session.Writer, kept contents.Store, bounds Bounds) error {
	open, err := mayBeOpen(ctx, store, w.Session())
	if err != nil || !open {
		return err
	}
	h, err := Read(ctx, store, w.Session(), bounds)
	if err != nil {
		return err
	}
	o := h.interrupted()
	if o == nil {
		return nil
	}
	p, err := h.finish(o)
	if err != nil {
		return err
	}
	if problems := append(p.Problems(), p.Refused()...); len(problems) > 0 {
		return &UnfinishedError{h.Session, problems}
	}
	return p.Apply(ctx, w, kept, false)
}

// mayBeOpen looks at the end of a journal: an undo that was interrupted is there, with the step of the conversation after it.
func mayBeOpen(ctx context.Context, store session.Log, id session.SessionID) (bool, error) {
	after := int64(0)
	for e, err := range store.Backward(ctx, id, "") {
		if err != nil {
			return false, err
		}
		after = max(0, e.Seq-2)
		if _, fork := e.Body.(session.Created); fork {
			after = 0 // nothing of its own is on the branch
		}
		break
	}
	open := false
	for e, err := range store.Read(ctx, id, after, session.FilesChanged{}.Kind()) {
		if err != nil {
			return false, err
		}
		if b, ok := e.Body.(session.FilesChanged); ok && !e.Imported {
			open = (b.Cause == session.ByUndo || b.Cause == session.ByRedo) && len(b.Files) > 0
		}
	}
	return open, nil
}

// special reports whether a state is neither a file, a directory nor a link.
func special(s *session.FileState) bool {
	return fs.FileMode(s.Mode).Type()&^(fs.ModeDir|fs.ModeSymlink) != 0
}
