package workspace

import (
	"path/filepath"
	"strings"
)

// Tidy removes the temporary files that an earlier process of the same session left where it changed these paths. It does nothing without a
// session.
func (w *Workspace) Tidy(names ...string) {
	e := &w.edits
	e.shared.writing.Lock()
	defer e.shared.writing.Unlock()
	for _, name := range names {
		if p, err := e.entry(name); err == nil {
			e.sweep(p)
			p.close()
		}
	}
}

// sweep removes leftovers next to a place and above it, up to the root of its tree: a temporary file is in the nearest directory
// that was there. writing is held.
func (e *editor) sweep(p place) {
	if e.swept == nil || p.root == nil {
		return
	}
	for rel := p.rel; rel != "."; {
		rel = filepath.Dir(rel)
		dir := filepath.Join(p.dir, rel)
		if e.swept[dir] {
			continue
		}
		e.swept[dir] = true
		entries, err := p.list(rel)
		if err != nil {
			continue // it is not there
		}
		for _, entry := range entries {
			temp := filepath.Join(rel, entry.Name())
			if _, ours := e.shared.underWay.Load(filepath.Join(p.dir, temp)); !ours && strings.HasPrefix(entry.Name(), e.temp) {
				_ = p.root.Remove(temp)
			}
		}
	}
}
