package workspace

import (
	"context"
	"errors"
	"time"
)

// ReadAll reads the rest of an open file.
var ReadAll = readAll

// WatchChanges and Track follow what changes, as commands do.
func (w *Workspace) WatchChanges(ctx context.Context, run func() error) (string, error) {
	done, note, err := w.commands.track(ctx)
	if err != nil {
		return note, err
	}
	err = run()
	_, failed := done(ctx)
	return note, errors.Join(err, failed)
}

func (w *Workspace) Track(ctx context.Context) (func(context.Context) error, string, error) {
	done, note, err := w.commands.track(ctx)
	return func(ctx context.Context) error { _, err := done(ctx); return err }, note, err
}

// LimitScans bounds what following commands may cost.
func (w *Workspace) LimitScans(entries int, reading time.Duration) {
	w.commands.limits = scanLimits{entries: entries, reading: reading}
}

// UseEvents lets looks use events of the kernel in trees of any size.
func (w *Workspace) UseEvents() { w.commands.limits.quiet = 1 }

// Quiet returns how many directories the look before the next command does not visit, as far as is known now.
func (w *Workspace) Quiet() (n int) {
	for _, watch := range w.commands.shared.watches {
		watch.mu.Lock()
		watch.quiet.begin()
		for dir := range watch.quiet.visits {
			if v := watch.quiet.visits[dir]; watch.quiet.unchanged(dir, v.above) != nil {
				n++
			}
		}
		watch.mu.Unlock()
	}
	return n
}

// Missed returns the changes since the look before the command that runs, as a look finds them that visits all directories.
func (w *Workspace) Missed(ctx context.Context) (missed []Change, err error) {
	f := w.commands.follower
	trees, _ := f.followed()
	watch := f.shared.watch(f, trees)
	s := watch.scan(ctx, f, false)
	s.quiet = nil
	defer s.close()
	if err := s.look(trees); err != nil {
		return nil, err
	}
	err = s.read()
	return s.changes(), err
}

// FailAt lets the nth step of a change fail, counted from 1. The returned figure is the number of steps so far.
func (w *Workspace) FailAt(n int, err error) (steps *int) {
	steps = new(int)
	w.edits.fail = func() error {
		if *steps++; *steps == n {
			return err
		}
		return nil
	}
	return steps
}

// ListSlowly is the names in a directory, as a walk finds them where it has no call that takes a whole path.
func (w *Workspace) ListSlowly(rel string) (names []string, err error) {
	entries, err := w.list(rel)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// NewJob is a job that runs until End is called.
func NewJob() *Job { return &Job{ended: make(chan struct{})} }

func (j *Job) End() JobStatus { return j.end(Finished{}, false) }

// ReadLink is what a look takes down of a link, and whether it knows where that leads.
func ReadLink(name string) (State, bool) {
	var r record
	r.readLink(name)
	return r.state, r.known
}
