package undo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/workspace"
)

// History is the files, runs and rewinds of a journal, in the order in which they happened: the disk has no branches.
type History struct {
	Session session.SessionID
	Dir     string // working directory of the session
	bounds  Bounds

	timeline
	record
}

// timeline is the entries and runs of a journal.
type timeline struct {
	points []point
	byID   map[session.ID]int // indexes of points
	runs   []run
	tip    int // index of the point where the conversation continues
}

// record is the changes of files, and the undos and redos.
type record struct {
	changes []change
	calls   map[string]time.Time // the beginning of each
	ops     []*op
	opIDs   map[session.ID]bool // of their entries about files
}

// point is an entry.
type point struct {
	seq      int64 // of what a fork inherited: below 1
	id       session.ID
	parent   session.ID
	onBranch bool
	imported bool
}

// change is one entry about files.
type change struct {
	point
	body session.FilesChanged
	run  session.RunID
	op   *op // the undo or redo that it is a part of

	began, known time.Time // the beginning of the call, if it is known, and the time of the entry
}

// run is the beginning of a run, or a call that a person made between runs.
type run struct {
	point
	id    session.RunID // or the ID of the call
	title string
	goes  bool // it continues another run: both are one turn
	call  bool // of a person
}

// op is an undo or a redo.
type op struct {
	seq    int64
	id     session.ID // of its first entry
	redo   bool
	to     session.ID // FilesChanged.To
	files  bool       // it changes files
	head   bool       // it changes the conversation
	before int        // index of the end of the conversation before
	done   bool
	undone bool // a redo reverted it
}

// reasons of the Head entries that undo and redo append.
const (
	reasonUndo = "undo"
	reasonRedo = "redo"
)

// Bounds returns the options of a workspace in the directory of a session: its further roots, and the hidden and protected paths. Undo reads
// and changes only the files that a tool may change there without a permit. A nil Bounds is the directory alone.
type Bounds func(dir string) (workspace.Options, error)

// open opens the workspace of a session.
func (b Bounds) open(dir string, o workspace.Options) (*workspace.Workspace, error) {
	if b != nil {
		limits, err := b(dir)
		if err != nil {
			return nil, err
		}
		o.Roots, o.Hidden, o.Protected = limits.Roots, limits.Hidden, limits.Protected
	}
	return workspace.Open(dir, o)
}

// Read reads the history of a session. What was imported is a claim about files, and no change of the session: only the conversation has it.
func Read(ctx context.Context, store index.Store, id session.SessionID, bounds Bounds) (*History, error) {
	h := &History{
		Session: id, bounds: bounds, timeline: timeline{byID: map[session.ID]int{}, tip: -1}, record: record{opIDs: map[session.ID]bool{}, calls: map[string]time.Time{}},
	}
	for e, err := range store.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if c, ok := e.Body.(session.Created); ok && c.Fork {
			if e.Parent, err = h.inherit(ctx, store, e.ID); err != nil {
				return nil, err
			}
		}
		h.add(e)
	}
	return h, h.doubtCommands(ctx, store)
}

// inherit reads the conversation that a fork continues, and returns its last entry. Earlier changes of files do not belong to the fork.
func (h *History) inherit(ctx context.Context, store index.Store, created session.ID) (last session.ID, err error) {
	var entries []session.Event
	for e, err := range store.Backward(ctx, h.Session, created) {
		if err != nil {
			return "", err
		}
		if e.ID != created {
			entries = append(entries, e)
		}
	}
	slices.Reverse(entries)
	for i, e := range entries {
		p := point{int64(i - len(entries)), e.ID, last, true, e.Imported}
		last = e.ID
		h.byID[e.ID] = len(h.points)
		h.points = append(h.points, p)
		switch b := e.Body.(type) {
		case session.RunStarted:
			h.addRun(p, b)
		case session.CallStarted:
			h.addCall(p, e.Run, b)
		case session.Message:
			h.entitle(e, b)
		}
	}
	h.tip = len(h.points) - 1
	return last, nil
}

func (h *History) add(e session.Event) {
	p := point{e.Seq, e.ID, e.Parent, e.OnBranch(), e.Imported}
	before := h.tip
	h.byID[e.ID] = len(h.points)
	if h.points = append(h.points, p); p.onBranch {
		h.tip = len(h.points) - 1
	}
	switch b := e.Body.(type) {
	case session.Created:
		h.Dir = b.Dir
	case session.RunStarted:
		h.addRun(p, b)
	case session.CallStarted:
		h.addCall(p, e.Run, b)
	case session.Message:
		h.entitle(e, b)
	}
	if e.Imported {
		return
	}
	switch b := e.Body.(type) {
	case session.CallStarted:
		h.calls[b.Call] = e.Time
	case session.FilesChanged:
		h.addChange(e, p, b)
	case session.Head:
		h.addHead(p, b, before)
	}
}

func (h *timeline) addRun(p point, b session.RunStarted) {
	h.runs = append(h.runs, run{point: p, id: b.Run, goes: b.Continues == session.ContinuesDefault})
}

// addCall adds a call outside of runs, which a person made.
func (h *timeline) addCall(p point, in session.RunID, b session.CallStarted) {
	if in == "" {
		h.runs = append(h.runs, run{point: p, id: session.RunID(b.Call), title: b.Title, call: true})
	}
}

// entitle names the run by its prompt.
func (h *timeline) entitle(e session.Event, b session.Message) {
	if n := len(h.runs); n > 0 && e.Run == h.runs[n-1].id && h.runs[n-1].title == "" && b.Role == "user" {
		h.runs[n-1].title, _, _ = strings.Cut(strings.TrimSpace(b.Text()), "\n")
	}
}

func (h *record) addChange(e session.Event, p point, b session.FilesChanged) {
	files := make([]session.FileChange, 0, len(b.Files))
	for _, f := range b.Files {
		files = append(files, renamed(f, unwritten))
	}
	b.Files = files
	c := change{point: p, body: b, run: cmp.Or(e.Run, session.RunID(b.Call)), began: h.calls[b.Call], known: e.Time}
	begins := false
	if b.Cause == session.ByUndo || b.Cause == session.ByRedo {
		h.opIDs[e.ID] = true
		if i := slices.IndexFunc(h.ops, func(o *op) bool { return o.id == b.To && o.redo == (b.Cause == session.ByRedo) }); i >= 0 {
			c.op = h.ops[i] // it continues, or is done
			c.op.done = len(b.Files) == 0
		} else {
			begins = true
			c.op = h.newOp(p, b.Cause == session.ByRedo, b.To)
			c.op.files, c.op.done = true, len(b.Files) == 0
		}
	}
	if begins || len(b.Files) > 0 || b.More > 0 || b.Note != "" {
		h.changes = append(h.changes, c)
	}
}

func (h *record) addHead(p point, b session.Head, before int) {
	if b.Reason != reasonUndo && b.Reason != reasonRedo {
		return
	}
	redo := b.Reason == reasonRedo
	n := len(h.ops)
	if n == 0 || h.ops[n-1].seq != p.seq-1 || h.ops[n-1].redo != redo || h.ops[n-1].head {
		h.newOp(p, redo, "")
		h.ops[n].done = true
		n++
	}
	h.ops[n-1].head, h.ops[n-1].before = true, before
}

// newOp notes an undo or a redo. A redo reverts the last undo that is in effect.
func (h *record) newOp(p point, redo bool, to session.ID) *op {
	o := &op{seq: p.seq, id: p.id, redo: redo, to: to}
	if redo {
		if last := h.lastUndo(); last != nil {
			last.undone = true
		}
	}
	h.ops = append(h.ops, o)
	return o
}

// lastUndo returns the last undo without a redo.
func (h *record) lastUndo() *op {
	for _, o := range slices.Backward(h.ops) {
		if !o.redo && !o.undone {
			return o
		}
	}
	return nil
}

// interrupted returns the last undo or redo, if its process died before the end and nothing has happened since.
func (h *History) interrupted() *op {
	n := len(h.ops)
	if n == 0 || h.ops[n-1].done {
		return nil
	}
	o := h.ops[n-1]
	if m := len(h.changes); m > 0 && h.changes[m-1].seq > o.seq && h.changes[m-1].op != o {
		return nil
	}
	if m := len(h.runs); m > 0 && h.runs[m-1].seq > o.seq {
		return nil
	}
	return o
}

// find returns the entry with this ID, unique ID prefix or number in the journal.
func (h *History) find(name string) (point, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if i, ok := h.byID[session.ID(name)]; ok {
		return h.points[i], nil
	}
	if n, err := strconv.ParseInt(name, 10, 64); err == nil && len(name) < 10 && name[0] >= '1' { // with 0 it is the beginning of an ID
		i, ok := slices.BinarySearchFunc(h.points, n, func(p point, n int64) int { return int(p.seq - n) })
		if ok {
			return h.points[i], nil
		}
	}
	var found []point
	for _, p := range h.points {
		if name != "" && strings.HasPrefix(string(p.id), name) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return point{}, fmt.Errorf("entry %q: %w in session %s; see 'tenon sessions show %[3]s --entries'", name, session.ErrNotFound, h.Session)
	case 1:
		return found[0], nil
	}
	return point{}, fmt.Errorf("%q is the prefix of %d entries; write more of one", name, len(found))
}

// pathTo returns the entries of the branch that ends with a point.
func (h *timeline) pathTo(i int) map[session.ID]bool {
	out := map[session.ID]bool{}
	for i >= 0 {
		p := h.points[i]
		out[p.id] = true
		next, ok := h.byID[p.parent]
		if !ok {
			break
		}
		i = next
	}
	return out
}

// effect is a change that was in effect at some time, with those before it. Times share what they have in common.
type effect struct {
	change int // index
	before *effect
}

// inEffect returns the changes that no undo has reverted, the last one first; nil: none.
func (h *History) inEffect() *effect {
	after := make([]*effect, len(h.changes)) // the changes in effect after each change
	var now *effect
	asOf := func(seq int64) *effect {
		i, _ := slices.BinarySearchFunc(h.changes, seq, func(c change, seq int64) int { return int(c.seq - seq) })
		for ; i < len(h.changes) && h.changes[i].seq <= seq; i++ { // changes of that entry count
		}
		if i == 0 {
			return nil
		}
		return after[i-1]
	}
	for i, c := range h.changes {
		switch {
		case c.op == nil:
			now = &effect{i, now}
		case c.op.redo:
			if at, ok := h.byID[c.op.to]; ok {
				now = asOf(h.points[at].seq - 1)
			}
		default:
			if at, ok := h.byID[c.op.to]; ok {
				now = asOf(h.points[at].seq)
			}
		}
		after[i] = now
	}
	return now
}

// Run is a run of the session, for people who choose one.
type Run struct {
	Entry session.ID // its beginning
	Title string     // the first line of its input
}

// Runs returns the runs of the session, the last one first.
func (h *timeline) Runs() []Run {
	out := make([]Run, 0, len(h.runs))
	for _, r := range slices.Backward(h.runs) {
		out = append(out, Run{r.point.id, r.title})
	}
	return out
}
