package undo

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
)

// Scope is the part of a session that an undo reverts.
type Scope int

// The scopes.
const (
	Both Scope = iota
	Files
	Conversation
)

// Plan is an undo or a redo before it changes anything.
type Plan struct {
	Session  session.SessionID
	Redo     bool
	To       session.ID // the entry whose files come back; of a redo: the undo that it reverts
	Title    string     // the first line of the prompt, if the plan reverts a whole run
	Head     session.ID // the entry from which the conversation continues; empty: the current one
	Finishes session.ID // the interrupted undo or redo that this plan finishes

	Files []File // that change, or should
	Notes []string

	// Shared connects Apply with the workspaces that are open in the directory. Nil: none are open in this process.
	Shared *workspace.Shared

	reason string     // of the Head
	back   session.ID // the end of the conversation before
	dir    string
	bounds Bounds
	tidy   []string          // files of an interrupted plan: temporary files may be next to them, and they may be between two states
	unsure map[string]string // reasons why the change of a path may be another's
}

// File is a file, directory or link that a plan is about.
type File struct {
	Path      string
	Now, Want *session.FileState // nil: there is none
	Problem   string             // the reason why it cannot be changed; empty if it can
	Lost      bool               // force does not solve the problem, such as a content that was not kept: the file does not change
	Unsure    bool               // another program or person may have made the change: only force reverts it, and the other files do not wait for it
	Refused   bool               // it is out of bounds: it does not change, also with force, and the other files do not wait for it
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Files) == 0 && p.Head == "" && p.Finishes == "" }

// Problems returns the files because of which Apply refuses the plan.
func (p *Plan) Problems() []File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f File) bool { return f.Problem == "" || f.Unsure || f.Refused })
}

// Refused returns the files that stay because they are out of bounds.
func (p *Plan) Refused() []File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f File) bool { return !f.Refused })
}

// NothingError reports that there is nothing to undo or redo.
type NothingError struct{ Reason string }

// Error implements [error].
func (e *NothingError) Error() string { return e.Reason }

// Code returns "undo.nothing".
func (e *NothingError) Code() string { return "undo.nothing" }

// Undo plans to restore the state at the time of an entry. Without an entry that is the time before the last run that is not reverted yet,
// together with the runs that continued it, or before the last call of a person if that is later. Undo reads the files and changes nothing.
func (h *History) Undo(entry string, scope Scope) (*Plan, error) {
	if o := h.interrupted(); o != nil {
		return h.finish(o)
	}
	p := h.newPlan()
	target, head, err := h.target(p, entry, scope)
	if err != nil {
		return nil, err
	}
	return h.undo(p, target, head, scope)
}

// Back plans to revert the last turns of the conversation: the prompts, and all that came of them.
func (h *History) Back(turns int, scope Scope) (*Plan, error) {
	if o := h.interrupted(); o != nil {
		return h.finish(o)
	}
	path, left := h.pathTo(h.tip), turns
	for _, r := range slices.Backward(h.runs) {
		if r.goes || r.call || !path[r.point.id] {
			continue
		}
		if left--; left == 0 {
			p := h.newPlan()
			if turns == 1 {
				p.Title = r.title
			}
			return h.undo(p, r.point, r.parent, scope)
		}
	}
	if left == turns {
		return nil, &NothingError{fmt.Sprintf("the conversation of session %s has no turn to revert", h.Session)}
	}
	return nil, &NothingError{fmt.Sprintf("the conversation of session %s has fewer than %d turns: %d", h.Session, turns, turns-left)}
}

func (h *History) newPlan() *Plan {
	return &Plan{Session: h.Session, reason: reasonUndo, dir: h.Dir, bounds: h.bounds, back: h.points[h.tip].id}
}

// undo plans to restore the state at the time of target, and to continue from head.
func (h *History) undo(p *Plan, target point, head session.ID, scope Scope) (*Plan, error) {
	p.To = target.id
	if scope != Conversation {
		if err := h.files(p, target.seq, func(string) bool { return true }); err != nil {
			return nil, err
		}
		h.notRecorded(p, target.seq)
	}
	if scope != Files && head != "" && head != h.points[h.tip].id {
		p.Head = head
	}
	if p.Empty() {
		return nil, &NothingError{fmt.Sprintf("session %s is in the state of entry %s already", h.Session, target.id)}
	}
	if target.imported && scope != Conversation {
		p.Notes = append(p.Notes, "That entry was imported: the changes of files before the import do not belong to this session, and stay.")
	}
	if target.seq < 1 && scope != Conversation {
		p.Notes = append(p.Notes, "That entry is from before this fork began: the files that the fork changed get the state of its beginning.")
	}
	return p, nil
}

// target returns the entry whose files come back, and the entry from which the conversation continues.
func (h *History) target(p *Plan, entry string, scope Scope) (target point, head session.ID, err error) {
	if entry == "" {
		last, ok := h.lastRun(scope)
		if !ok {
			return point{}, "", &NothingError{fmt.Sprintf("session %s has no run to revert", h.Session)}
		}
		r := h.asked(last)
		if p.Title = r.title; r.id != last.id {
			p.Notes = append(p.Notes, fmt.Sprintf(
				"The undo includes the runs that continued it; --to %s reverts only the last of them.", last.point.id))
		}
		return r.point, r.parent, nil
	}
	if target, err = h.find(entry); err != nil {
		return point{}, "", err
	}
	if h.opIDs[target.id] {
		return point{}, "", fmt.Errorf("entry %s is an undo or a redo; name another one, or run 'tenon redo'", target.id)
	}
	for i := h.byID[target.id]; i >= 0; i-- {
		if h.points[i].onBranch {
			return target, h.points[i].id, nil
		}
	}
	return target, "", nil
}

// lastRun returns the last run that is in the conversation, or whose changes are in effect.
func (h *History) lastRun(scope Scope) (run, bool) {
	path, changed := h.pathTo(h.tip), map[session.RunID]bool{}
	for e := h.inEffect(); e != nil; e = e.before {
		changed[h.changes[e.change].run] = true
	}
	for _, r := range slices.Backward(h.runs) {
		if scope != Files && path[r.point.id] || scope != Conversation && changed[r.id] {
			return r, true
		}
	}
	return run{}, false
}

// asked returns the run with the prompt that a run continues: itself if it has one.
func (h *timeline) asked(last run) run {
	path := h.pathTo(h.byID[last.point.id])
	for _, r := range slices.Backward(h.runs) {
		if path[r.point.id] && !r.goes && (!r.call || r.id == last.id) {
			return r
		}
	}
	return last
}

// Redo plans to revert the last undo that was not reverted, also an interrupted one.
func (h *History) Redo() (*Plan, error) {
	cut := h.interrupted()
	if cut != nil && cut.redo {
		return h.finish(cut)
	}
	o := h.lastUndo()
	if o == nil {
		return nil, &NothingError{fmt.Sprintf("session %s has no undo to revert", h.Session)}
	}
	p := &Plan{Session: h.Session, Redo: true, To: o.id, reason: reasonRedo, dir: h.Dir, bounds: h.bounds, back: h.points[h.tip].id}
	if o.head {
		if n := len(h.runs); n > 0 && h.runs[n-1].seq > o.seq {
			p.Notes = append(p.Notes, "The conversation has continued since; it does not change.")
		} else if o.before >= 0 && o.before != h.tip {
			p.Head = h.points[o.before].id
		}
	}
	if o.files {
		touched := h.wanted(o)
		if o == cut {
			p.tidy = slices.Collect(maps.Keys(touched))
		}
		if err := h.files(p, o.seq-1, func(path string) bool { _, ok := touched[path]; return ok }); err != nil {
			return nil, err
		}
		again := h.changedAfter(o)
		for i, f := range p.Files {
			if again[f.Path] {
				p.Files[i].Problem = "this session has changed it again since"
			}
		}
	}
	return p, nil
}

// changedAfter returns the paths that changed after an undo, other than by an undo or redo.
func (h *record) changedAfter(o *op) map[string]bool {
	again := map[string]bool{}
	for _, c := range h.changes {
		if c.seq <= o.seq || c.op != nil {
			continue
		}
		for _, f := range c.body.Files {
			again[f.Path] = true
		}
	}
	return again
}

// finish plans the rest of an interrupted undo or redo.
func (h *History) finish(o *op) (*Plan, error) {
	p := &Plan{Session: h.Session, Redo: o.redo, To: o.to, Finishes: o.id, dir: h.Dir, bounds: h.bounds, back: h.points[h.tip].id}
	want := h.wanted(o)
	p.tidy = slices.Collect(maps.Keys(want))
	return p, h.judge(p, want)
}

// wanted returns the files of an undo or redo, in their state after it.
func (h *record) wanted(o *op) map[string]*session.FileState {
	want := map[string]*session.FileState{}
	for _, c := range h.changes {
		if c.op == o {
			for _, f := range c.body.Files {
				want[f.Path] = f.After
			}
		}
	}
	return want
}

// files plans to restore the files at the time of an entry: the state before the first change after it.
func (h *History) files(p *Plan, seq int64, about func(path string) bool) error {
	want := map[string]*session.FileState{}
	for _, c := range h.changes {
		if c.seq <= seq {
			continue
		}
		for _, f := range c.body.Files {
			if _, first := want[f.Path]; !first && about(f.Path) {
				want[f.Path] = f.Before
			}
		}
	}
	p.unsure = h.unsure(seq)
	return h.judge(p, want)
}

// unsure returns the reasons why changes of paths after an entry may be another's. A later undo or redo was a decision about them.
func (h *record) unsure(seq int64) map[string]string {
	why := map[string]string{}
	for _, c := range h.changes {
		for _, f := range c.body.Files {
			switch {
			case c.seq <= seq:
			case c.op != nil:
				delete(why, f.Path)
			case f.Unsure != "":
				why[f.Path] = f.Unsure
			}
		}
	}
	return why
}

// notRecorded notes the changes that cannot be reverted because they are not known.
func (h *record) notRecorded(p *Plan, seq int64) {
	for _, c := range h.changes {
		if c.seq > seq && c.body.Note != "" {
			p.Notes = append(p.Notes, fmt.Sprintf("About the command that was interrupted before entry %s: %s", c.id, c.body.Note))
		}
		if c.seq > seq && c.body.More > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("The journal does not have all files that changed at entry %s. The others do not change: %d.", c.id, c.body.More))
		}
	}
}

// judge compares the files with their wanted states, and finds the problems.
func (h *History) judge(p *Plan, want map[string]*session.FileState) error {
	last := h.lastChanges()
	look, err := newLooker(h.Dir, h.bounds)
	if err != nil {
		return fmt.Errorf("cannot look at the files of session %s: %w", h.Session, err)
	}
	defer look.close()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		f := File{Path: path, Want: want[path]}
		inGit := slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".git")
		if f.Problem = look.refuses(path); f.Problem != "" && !inGit {
			f.Refused, f.Lost = true, true
			p.Files = append(p.Files, f)
			continue
		}
		f.Now, err = look.state(path)
		switch {
		case inGit:
			f.Problem, f.Lost = "it lies in .git, which undo never changes", true
		case err != nil:
			f.Problem, f.Lost = err.Error(), true
		case f.Now != nil && special(f.Now):
			f.Problem, f.Lost = "it is neither a file, a directory nor a link now", true
		case same(f.Now, f.Want):
			continue
		case f.Want != nil && f.Want.Lost != "" && !sameContent(f.Now, f.Want):
			f.Problem, f.Lost = "its content was not kept: "+f.Want.Lost, true
		case f.Want != nil && fs.FileMode(f.Want.Mode).IsRegular() && f.Want.Hash == "":
			f.Problem, f.Lost = "its content is not known", true
		case p.tidy != nil && between(f.Now, last[path]):
		case !same(f.Now, last[path].After) && !same(f.Now, last[path].Before):
			f.Problem = "another program or person has changed it since"
			if f.Now != nil && last[path].After != nil && last[path].After.Hash == "" && fs.FileMode(last[path].After.Mode).IsRegular() {
				f.Problem = "it is too large to compare: another program or person may have changed it since"
			}
		}
		if why := p.unsure[path]; why != "" {
			f.Unsure, f.Problem = true, cmp.Or(f.Problem, why)
		}
		p.Files = append(p.Files, f)
	}
	p.holdUnsure()
	p.keepUsed()
	p.keepBelow()
	return nil
}

// holdUnsure keeps directories that hold a file with an unsure change.
func (p *Plan) holdUnsure() {
	held := map[string]bool{}
	for _, f := range p.Files {
		if f.Unsure && f.Now != nil {
			for dir := filepath.Dir(f.Path); !held[dir]; dir = filepath.Dir(dir) {
				held[dir] = true
			}
		}
	}
	for i, f := range p.Files {
		if held[f.Path] && f.Want == nil && !f.Unsure {
			p.Files[i].Unsure, p.Files[i].Problem = true, cmp.Or(f.Problem, "a file in it may be another's")
		}
	}
}

// between reports whether a path may be in the middle of a change: the old file is removed, or the new directory does not have its mode yet.
func between(now *session.FileState, c session.FileChange) bool {
	return now == nil || isDir(now) && (isDir(c.Before) || isDir(c.After))
}

func isDir(s *session.FileState) bool { return s != nil && fs.FileMode(s.Mode).IsDir() }

// lastChanges returns the last change of each file.
func (h *record) lastChanges() map[string]session.FileChange {
	out := map[string]session.FileChange{}
	for _, c := range h.changes {
		for _, f := range c.body.Files {
			out[f.Path] = f
		}
	}
	return out
}

// keepUsed keeps directories with files that the plan does not remove.
func (p *Plan) keepUsed() {
	gone := map[string]bool{}
	for _, f := range p.Files {
		gone[f.Path] = f.Want == nil && (f.Problem == "" || f.Unsure)
	}
	for i := len(p.Files) - 1; i >= 0; i-- { // children first
		f := &p.Files[i]
		if !isDir(f.Now) || isDir(f.Want) || f.Lost {
			continue
		}
		entries, err := os.ReadDir(f.Path)
		used := slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return !gone[filepath.Join(f.Path, e.Name())] && !strings.HasPrefix(e.Name(), ".tenon-")
		})
		switch {
		case !used && (err == nil || errors.Is(err, fs.ErrNotExist)):
		case f.Want != nil || f.Problem != "" && !f.Unsure:
			f.Problem, f.Lost = "it is a directory with other files now", true
		default:
			p.Notes = append(p.Notes, fmt.Sprintf("The directory %s stays: it has other files.", workspace.Quote(f.Path)))
			gone[f.Path] = false
			p.Files = slices.Delete(p.Files, i, i+1)
		}
	}
}

// keepBelow refuses files below a path that stays, and is not a directory.
func (p *Plan) keepBelow() {
	stays := map[string]bool{}
	for i := range p.Files { // parents first
		f := &p.Files[i]
		if f.Want != nil && stays[filepath.Dir(f.Path)] && !f.Lost {
			f.Problem, f.Lost = "a path above it is not a directory, and does not change", true
		}
		stays[f.Path] = f.Lost && !isDir(f.Now)
	}
}

// same reports whether two states are the same, as far as they are known.
func same(a, b *session.FileState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Mode == b.Mode && a.Link == b.Link && (!fs.FileMode(a.Mode).IsRegular() || sameContent(a, b))
}

func sameContent(a, b *session.FileState) bool {
	return a != nil && b != nil && a.Hash != "" && a.Hash == b.Hash
}

// looker looks at files within bounds.
type looker struct{ ws *workspace.Workspace }

func newLooker(dir string, b Bounds) (*looker, error) {
	ws, err := b.open(dir, workspace.Options{})
	if err != nil {
		return nil, err
	}
	return &looker{ws}, nil
}

func (l *looker) close() {
	if l != nil {
		_ = l.ws.Close() // nothing was written
	}
}

// refuses returns why a path is out of bounds, or "". It does not look at what is there.
func (l *looker) refuses(path string) string {
	_, err := l.ws.Locate(path)
	switch err := err.(type) {
	case *workspace.OutsideError:
		if err.Target != filepath.Clean(path) {
			return "" // it goes through a link now, which state reports
		}
		return "it lies outside the roots of the session; add its directory to roots in the configuration"
	case *workspace.HiddenError:
		return "it is hidden"
	case *workspace.ProtectedError:
		return "it is protected"
	}
	return ""
}

func (l *looker) state(path string) (*session.FileState, error) {
	s, err := l.ws.State(path)
	if err != nil {
		return nil, err
	}
	return stateOf(s), nil
}

// stateOf returns a state in the form of the journal.
func stateOf(s *workspace.State) *session.FileState {
	if s == nil {
		return nil
	}
	return &session.FileState{Hash: s.Hash, Size: s.Size, Mode: uint32(s.Mode), Link: s.Link, Lost: s.Lost}
}

func stateFrom(s *session.FileState) *workspace.State {
	if s == nil {
		return nil
	}
	return &workspace.State{Hash: s.Hash, Size: s.Size, Mode: fs.FileMode(s.Mode), Link: s.Link, Lost: s.Lost}
}
