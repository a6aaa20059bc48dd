// Package state keeps facts that expire for later processes: which keys rest, which model of a pool answers, which summaries failed.
// They only save requests, so a missing, damaged or unreadable file has no facts, and a fact is lost if Tenon cannot write it.
package state

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// The beginnings of the names of facts, and their longest time.
const (
	Rest    = "rest "    // a key rests: its provider, its name, its mark, the model
	Pick    = "pick "    // the model in Text answers instead of the first one: the references of the pool
	Summary = "summary " // the last Count summaries failed: the session

	Longest = 24 * time.Hour // until a fact expires, whatever the file says
)

// Fact is an entry of a [File].
type Fact struct {
	At    time.Time `json:"at"`    // when Tenon learned it
	Until time.Time `json:"until"` // when it expires
	Text  string    `json:"text"`
	Count int       `json:"count,omitzero"`
}

// File is the facts of a data directory by name. It is safe for concurrent use, also by several processes. The zero File keeps nothing.
type File struct{ path string }

// In returns the facts of a data directory; without one, the zero File. It does not access the directory.
func In(dir string) File {
	if dir == "" {
		return File{}
	}
	return File{filepath.Join(dir, "state.json")}
}

// Facts returns the facts that have not expired.
func (f File) Facts() map[string]Fact {
	in, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // with O_NONBLOCK, open does not wait for the writer of a pipe
	facts := map[string]Fact{}
	if err != nil || json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&facts) != nil || facts == nil {
		facts = map[string]Fact{}
	}
	_ = in.Close()
	now := time.Now()
	for name, fact := range facts {
		if fact.At.After(now) { // the clock was ahead
			fact.At, fact.Until = now, fact.Until.Add(now.Sub(fact.At))
		}
		if most := now.Add(Longest); fact.Until.After(most) {
			fact.Until = most
		}
		facts[name] = fact
	}
	maps.DeleteFunc(facts, func(_ string, fact Fact) bool { return !now.Before(fact.Until) })
	return facts
}

// Set replaces a fact. The zero Fact removes it. If another process writes for more than a second, Set does nothing.
func (f File) Set(name string, fact Fact) {
	if _, there := f.Facts()[name]; f.path == "" || fact == (Fact{}) && !there {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	lock := flock.New(f.path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return
	}
	defer lock.Close()
	facts := f.Facts()
	if delete(facts, name); fact != (Fact{}) {
		facts[name] = fact
	}
	data, err := json.MarshalIndent(facts, "", "\t")
	next := f.path + ".tmp" // of the holder of the lock, or left by a process that died
	if err != nil || os.WriteFile(next, data, 0o600) != nil || os.Rename(next, f.path) != nil {
		_ = os.Remove(next)
	}
}

// Forget removes the facts whose names begin with prefix.
func (f File) Forget(prefix string) {
	for name := range f.Facts() {
		if strings.HasPrefix(name, prefix) {
			f.Set(name, Fact{})
		}
	}
}
