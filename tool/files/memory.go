package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// memory is a workspace, and what the model knows of its files.
type memory struct {
	ws *workspace.Workspace

	mu    sync.Mutex
	files map[string]knowledge // by absolute path
}

// version is the hash of a file's content.
type version [sha256.Size]byte

func (v version) String() string { return hex.EncodeToString(v[:]) }

func parseVersion(text string) (v version, ok bool) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(v) {
		return v, false
	}
	return version(data), true
}

type knowledge struct {
	version
	whole bool   // the model read or wrote all of it
	lines int    // of the whole file, if the model read some
	spans []span // the lines that the model read, sorted and apart from each other
}

type span struct{ first, last int }

// add joins lines to the known ones.
func (k *knowledge) add(s span) {
	if s.first == 0 {
		return
	}
	spans := append(slices.Clone(k.spans), s)
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	k.spans = spans[:1]
	for _, s := range spans[1:] {
		last := &k.spans[len(k.spans)-1]
		if s.first <= last.last+1 {
			last.last = max(last.last, s.last)
			continue
		}
		k.spans = append(k.spans, s)
	}
	k.whole = k.whole || len(k.spans) == 1 && k.spans[0] == span{1, k.lines}
}

// shown records what a read showed.
func (m *memory) shown(abs string, v version, s Shown) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[abs] = m.files[abs].with(v, s)
}

// with returns the knowledge of the model after a read.
func (k knowledge) with(v version, s Shown) knowledge {
	if k.version != v {
		k = knowledge{version: v}
	}
	k.lines, k.whole, k.spans = s.Lines, k.whole || s.Whole, slices.Clone(k.spans)
	if s.Unit == "" && !s.Cut {
		k.add(span{s.First, s.Last})
	}
	return k
}

// wrote records a version that the model made. The result takes the record back, unless a later one replaced it.
func (m *memory) wrote(abs string, v version, whole bool) (undo func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, had := m.files[abs]
	m.files[abs] = knowledge{version: v, whole: whole}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		switch {
		case m.files[abs].version != v:
		case had:
			m.files[abs] = before
		default:
			delete(m.files, abs)
		}
	}
}

func (m *memory) knows(abs string) (knowledge, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.files[abs]
	return k, ok
}

// fresh returns an error unless the model has read version v of a file: all of it, or any part.
func (m *memory) fresh(name, abs string, v version, whole bool) error {
	k, ok := m.knows(abs)
	name = workspace.Quote(name)
	switch {
	case !ok:
		return tool.Codef("tool.unread", "%s exists and was not read yet; read it first, then change it", name)
	case k.version != v:
		return tool.Codef("tool.changed", "%s has changed since it was read; read it again, then change it", name)
	case !whole || k.whole:
		return nil
	case len(k.spans) == 1 && k.lines > 0:
		return tool.Codef("tool.unread", "%s was read only in part (lines %d-%d of %d); read the rest before you replace all of it, or change parts of it",
			name, k.spans[0].first, k.spans[0].last, k.lines)
	}
	return tool.Codef("tool.unread", "%s was not read whole; read all of it before you replace it, or change parts of it", name)
}

func (m *memory) recallShown(s Shown) {
	abs, err := m.ws.Resolve(s.Path)
	if v, ok := parseVersion(s.Hash); ok && err == nil {
		m.shown(abs, v, s)
	}
}

func (m *memory) recallChange(c Change) {
	for _, name := range []string{c.From, c.Path} {
		if abs, err := m.ws.Resolve(name); name != "" && err == nil {
			m.mu.Lock()
			delete(m.files, abs)
			m.mu.Unlock()
		}
	}
	abs, err := m.ws.Resolve(c.Path)
	if v, ok := parseVersion(c.Hash); ok && err == nil {
		m.wrote(abs, v, c.Whole)
	}
}

// current returns the present version of a file; ok is false if there is no file.
func (m *memory) current(name string) (v version, ok bool, err error) {
	f, err := m.ws.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return v, false, err
	}
	return version(hash.Sum(nil)), true, nil
}

// explain adds to an error about a path what the model can do: similar paths, or another tool.
func (m *memory) explain(ctx context.Context, name string, err error) error {
	if _, ok := errors.AsType[*workspace.DirectoryError](err); ok {
		return tool.Codef("workspace.directory", "%s is a directory; list it with glob, or with ls in shell", workspace.Quote(name))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return tool.NotFound(ctx, m.ws, name, workspace.Quote)
	}
	return err
}
