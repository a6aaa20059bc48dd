package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/gitdir"
	"github.com/tenon-agent/tenon/workspace/internal/baseline"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// follower makes known what the commands of one session change.
type follower struct {
	*boundary
	shared  *Shared
	session string
	kept    contents.Store
	changed func(ctx context.Context, changes []Change) error
	label   func(context.Context) string
	guard   func() *gitdir.Guard // of git repositories; nil: there is none
	token   func() string        // of the marks of commands
	limits  scanLimits
}

// watch is the files of some directories as they were at the last look, for the commands of all sessions that look at them: no command
// declares what it changes.
type watch struct {
	shared *Shared
	key    string

	// Of the mutex of shared:
	users   map[*follower]bool
	running map[*follower]int // commands
	others  map[string]bool   // sessions of other watches whose commands ran since the last look

	mu       sync.Mutex
	active   int                // commands that are followed now
	commands []*underWay        // also those whose changes could not be reported
	records  map[string]*record // by absolute path, as of the last look
	rules    map[string][]rule  // of each directory, as of the last baseline
	book     ledger
	quiet    quiet
}

// underWay is a command that has begun.
type underWay struct {
	session, label, token string

	began time.Time
	ctx   context.Context // of its start, for Changed
	by    *follower
	left  bool // it has ended, and its changes could not be reported

	linked []string // changed files with other names, which may lie outside of the workspace
}

// scanLimits bound the cost of following a command.
type scanLimits struct {
	entries int           // files and directories of a tree; a larger one is not followed
	reading time.Duration // before a command, to keep what has not been kept yet
	quiet   int           // files and directories from which on events of the kernel pay: a look at fewer takes a few milliseconds
}

func (l scanLimits) withDefaults() scanLimits {
	return scanLimits{cmp.Or(l.entries, 200_000), cmp.Or(l.reading, 10*time.Second), cmp.Or(l.quiet, 2000)}
}

// record is one file, directory or link as it was at a look.
type record struct {
	stat  stat
	state State
	known bool // state has the content
	fresh bool // it was read so shortly after a change that a further change may have left no trace in stat
}

// stat shows that a file has changed, at the price of a look.
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

// track makes known what a command changes in the roots. It keeps the contents of the files, if they are not kept yet. The caller calls
// done when the command has ended, once: it reports the differences, and returns the changed files with hard links. Changes that several commands of one session make at the same time
// are reported for the first of them that ends, or for the oldest when another begins. Ignored files and .git are not followed.
//
// The note says what cannot be followed; it is empty if everything is. If the files cannot be kept there is an error, and the command must
// not run.
func (f *follower) track(ctx context.Context) (done func(context.Context) (linked []string, err error), note string, err error) {
	nothing := func(context.Context) ([]string, error) { return nil, nil }
	if f.changed == nil || f.kept == nil {
		return nothing, "", nil
	}
	f.shared.writing.RLock()
	defer f.shared.writing.RUnlock()
	trees, note := f.followed()
	if len(trees) == 0 {
		return nothing, note, nil
	}
	w := f.shared.watch(f, trees)
	w.mu.Lock()
	defer w.mu.Unlock()
	f.shared.begins(w, f) // before the look: it overlaps with what another command changes during it
	ends := true
	defer func() {
		if ends {
			f.shared.ends(w, f)
		}
	}()
	if w.active > 0 {
		err = w.compare(ctx, f, nil, trees)
	} else {
		err = w.begin(ctx, f, trees)
	}
	if errors.Is(err, errTooMany) {
		if w.active == 0 { // commands that are followed are compared with what was there before
			w.records = nil
			w.quiet.forget()
		}
		return nothing, strings.TrimSpace(note + " " + err.Error()), nil
	}
	if err != nil {
		return nothing, note, err
	}
	c := &underWay{session: f.session, token: f.token(), began: time.Now(), ctx: context.WithoutCancel(ctx), by: f}
	if f.label != nil {
		c.label = f.label(ctx)
	}
	if err := w.begun(c, trees); err != nil {
		return nothing, note, err
	}
	w.active++
	ends = false
	return func(ctx context.Context) ([]string, error) { err := w.done(ctx, c, trees); return c.linked, err }, note, nil
}

// done reports the changes of a command that has ended.
func (w *watch) done(ctx context.Context, c *underWay, trees []tree) error {
	w.shared.writing.RLock()
	defer w.shared.writing.RUnlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.shared.ends(w, c.by)
	err := w.compare(context.WithoutCancel(ctx), c.by, c, trees)
	w.active--
	if c.left = err != nil; !c.left {
		w.commands = slices.DeleteFunc(w.commands, func(other *underWay) bool { return other == c })
		err = w.writeDown(trees)
	}
	if w.active > 0 {
		return err
	}
	if w.book.rest(); len(w.commands) > 0 {
		err = errors.Join(err, w.close()) // the next process that opens their session reports them
	}
	return err
}

// followed returns the roots that are looked through: each once, and none that is a home directory or above one.
func (b *boundary) followed() (trees []tree, note string) {
	home, err := os.UserHomeDir()
	if err == nil {
		home = paths.Once().Guess(home).Path
	}
	for _, t := range slices.Backward(b.roots) { // those with short names first
		if home != "" && paths.Inside(t.dir, home) || t.dir == filepath.Dir(t.dir) {
			note = fmt.Sprintf("Changes that commands make in %s are not followed: it is a home directory, or above one.", Quote(t.dir))
			continue
		}
		if !slices.ContainsFunc(trees, func(other tree) bool { return paths.Inside(other.dir, t.dir) }) {
			trees = append(trees, t)
		}
	}
	return trees, note
}

// scan returns a look at the files for a session. It must be closed.
func (w *watch) scan(ctx context.Context, f *follower, after bool) *scan {
	s := &scan{ctx: ctx, policy: &f.policy, guard: f.guard(), base: w.book.base, before: w.records, limits: f.limits.withDefaults(), after: after, quiet: &w.quiet}
	if after {
		s.old = w.rules
	}
	return s
}

// begin records the files before a command. What others changed since the last look is no change of a command.
func (w *watch) begin(ctx context.Context, f *follower, trees []tree) (err error) {
	if w.book.base == nil {
		if w.book.base, err = baseline.Create(w.shared.Baselines); err != nil {
			return fmt.Errorf("cannot keep the files before the command, so it was not run: %w", err)
		}
	}
	s := w.scan(ctx, f, false)
	defer s.close()
	if err := s.look(trees); err != nil {
		return err
	}
	if err := s.read(); err != nil {
		return fmt.Errorf("cannot keep the files before the command, so it was not run: %w", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx) // reading may have stopped early
	}
	w.book.moved(s)
	w.records, w.rules = s.records, s.rules
	w.quiet.keep(s)
	return nil
}

// compare looks for differences from the last look, and reports them to the sessions with commands under way: at the end of a command, or
// when a further command of a session begins.
func (w *watch) compare(ctx context.Context, f *follower, ended *underWay, trees []tree) error {
	s := w.scan(ctx, f, true)
	defer s.close()
	if err := s.look(trees); err != nil {
		return fmt.Errorf("cannot find out what the command has changed: %w", err)
	}
	if err := s.read(); err != nil {
		return fmt.Errorf("cannot read what the command has changed: %w", err)
	}
	if changes := s.changes(); len(changes) > 0 {
		if ended != nil {
			ended.linked = linked(changes)
		}
		if all, own := w.report(ctx, f, ended, changes); own != nil || all != nil {
			return own // the next look finds them again
		}
	}
	w.book.moved(s)
	w.records = s.records
	maps.Copy(w.rules, s.rules)
	w.quiet.keep(s)
	w.shared.looked(w)
	return nil
}

// linked returns the files that were written in place and have further names: hard links. The names are not known.
func linked(changes []Change) (names []string) {
	for _, c := range changes {
		if info, err := os.Lstat(c.Path); c.Before != nil && c.After != nil && err == nil && info.Mode().IsRegular() && links(info) > 1 {
			names = append(names, c.Path)
		}
	}
	return names
}

// report reports changes to all sessions with commands under way. The errors are any, and that of the session that looks.
func (w *watch) report(ctx context.Context, f *follower, ended *underWay, changes []Change) (any, own error) {
	sessions := w.shared.overlapping(w)
	commands := map[*follower]*underWay{} // the one of each session for which the changes are reported: of those that run, the first is as likely as any
	for _, c := range w.commands {
		if !slices.Contains(sessions, c.session) {
			sessions = append(sessions, c.session)
		}
		if commands[c.by] == nil && !c.left {
			commands[c.by] = c
		}
	}
	if ended != nil {
		commands[ended.by] = ended
	}
	slices.Sort(sessions)
	for by, c := range commands {
		mine := slices.Clone(changes)
		others := slices.DeleteFunc(slices.Clone(sessions), func(name string) bool { return name == c.session })
		for i := range mine {
			if len(others) > 0 {
				mine[i].Unsure = overlapped(others)
			}
		}
		err := keepBefore(ctx, w.book.base, by.kept, mine)
		if err == nil {
			err = by.changed(c.ctx, mine)
		}
		if any = errors.Join(any, err); by == f {
			own = err
		}
	}
	return any, own
}

// overlapped is the reason why a change may be another session's.
func overlapped(sessions []string) string {
	return "a command of session " + strings.Join(sessions, " and ") + " ran at the same time"
}

// keepBefore copies the contents before changes from a baseline to the store of a session.
func keepBefore(ctx context.Context, base *baseline.Baseline, store contents.Store, changes []Change) error {
	var from []io.Reader
	var states []*State
	for i := range changes {
		s := changes[i].Before
		if s == nil || !s.Mode.IsRegular() || s.Lost != "" || s.Hash == "" {
			continue
		}
		own := *s
		changes[i].Before = &own
		if !base.Has(own.Hash) {
			if r, err := store.Open(ctx, own.Hash); err == nil {
				r.Close()
				continue
			}
			own.Lost = "its content is missing"
			continue
		}
		from, states = append(from, base.Open(own.Hash)), append(states, &own)
	}
	if len(from) == 0 {
		return nil
	}
	kept, err := store.Put(ctx, from...)
	if err != nil {
		return fmt.Errorf("cannot keep the files before the changes of the command: %w", err)
	}
	for i, k := range kept {
		states[i].Lost = k.Lost
	}
	return nil
}

// noteOwn records what a method of a workspace has changed while commands are followed: the commands did not make the change.
func (w *watch) noteOwn(changes func() []Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active == 0 {
		return
	}
	for _, c := range changes() {
		info, err := os.Lstat(c.Path)
		if c.After == nil || err != nil {
			delete(w.records, c.Path)
		} else {
			w.records[c.Path] = &record{stat: statOf(info), state: *c.After, known: true, fresh: true}
		}
		w.book.note(c.Path)
		w.quiet.disturb(filepath.Dir(c.Path))
	}
	_ = w.writeDown(nil) // until the next time the journal has the same
}

// close ends the watch. Its baseline stays if it has commands that were not reported.
func (w *watch) close() error {
	w.book.rest()
	w.quiet.close()
	base, keep := w.book.base, len(w.commands) > 0
	w.book, w.commands, w.records, w.rules = ledger{}, nil, nil, nil
	if base == nil {
		return nil
	}
	return base.Close(keep)
}
