package workspace

import (
	"path/filepath"
	"strings"
)

// Tidy removes the temporary files that an earlier process of the same owner left behind where it changed these paths, also when
// there is nothing left to change. It does nothing without an owner.
func (w *Workspace) Tidy(names ...string) {
	w.writing.Lock()
	defer w.writing.Unlock()
	for _, name := range names {
		if p, err := w.entry(name); err == nil {
			w.sweep(p)
			p.close()
		}
	}
}

// sweep removes leftovers beside a place and above it, up to the root of its tree: a temporary file is in the nearest directory
// that was there. writing is held.
func (w *Workspace) sweep(p place) {
	if w.swept == nil || p.root == nil {
		return
	}
	for rel := p.rel; rel != "."; {
		rel = filepath.Dir(rel)
		dir := filepath.Join(p.dir, rel)
		if w.swept[dir] {
			continue
		}
		w.swept[dir] = true
		entries, err := p.list(rel)
		if err != nil {
			continue // it is not there
		}
		for _, entry := range entries {
			temp := filepath.Join(rel, entry.Name())
			if _, ours := w.underWay.Load(filepath.Join(p.dir, temp)); !ours && strings.HasPrefix(entry.Name(), w.temp) {
				_ = p.root.Remove(temp)
			}
		}
	}
}
