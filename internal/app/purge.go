package app

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
)

// purgingName is the directory in the data directory with an empty file for each session that is being purged, by ID: whoever is killed
// between the purge and the removal of what lies beside the store leaves it for others to go on.
const purgingName = "purging"

// Purge removes a session for ever, with all that belongs to it. A living writer's session is a [*session.LockedError].
func (a *App) Purge(ctx context.Context, id session.SessionID) error {
	mark := filepath.Join(a.dir, purgingName, string(id))
	err := os.MkdirAll(filepath.Dir(mark), 0o700)
	if err == nil {
		err = os.WriteFile(mark, nil, 0o600)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // which this is to make
		return fmt.Errorf("purge session %s: %w", id, err)
	}
	if err := a.Store.Purge(ctx, id); err != nil {
		return errors.Join(err, removeIfThere(mark))
	}
	return a.forget(id)
}

// forget removes what belongs to a session beside the store, and at last the mark that it is to be removed.
func (a *App) forget(id session.SessionID) error {
	for _, dir := range a.Places(id) {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return removeIfThere(filepath.Join(a.dir, purgingName, string(id)))
}

func removeIfThere(name string) error {
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Compact goes on with purges that were cut off, and gives the space of all that was purged back to the system. It says how many bytes
// the store is smaller. It may take a minute for gigabytes, and may be interrupted.
func (a *App) Compact(ctx context.Context) (freed int64, err error) {
	cut, err := a.cutOff(ctx)
	for _, id := range cut {
		err = errors.Join(err, a.forget(id))
	}
	if store, ok := a.Store.(interface {
		Compact(ctx context.Context) (int64, error)
	}); ok && err == nil {
		return store.Compact(ctx)
	}
	return 0, err
}

// cutOff are the sessions that were purged by processes that did not come to the end of it.
func (a *App) cutOff(ctx context.Context) (list []session.SessionID, err error) {
	ids, err := namedIn(filepath.Join(a.dir, purgingName))
	for _, id := range ids {
		if gone, err := a.gone(ctx, id); err != nil {
			return nil, err
		} else if gone { // else it may be about to be purged
			list = append(list, id)
		}
	}
	return list, err
}

// gone reports whether there is no such session, in the trash or not.
func (a *App) gone(ctx context.Context, id session.SessionID) (bool, error) {
	for _, err := range a.Store.Read(ctx, id, 0, session.Created{}.Kind()) {
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

// namedIn are the sessions that files in a directory are named after.
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

// Check is that of the store, and then looks for what belongs to no session beside it. What a purge has left goes with repair. Anything else
// stays: it may belong to a database that was put aside.
func (a *App) Check(ctx context.Context, repair bool) iter.Seq2[session.Problem, error] {
	return func(yield func(session.Problem, error) bool) {
		for p, err := range a.Store.Check(ctx, repair) {
			if !yield(p, err) || err != nil {
				return
			}
		}
		found, err := a.checkFiles(ctx, repair)
		for _, p := range found {
			if !yield(p, nil) {
				return
			}
		}
		if err != nil {
			yield(session.Problem{}, fmt.Errorf("check what is kept beside sessions: %w", err))
		}
	}
}

func (a *App) checkFiles(ctx context.Context, repair bool) (found []session.Problem, err error) {
	cut, err := a.cutOff(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range cut {
		p := session.Problem{Session: id, Part: session.PartFiles, Text: "it was purged, and what was kept beside it is still there"}
		if p.Fixed = repair; !repair {
			p.Advice = "check with repair"
		} else if err := a.forget(id); err != nil {
			return found, err
		}
		found = append(found, p)
	}
	for _, dir := range []string{filepath.Dir(a.checkpoints("x")), filepath.Dir(a.artifacts("x"))} {
		ids, err := namedIn(dir)
		if err != nil {
			return found, err
		}
		for _, id := range ids {
			if gone, err := a.gone(ctx, id); err != nil {
				return found, err
			} else if !gone || slices.Contains(cut, id) {
				continue
			}
			place := filepath.Join(dir, string(id))
			found = append(found, session.Problem{
				Session: id, Part: session.PartFiles, Text: "what was kept beside it is there, and the session is not",
				Advice: "put back the database that has it, or remove " + place,
			})
		}
	}
	return found, nil
}
