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

// Scope says what is taken back.
type Scope int

// The scopes.
const (
	Both Scope = iota
	Files
	Conversation
)

// Plan is what an undo or a redo would do.
type Plan struct {
	Session  session.SessionID
	Redo     bool
	To       session.ID // the entry whose files come back; of a redo: the undo that it takes back
	Title    string     // what was asked in the run that is taken back, when it is a whole run
	Head     session.ID // where the conversation goes on; empty: where it is
	Finishes session.ID // the undo or redo that was interrupted, and is finished by this

	Files []File // that change, or should
	Notes []string

	reason string     // of the Head
	back   session.ID // where the conversation was
	dir    string
	tidy   []string          // files of what was interrupted: something may have been left beside them, and they may be between two states
	unsure map[string]string // why what became of a path may be somebody else's
}

// File is a file, directory or link that a plan is about.
type File struct {
	Path      string
	Now, Want *session.FileState // nil: there is none
	Problem   string             // why it cannot be changed; empty when it can
	Lost      bool               // the problem is one that force does not solve, such as that its content was not kept: it stays as it is
	Unsure    bool               // it may be somebody else's doing: it stays as it is unless it is forced, and keeps nothing else back
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Files) == 0 && p.Head == "" && p.Finishes == "" }

// Problems are the files that keep a plan from being carried out.
func (p *Plan) Problems() []File {
	return slices.DeleteFunc(slices.Clone(p.Files), func(f File) bool { return f.Problem == "" || f.Unsure })
}

// NothingError says that there is nothing to undo or redo.
type NothingError struct{ Reason string }

func (e *NothingError) Error() string { return e.Reason }

// Undo plans to bring back what was when an entry was appended. Without an entry that is the time before the last run that is
// not taken back yet; what went on where it had stopped is part of it. It looks at the files, and changes nothing.
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

// Back plans to take back the last turns of the conversation: what was asked, and all that came of it.
func (h *History) Back(turns int, scope Scope) (*Plan, error) {
	if o := h.interrupted(); o != nil {
		return h.finish(o)
	}
	path, left := h.pathTo(h.tip), turns
	for _, r := range slices.Backward(h.runs) {
		if r.goes || !path[r.point.id] {
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
		return nil, &NothingError{fmt.Sprintf("the conversation of session %s has no turn that could be taken back", h.Session)}
	}
	return nil, &NothingError{fmt.Sprintf("the conversation of session %s has fewer than %d turns: %d", h.Session, turns, turns-left)}
}

func (h *History) newPlan() *Plan {
	return &Plan{Session: h.Session, reason: reasonUndo, dir: h.Dir, back: h.points[h.tip].id}
}

// undo plans to bring back what was when target was appended, and to go on from head.
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
		return nil, &NothingError{fmt.Sprintf("session %s is as it was at entry %s already", h.Session, target.id)}
	}
	if target.seq < 1 && scope != Conversation {
		p.Notes = append(p.Notes, "That was before this fork began: files are what they were when it did, as far as it changed them.")
	}
	return p, nil
}

// target is the entry whose files come back, and the entry that the conversation goes on from.
func (h *History) target(p *Plan, entry string, scope Scope) (target point, head session.ID, err error) {
	if entry == "" {
		last, ok := h.lastRun(scope)
		if !ok {
			return point{}, "", &NothingError{fmt.Sprintf("session %s has no run that could be taken back", h.Session)}
		}
		r := h.asked(last)
		if p.Title = r.title; r.id != last.id {
			p.Notes = append(p.Notes, fmt.Sprintf(
				"What it did when it went on later is taken back with it; --to %s takes back only that.", last.point.id))
		}
		return r.point, r.parent, nil
	}
	if target, err = h.find(entry); err != nil {
		return point{}, "", err
	}
	if h.opIDs[target.id] {
		return point{}, "", fmt.Errorf("entry %s is an undo or a redo; name another one, or use 'tenon redo'", target.id)
	}
	for i := h.byID[target.id]; i >= 0; i-- {
		if h.points[i].onBranch {
			return target, h.points[i].id, nil
		}
	}
	return target, "", nil
}

// lastRun is the last run that is in the conversation, or whose changes are in effect.
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

// asked is the run that began what a run goes on with: itself, unless nothing new was asked in it.
func (h *History) asked(last run) run {
	path := h.pathTo(h.byID[last.point.id])
	for _, r := range slices.Backward(h.runs) {
		if path[r.point.id] && !r.goes {
			return r
		}
	}
	return last
}

// Redo plans to take back the last undo that was not taken back, also one that was interrupted, however far it had come.
func (h *History) Redo() (*Plan, error) {
	cut := h.interrupted()
	if cut != nil && cut.redo {
		return h.finish(cut)
	}
	o := h.lastUndo()
	if o == nil {
		return nil, &NothingError{fmt.Sprintf("session %s has no undo that could be taken back", h.Session)}
	}
	p := &Plan{Session: h.Session, Redo: true, To: o.id, reason: reasonRedo, dir: h.Dir, back: h.points[h.tip].id}
	if o.head {
		if n := len(h.runs); n > 0 && h.runs[n-1].seq > o.seq {
			p.Notes = append(p.Notes, "The conversation went on since; it stays where it is.")
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

// changedAfter are the paths that something else than an undo or redo has changed after an undo.
func (h *History) changedAfter(o *op) map[string]bool {
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

// finish plans the rest of what was interrupted.
func (h *History) finish(o *op) (*Plan, error) {
	p := &Plan{Session: h.Session, Redo: o.redo, To: o.to, Finishes: o.id, dir: h.Dir, back: h.points[h.tip].id}
	want := h.wanted(o)
	p.tidy = slices.Collect(maps.Keys(want))
	return p, h.judge(p, want)
}

// wanted are the files of an undo or redo, as they were to be after it.
func (h *History) wanted(o *op) map[string]*session.FileState {
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

// files plans to bring files to what they were at an entry: what the first change after it found.
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

// unsure says of paths why a change after an entry may be somebody else's. An undo or redo since then was asked for all the same.
func (h *History) unsure(seq int64) map[string]string {
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

// notRecorded tells what cannot be taken back because it is not known, or because there was too much of it.
func (h *History) notRecorded(p *Plan, seq int64) {
	for _, c := range h.changes {
		if c.seq > seq && c.body.Note != "" {
			p.Notes = append(p.Notes, fmt.Sprintf("Of the command that was interrupted before entry %s: %s", c.id, c.body.Note))
		}
		if c.seq > seq && c.body.More > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("Files that changed at entry %s beyond those that were taken down stay as they are: %d.", c.id, c.body.More))
		}
	}
}

// judge looks at the files and says what must be done with each.
func (h *History) judge(p *Plan, want map[string]*session.FileState) error {
	last := h.lastChanges()
	look, err := newLooker(h.Dir)
	if err != nil {
		return fmt.Errorf("the files of session %s cannot be looked at: %w", h.Session, err)
	}
	defer look.close()
	for _, path := range slices.Sorted(maps.Keys(want)) {
		f := File{Path: path, Want: want[path]}
		f.Now, err = look.state(path)
		switch {
		case slices.Contains(strings.Split(filepath.ToSlash(path), "/"), ".git"):
			f.Problem, f.Lost = "what is in .git is never touched", true
		case err != nil:
			f.Problem, f.Lost = err.Error(), true
		case f.Now != nil && special(f.Now):
			f.Problem, f.Lost = "what lies there now is neither a file, a directory nor a link", true
		case same(f.Now, f.Want):
			continue
		case f.Want != nil && f.Want.Lost != "" && !sameContent(f.Now, f.Want):
			f.Problem, f.Lost = "its content was not kept: "+f.Want.Lost, true
		case f.Want != nil && fs.FileMode(f.Want.Mode).IsRegular() && f.Want.Hash == "":
			f.Problem, f.Lost = "its content is not known", true
		case p.tidy != nil && between(f.Now, last[path]):
		case !same(f.Now, last[path].After) && !same(f.Now, last[path].Before):
			f.Problem = "somebody else has changed it since"
			if f.Now != nil && last[path].After != nil && last[path].After.Hash == "" && fs.FileMode(last[path].After.Mode).IsRegular() {
				f.Problem = "it is too large to tell whether somebody else has changed it since"
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

func special(s *session.FileState) bool {
	return fs.FileMode(s.Mode).Type()&^(fs.ModeDir|fs.ModeSymlink) != 0
}

// holdUnsure keeps directories as long as something stays in them that may be somebody else's.
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
			p.Files[i].Unsure, p.Files[i].Problem = true, cmp.Or(f.Problem, "something in it may be somebody else's")
		}
	}
}

// between reports whether a place may be in the middle of a change: what was there is removed, or a directory is made and does not have
// its mode yet.
func between(now *session.FileState, c session.FileChange) bool {
	return now == nil || isDir(now) && (isDir(c.Before) || isDir(c.After))
}

func isDir(s *session.FileState) bool { return s != nil && fs.FileMode(s.Mode).IsDir() }

// lastChanges are the last changes of each file.
func (h *History) lastChanges() map[string]session.FileChange {
	out := map[string]session.FileChange{}
	for _, c := range h.changes {
		for _, f := range c.body.Files {
			out[f.Path] = f
		}
	}
	return out
}

// keepUsed leaves directories alone in which something is that is not taken back.
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
			f.Problem, f.Lost = "there is a directory now, with something else in it", true
		default:
			p.Notes = append(p.Notes, fmt.Sprintf("The directory %s stays: there is something else in it.", workspace.Quote(f.Path)))
			gone[f.Path] = false
			p.Files = slices.Delete(p.Files, i, i+1)
		}
	}
}

// keepBelow leaves alone what would lie below something that stays as it is, and is no directory.
func (p *Plan) keepBelow() {
	stays := map[string]bool{}
	for i := range p.Files { // parents first
		f := &p.Files[i]
		if f.Want != nil && stays[filepath.Dir(f.Path)] && !f.Lost {
			f.Problem, f.Lost = "what lies above it is no directory, and stays", true
		}
		stays[f.Path] = f.Lost && !isDir(f.Now)
	}
}

// same reports whether two states are the same for all that is known.
func same(a, b *session.FileState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Mode == b.Mode && a.Link == b.Link && (!fs.FileMode(a.Mode).IsRegular() || sameContent(a, b))
}

func sameContent(a, b *session.FileState) bool {
	return a != nil && b != nil && a.Hash != "" && a.Hash == b.Hash
}

// looker looks at files wherever they are.
type looker struct{ ws *workspace.Workspace }

func newLooker(dir string) (*looker, error) {
	ws, err := workspace.Open(dir, workspace.Options{Outside: workspace.ReadOutside})
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

func (l *looker) state(path string) (*session.FileState, error) {
	s, err := l.ws.State(path)
	if err != nil {
		return nil, err
	}
	return stateOf(s), nil
}

// stateOf is a state as the journal has it.
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
