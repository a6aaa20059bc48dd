package tui

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gofrs/flock"

	"github.com/tenon-agent/tenon/internal/tui/editor"
)

// unsent keeps the prompt that a person writes in a file, so that it survives the end of the process. Each directory has one file; the first
// terminal there has its lock. A prompt with a secret is not kept.
type unsent struct {
	path   string // empty: nothing is kept
	redact func(string) string
	lock   *flock.Flock // nil: not locked by this process
	saving bool
	dirty  bool // the prompt changed since it was saved
	writes *writes
}

// writes are those of the file. A save that is on when the terminal ends must not replace the last one.
type writes struct {
	mu   sync.Mutex
	over bool
}

const (
	saveAfter = 500 * time.Millisecond // from the first change
	mostKept  = 4 << 20                // bytes of a kept prompt
)

func newUnsent(o Options) unsent {
	if o.Config.History == "" {
		return unsent{}
	}
	name := fmt.Sprintf("%x.json", sha256.Sum256([]byte(o.Dir)))
	return unsent{path: filepath.Join(filepath.Dir(o.Config.History), "unsent", name), redact: o.Config.Redact, writes: new(writes)}
}

// load locks the file and brings its prompt back.
func (u *unsent) load() tea.Cmd {
	path := u.path
	if path == "" {
		return nil
	}
	return func() tea.Msg {
		lock := flock.New(path+".lock", flock.SetPermissions(0o600))
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
			return nil
		}
		if ok, err := lock.TryLock(); !ok || err != nil {
			return nil
		}
		var d editor.Draft
		if f, err := os.Open(path); err == nil {
			data, err := io.ReadAll(io.LimitReader(f, mostKept+1))
			if errors.Join(err, f.Close(), json.Unmarshal(data, &d)) != nil {
				d = editor.Draft{}
			}
		}
		return then(func(a *app) tea.Cmd {
			a.unsent.lock = lock
			if a.editor.Empty() && !d.Empty() {
				a.editor.SetValue(d)
				a.say("this prompt was not sent")
			} else if a.unsent.dirty {
				return a.unsent.changed()
			}
			return nil
		})
	}
}

// changed saves the prompt soon.
func (u *unsent) changed() tea.Cmd {
	if u.dirty = true; u.saving || u.lock == nil {
		return nil
	}
	u.saving = true
	return tea.Tick(saveAfter, func(time.Time) tea.Msg {
		return then(func(a *app) tea.Cmd {
			a.unsent.dirty = false
			keep, d := a.unsent, a.editor.Value()
			return func() tea.Msg {
				err := keep.save(d)
				return then(func(a *app) tea.Cmd {
					if a.unsent.saving = false; err != nil {
						a.fail(fmt.Errorf("cannot keep the unsent prompt: %w; check the permissions of the data directory", err))
						a.unsent.lock = nil
					} else if a.unsent.dirty {
						return a.unsent.changed()
					}
					return nil
				})
			}
		})
	})
}

// save writes the file, or removes it if there is nothing to keep.
func (u *unsent) save(d editor.Draft) error {
	u.writes.mu.Lock()
	defer u.writes.mu.Unlock()
	if u.writes.over {
		return nil
	}
	data, err := json.Marshal(d)
	text := d.Expanded()
	if err != nil || d.Empty() || len(data) > mostKept || u.redact != nil && u.redact(text) != text {
		if err := os.Remove(u.path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	next := u.path + ".tmp" // the lock is ours
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return err
	}
	return os.Rename(next, u.path)
}

// end saves the prompt for the last time.
func (u *unsent) end(d editor.Draft) {
	if u.lock != nil {
		_ = u.save(d) // the terminal is gone, and the prompt of a moment ago is on disk
		u.writes.mu.Lock()
		u.writes.over = true
		u.writes.mu.Unlock()
		_ = u.lock.Unlock()
		u.lock = nil
	}
}
