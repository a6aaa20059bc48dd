package complete

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/workspace"
)

// Lister yields the files of a project, directories with a slash at their end. It ends when ctx ends.
type Lister func(ctx context.Context) iter.Seq[string]

// Walk lists the files of a workspace that its ignore files do not exclude.
func Walk(w *workspace.Workspace) Lister {
	return func(ctx context.Context) iter.Seq[string] {
		return func(yield func(string) bool) {
			for entry, err := range w.Walk(ctx, ".", workspace.WalkOptions{}) {
				if err != nil || strings.ContainsFunc(entry.Path, func(r rune) bool { return r < ' ' }) {
					continue
				}
				path := entry.Path
				if entry.Type.IsDir() {
					path += "/"
				}
				if !yield(path) {
					return
				}
			}
		}
	}
}

// Files is the list of files that @ completes. It belongs to one goroutine; its commands run on others.
type Files struct {
	list Lister
	dir  string // relative paths start here

	paths  []string // elements never change
	fresh  []string
	run    *listing // nil if no listing is in progress
	listed time.Time

	asked, answered int // searches, by number
}

// NewFiles returns an empty list of the project in a directory. The first Refresh fills it.
func NewFiles(dir string, list Lister) *Files { return &Files{list: list, dir: dir} }

// Bounds of a list.
const (
	maxFiles   = 200_000
	perBatch   = 8192
	batchTime  = 30 * time.Millisecond
	staleAfter = 10 * time.Second
)

// listing is a walk that continues when its next batch is wanted.
type listing struct {
	mu     sync.Mutex // held by the command that continues the walk
	cancel context.CancelFunc
	next   func() (string, bool)
	stop   func()
}

// Listed is a batch of a listing. Files.Update takes it.
type Listed struct {
	of    *listing
	paths []string
	done  bool
}

// Refresh lists the files again if the list is stale.
func (f *Files) Refresh(now time.Time) tea.Cmd {
	if f.run != nil || !f.listed.IsZero() && now.Sub(f.listed) < staleAfter {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	next, stop := iter.Pull(f.list(ctx))
	f.fresh, f.run = nil, &listing{cancel: cancel, next: next, stop: stop}
	return f.run.batch
}

// batch continues the walk.
func (l *listing) batch() tea.Msg {
	l.mu.Lock()
	defer l.mu.Unlock()
	msg := Listed{of: l}
	for begun := time.Now(); len(msg.paths) < perBatch && (len(msg.paths)%64 != 0 || time.Since(begun) < batchTime); {
		path, ok := l.next()
		if !ok {
			msg.done = true
			break
		}
		msg.paths = append(msg.paths, path)
	}
	return msg
}

// Update adds a batch and continues the listing.
func (f *Files) Update(msg Listed) tea.Cmd {
	if f.run == nil || msg.of != f.run {
		return nil
	}
	first := f.listed.IsZero()
	f.fresh = append(f.fresh, msg.paths...)
	if done := msg.done || len(f.fresh) >= maxFiles; done || first {
		f.paths = f.fresh[:min(len(f.fresh), maxFiles)]
		if done {
			f.listed = time.Now()
			f.Close()
			return nil
		}
	}
	return f.run.batch
}

// Close ends a listing that is in progress.
func (f *Files) Close() {
	if f.run != nil {
		f.run.cancel()
		f.run.mu.Lock()
		f.run.stop()
		f.run.mu.Unlock()
		f.run = nil
	}
}

// Found is the answer to a search of files.
type Found struct {
	Pattern string
	Items   []Item
	Total   int  // files in the list
	Partial bool // the listing is in progress
	of      *Files
	number  int
}

// Find searches the list, or a directory outside of it if the pattern begins with /, ~ or a dot and a slash.
func (f *Files) Find(pattern string) tea.Cmd {
	f.asked++
	paths, dir, found := f.paths, f.dir, Found{Pattern: pattern, Total: len(f.paths), Partial: f.run != nil, of: f, number: f.asked}
	return func() tea.Msg {
		switch start, _, _ := strings.Cut(filepath.ToSlash(pattern), "/"); {
		case strings.ContainsRune(filepath.ToSlash(pattern), '/') && (start == "" || start == "." || start == ".." || start == "~" || filepath.VolumeName(pattern) != ""):
			found.Items = outside(dir, pattern)
			found.Total, found.Partial = len(found.Items), false
		case pattern == "":
			found.Items = shallow(paths)
		default:
			for _, r := range Shortest(pattern, paths) {
				found.Items = append(found.Items, Item{Text: paths[r.Index], positions: r.Positions})
			}
		}
		return found
	}
}

// Newer reports whether an answer is of this list, and not older than those before it. Searches may end in another order than they began.
func (f *Files) Newer(msg Found) bool {
	newer := msg.of == f && msg.number >= f.answered
	if newer {
		f.answered = msg.number
	}
	return newer
}

// shallow returns the paths with the fewest elements.
func shallow(paths []string) (items []Item) {
	for depth := 0; depth < 3 && len(items) < Limit; depth++ {
		for _, p := range paths {
			if strings.Count(strings.TrimSuffix(p, "/"), "/") == depth && len(items) < Limit {
				items = append(items, Item{Text: p})
			}
		}
	}
	return items
}

// outside returns the entries of the directory that a pattern begins with.
func outside(dir, pattern string) []Item {
	at := strings.LastIndexAny(pattern, `/`+string(filepath.Separator)) + 1
	shown, name := pattern[:at], pattern[at:]
	real := shown
	if rest, ok := strings.CutPrefix(shown, "~"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil
		}
		real = home + rest
	} else if !filepath.IsAbs(real) {
		real = filepath.Join(dir, real)
	}
	d, err := os.Open(real)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(perBatch)
	var names []string
	for _, e := range entries {
		if e.Name()[0] == '.' && !strings.HasPrefix(name, ".") || strings.ContainsFunc(e.Name(), func(r rune) bool { return r < ' ' }) {
			continue
		}
		if e.IsDir() {
			names = append(names, e.Name()+"/")
		} else {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	var items []Item
	for _, r := range Shortest(name, names) {
		item := Item{Text: shown + names[r.Index]}
		for _, p := range r.Positions {
			item.positions = append(item.positions, at+p)
		}
		items = append(items, item)
	}
	return items
}
