package tui

import (
	"cmp"
	"maps"

	"github.com/tenon-agent/tenon/session"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// facts are facts about a session: for the status line and the panel, and the previous entry of every entry, so that the terminal shows only the
// current branch after a rewind.
type facts struct {
	dir    string // of the session
	title  string
	todo   []session.TodoItem
	files  map[string]count // changed lines by path
	pinned map[session.ID]bool

	parents map[session.ID]session.ID
	head    session.ID // the newest entry of the current branch
	turned  bool       // the session has more than one branch
	runs    map[session.ID]bool
}

type count struct{ added, removed int }

func newFacts() facts {
	return facts{
		files: make(map[string]count), pinned: make(map[session.ID]bool), parents: make(map[session.ID]session.ID), runs: make(map[session.ID]bool),
	}
}

func (f *facts) add(e session.Event) {
	parent := e.Parent
	switch b := e.Body.(type) {
	case session.Title:
		f.title = b.Title
	case session.Todo:
		f.todo = b.Items
	case session.Pin:
		f.pinned[b.Entry] = !b.Removed
	case session.Message:
		f.diffs(b.Diffs)
	case session.FilesChanged:
		if b.Cause == session.ByCommand {
			f.commands(b.Files)
		}
	case session.Head:
		f.turned = true
		parent = b.To
	case session.RunStarted:
		f.runs[e.ID] = true
	}
	if e.Seq > 0 && e.OnBranch() {
		f.parents[e.ID], f.head = parent, e.ID
	}
}

// commands adds files that commands changed. The numbers of their lines are unknown.
func (f *facts) commands(all []session.FileChange) {
	for _, c := range all {
		f.change(paths.Show(f.dir, c.Path), count{})
	}
}

func (f *facts) diffs(all []session.FileDiff) {
	for _, d := range all {
		f.change(d.Path, count{d.Added, d.Removed})
	}
}

func (f *facts) change(path string, c count) {
	was := f.files[path]
	f.files[path] = count{was.added + c.added, was.removed + c.removed}
}

// join adds the facts of an earlier part of the session.
func (f *facts) join(earlier facts) {
	f.title, f.head, f.turned = cmp.Or(f.title, earlier.title), cmp.Or(f.head, earlier.head), f.turned || earlier.turned
	if f.todo == nil {
		f.todo = earlier.todo
	}
	for path, c := range earlier.files {
		f.change(path, c)
	}
	maps.Copy(earlier.pinned, f.pinned) // the later ones hold
	f.pinned = earlier.pinned
	maps.Copy(f.parents, earlier.parents)
	maps.Copy(f.runs, earlier.runs)
}

// before returns the entry before a prompt and the start of its run; empty if it is not known.
func (f *facts) before(prompt session.ID) session.ID {
	at := f.parents[prompt]
	for f.runs[at] {
		at = f.parents[at]
	}
	return at
}

// entries returns the entries on the current branch, as far as it is known.
func (f *facts) entries() map[session.ID]bool {
	on := make(map[session.ID]bool)
	for id := f.head; ; {
		parent, ok := f.parents[id]
		if !ok {
			return on
		}
		on[id] = true
		id = parent
	}
}
