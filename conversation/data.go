package conversation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Data is a store of sessions and a directory with the files that belong to them: the contents that undo restores, artifacts and long outputs.
type Data struct {
	Store  index.Store
	Dir    string
	Owner  string      // for the processes that find a session locked
	Bounds undo.Bounds // of undo; nil: the directory of a session
}

// The directories in [Data.Dir]. In the first, each session has a directory with its ID as the name. The second has the state of files before
// commands, while these run. In the third, each session that is being purged has an empty file: if the process dies between the purge and the
// removal of the files, another process continues.
const (
	ContentsName  = "contents"
	BaselinesName = "baselines"
	purgingName   = "purging"
)

// Contents is the directory of the contents of a session: files from before changes, artifacts, long outputs and the
// temporary files of commands. It need not exist.
func (d *Data) Contents(id session.SessionID) string {
	return filepath.Join(d.Dir, ContentsName, string(id))
}

// Baselines is the directory of the state of files before commands; see [workspace.Shared].
func (d *Data) Baselines() string { return filepath.Join(d.Dir, BaselinesName) }

// Checkpoints returns the contents of the files that a session changed, from before the changes.
func (d *Data) Checkpoints(id session.SessionID) contents.Store {
	return contents.NewDir(filepath.Join(d.Contents(id), "files"), contents.Options{})
}

// Rewind carries out b in a session that this process does not have open, or plans it. The error is a [*session.LockedError] if another
// process has the session open, unless l takes it over. show receives the plan with the saved contents, and an [*undo.ProblemsError] or an
// [*undo.RefusedError].
func (d *Data) Rewind(
	ctx context.Context, id session.SessionID, b Back, l session.Lease, show func(*undo.Plan, contents.Store, error) error,
) (err error) {
	kept := d.Checkpoints(id)
	if err := d.Recover(ctx, id, kept); err != nil {
		return err
	}
	var plan *undo.Plan
	if b.DryRun {
		plan, err = b.Plan(ctx, d.Store, id, d.Bounds)
	} else {
		w, e := d.Store.Open(ctx, id, l) // before it reads the history, so that no other process adds to it
		if e != nil {
			return e
		}
		defer func() { err = errors.Join(err, w.Close()) }()
		plan, err = b.Apply(ctx, d.Store, w, kept, nil, d.Bounds)
	}
	_, problems := errors.AsType[*undo.ProblemsError](err)
	if _, refused := errors.AsType[*undo.RefusedError](err); err != nil && !problems && !refused {
		return err
	}
	return show(plan, kept, err)
}

// Recover records the changes of the commands that ran when the process of a session died. If another process has the session open,
// Recover does nothing. It changes no files of the project.
func (d *Data) Recover(ctx context.Context, id session.SessionID, kept contents.Store) error {
	if !workspace.MayRecover(d.Baselines(), string(id)) {
		return nil
	}
	return d.leased(ctx, id, func(w session.Writer) error { return undo.Recover(ctx, d.Store, w, d.Baselines(), kept) })
}

// Complete prepares a session to be resumed: it does the work of Recover, decides the outcome of interrupted calls that change files, and
// finishes an interrupted undo, within bounds.
func (d *Data) Complete(ctx context.Context, id session.SessionID, kept contents.Store, bounds undo.Bounds) error {
	return d.leased(ctx, id, func(w session.Writer) error {
		if err := undo.Recover(ctx, d.Store, w, d.Baselines(), kept); err != nil {
			return err
		}
		if err := undo.Outcomes(ctx, d.Store, w, files.Changes, bounds); err != nil {
			return err
		}
		return undo.Finish(ctx, d.Store, w, kept, bounds)
	})
}

// leased calls do with the lease of a session, unless another process has it.
func (d *Data) leased(ctx context.Context, id session.SessionID, do func(session.Writer) error) error {
	w, err := d.Store.Open(ctx, id, session.Lease{Owner: d.Owner})
	if _, locked := errors.AsType[*session.LockedError](err); locked {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(do(w), w.Close())
}

// Purge deletes a session permanently, with its files. The error is a [*session.LockedError] if a process has the session open.
func (d *Data) Purge(ctx context.Context, id session.SessionID) error {
	mark := filepath.Join(d.Dir, purgingName, string(id))
	err := os.MkdirAll(filepath.Dir(mark), 0o700)
	if err == nil {
		err = os.WriteFile(mark, nil, 0o600)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // the purge frees space
		return fmt.Errorf("cannot purge session %s: %w", id, err)
	}
	if err := d.Store.Purge(ctx, id); err != nil {
		return errors.Join(err, removeIfThere(mark))
	}
	return d.forget(id)
}

// forget removes the files of a session, and then the mark of its purge.
func (d *Data) forget(id session.SessionID) error {
	if err := errors.Join(sandbox.RemoveAll(d.Contents(id)), workspace.Forget(d.Baselines(), string(id))); err != nil {
		return err
	}
	return removeIfThere(filepath.Join(d.Dir, purgingName, string(id)))
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Compact finishes interrupted purges and frees the disk space of purged sessions. It returns by how many bytes the store shrank. It can
// take a minute for gigabytes, and can be interrupted.
func (d *Data) Compact(ctx context.Context) (freed int64, err error) {
	cut, err := d.interrupted(ctx)
	for _, id := range cut {
		err = errors.Join(err, d.forget(id))
	}
	if store, ok := d.Store.(interface {
		Compact(ctx context.Context) (int64, error)
	}); ok && err == nil {
		return store.Compact(ctx)
	}
	return 0, err
}

// interrupted returns the sessions whose purge did not finish. A mark of a session that exists is of a purge that may be about to begin.
func (d *Data) interrupted(ctx context.Context) (list []session.SessionID, err error) {
	ids, err := namedIn(filepath.Join(d.Dir, purgingName))
	for _, id := range ids {
		if gone, err := d.gone(ctx, id); err != nil {
			return nil, err
		} else if gone {
			list = append(list, id)
		}
	}
	return list, err
}

// gone reports whether there is no such session, in the trash or elsewhere.
func (d *Data) gone(ctx context.Context, id session.SessionID) (bool, error) {
	for _, err := range d.Store.Read(ctx, id, 0, session.Created{}.Kind()) {
		if errors.Is(err, session.ErrNotFound) {
			return true, nil
		}
		if errors.Is(err, session.ErrCorrupt) {
			return false, nil
		}
		return false, err
	}
	return false, nil
}

// namedIn returns the sessions whose IDs are the file names in a directory.
func namedIn(dir string) (ids []session.SessionID, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		ids = append(ids, session.SessionID(f.Name()))
	}
	return ids, err
}

// Check checks the store, and then looks for files that belong to no session. With repair, it removes the remains of purges. Other files
// stay, because they may belong to a database that a person put aside.
func (d *Data) Check(ctx context.Context, repair bool) iter.Seq2[index.Problem, error] {
	return func(yield func(index.Problem, error) bool) {
		for p, err := range d.Store.Check(ctx, repair) {
			if !yield(p, err) || err != nil {
				return
			}
		}
		found, err := d.checkFiles(ctx, repair)
		for _, p := range found {
			if !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(index.Problem{}, fmt.Errorf("cannot check the files of sessions: %w", err))
		}
	}
}

func (d *Data) checkFiles(ctx context.Context, repair bool) (found []index.Problem, err error) {
	cut, err := d.interrupted(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range cut {
		p := index.Problem{Session: id, Part: index.PartFiles, Text: "the session was purged, and its files remain"}
		if p.Fixed = repair; !repair {
			p.Advice = "check with repair"
		} else if err := d.forget(id); err != nil {
			return found, err
		}
		found = append(found, p)
	}
	ids, err := namedIn(filepath.Join(d.Dir, ContentsName))
	for _, id := range ids {
		if gone, err := d.gone(ctx, id); err != nil {
			return found, err
		} else if !gone || slices.Contains(cut, id) {
			continue
		}
		found = append(found, index.Problem{
			Session: id, Part: index.PartFiles, Text: "the files of the session remain, and the session does not exist",
			Advice: "restore the database with the session, or remove " + d.Contents(id),
		})
	}
	return found, err
}
