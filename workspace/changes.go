package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// watched is what is known of the files of the workspace, for commands: nobody says beforehand what they change.
type watched struct {
	mu      sync.Mutex
	active  int                // commands that are followed now
	records map[string]*record // by absolute path, as of the last look
	rules   map[string][]rule  // of each directory, as of the last baseline
	limits  scanLimits
	ledger  ledger
}

// scanLimits bound what following a command may cost.
type scanLimits struct {
	entries int           // files and directories of a tree; a larger one is not followed
	reading time.Duration // before a command, to keep what has not been kept yet
}

func (l scanLimits) withDefaults() scanLimits {
	return scanLimits{cmp.Or(l.entries, 200_000), cmp.Or(l.reading, 10*time.Second)}
}

// record is one file, directory or link as it was when it was looked at.
type record struct {
	stat  stat
	state State
	known bool // state has the content
	fresh bool // it was read so shortly after it had changed that a further change may have left no trace in stat
}

// stat is what tells that a file has changed, at the price of a look.
type stat struct {
	size, modified, changed int64
	number                  uint64
	mode                    fs.FileMode
}

func statOf(info fs.FileInfo) stat {
	s := stat{size: info.Size(), modified: info.ModTime().UnixNano(), mode: info.Mode()}
	s.changed, s.number = changedAt(info)
	return s
}

// track makes known what a command changes in the roots. It keeps what the files have now, as far as that is not kept yet. done
// must be called when the command has ended, once: it tells Changed what is different. Changes that several commands make at the
// same time are told by the first of them that is looked at. What ignore files exclude and what lies in .git is not followed.
//
// The note says in words what cannot be followed; it is empty when everything is. When the files cannot be kept, the error says so,
// and the command must not run.
func (w *Workspace) track(ctx context.Context) (done func(context.Context) error, note string, err error) {
	nothing := func(context.Context) error { return nil }
	if w.changed == nil || w.store == nil {
		return nothing, "", nil
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	trees, note := w.followed()
	if len(trees) == 0 {
		return nothing, note, nil
	}
	f := &w.watched
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.active > 0 {
		err = w.compare(ctx, trees)
	} else {
		err = w.baseline(ctx, trees)
	}
	if errors.Is(err, errTooMany) {
		if f.active == 0 { // who is followed already is compared with what was there before
			f.records = nil
		}
		return nothing, strings.TrimSpace(note + " " + err.Error()), nil
	}
	if err != nil {
		return nothing, note, err
	}
	command := &underWay{began: time.Now()}
	if w.label != nil {
		command.label = w.label(ctx)
	}
	if err := w.begun(command, trees); err != nil {
		return nothing, note, err
	}
	f.active++
	return func(ctx context.Context) error {
		w.writing.Lock()
		defer w.writing.Unlock()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.active--
		if err := w.compare(context.WithoutCancel(ctx), trees); err != nil {
			f.ledger.leave(command)
			return err
		}
		return w.over(command, trees)
	}, note, nil
}

// followed are the roots that are looked through: each once, and none that is a home directory or has one in it.
func (w *Workspace) followed() (trees []tree, note string) {
	home, err := os.UserHomeDir()
	if err == nil {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
	}
	for _, t := range slices.Backward(w.roots) { // those with short names first
		if _, hasHome := below(t.dir, home); home != "" && hasHome || t.dir == filepath.Dir(t.dir) {
			note = fmt.Sprintf("What commands change in %s is not followed: it is a home directory, or above one.", Quote(t.dir))
			continue
		}
		if !slices.ContainsFunc(trees, func(other tree) bool { _, inside := below(other.dir, t.dir); return inside }) {
			trees = append(trees, t)
		}
	}
	return trees, note
}

// baseline takes down what is there before a command. What others changed since the last look is no change of a command.
func (w *Workspace) baseline(ctx context.Context, trees []tree) error {
	f := &w.watched
	s := scan{Workspace: w, ctx: ctx, before: f.records, limits: f.limits.withDefaults()}
	defer s.close()
	if err := s.look(trees); err != nil {
		return err
	}
	if err := s.read(); err != nil {
		return fmt.Errorf("the files could not be kept before the command, so it was not run: %w", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // reading may have stopped half-way
	}
	f.ledger.moved(f.records, s.records)
	f.records, f.rules = s.records, s.rules
	return nil
}

// compare looks what is different from the last look, takes it down, and tells it.
func (w *Workspace) compare(ctx context.Context, trees []tree) error {
	f := &w.watched
	s := scan{Workspace: w, ctx: ctx, before: f.records, limits: f.limits.withDefaults(), old: f.rules, after: true}
	defer s.close()
	if err := s.look(trees); err != nil {
		return fmt.Errorf("what the command has changed could not be found out: %w", err)
	}
	if err := s.read(); err != nil {
		return fmt.Errorf("what the command has changed could not be read: %w", err)
	}
	if changes := s.changes(); len(changes) > 0 {
		// What was kept before the command is worth the wait only now.
		if err := w.store.Sync(); err != nil {
			return err
		}
		if err := w.changed(context.WithoutCancel(ctx), changes); err != nil {
			return err // the next look finds them again
		}
	}
	f.ledger.moved(f.records, s.records)
	f.records = s.records
	maps.Copy(f.rules, s.rules)
	return nil
}

// noteOwn takes down what a method of the workspace has changed while a command is followed: the command did not do it.
func (w *Workspace) noteOwn(changes func() []Change) {
	f := &w.watched
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.active == 0 {
		return
	}
	for _, c := range changes() {
		info, err := os.Lstat(c.Path)
		if c.After == nil || err != nil {
			delete(f.records, c.Path)
		} else {
			f.records[c.Path] = &record{stat: statOf(info), state: *c.After, known: true, fresh: true}
		}
		f.ledger.note(c.Path)
	}
	_ = w.writeDown(nil) // until the next time the journal tells the same
}
