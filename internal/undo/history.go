package undo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// History is what a journal tells of files, runs and rewinds, in the order in which it happened: the disk has no branches.
type History struct {
	Session session.SessionID
	Dir     string // working directory of the session

	points  []point
	byID    map[session.ID]int   // indexes of points
	changes []change             // of files
	calls   map[string]time.Time // when each began
	runs    []run
	ops     []*op
	opIDs   map[session.ID]bool // of their entries about files
	tip     int                 // index of the point where the conversation goes on
}

// point is an entry.
type point struct {
	seq      int64 // of what a fork inherited: below 1
	id       session.ID
	parent   session.ID
	onBranch bool
}

// change is one entry that tells of files.
type change struct {
	point
	body session.FilesChanged
	run  session.RunID
	op   *op // the undo or redo that it is a part of

	began, told time.Time // when the call began, if that is known, and when the journal knew of it
}

// run is where a run began, and what it was about.
type run struct {
	point
	id    session.RunID
	title string
	goes  bool // it goes on where another stopped: both are one turn
}

// op is an undo or a redo.
type op struct {
	seq    int64
	id     session.ID // of its first entry
	redo   bool
	to     session.ID // FilesChanged.To
	files  bool       // it is about files
	head   bool       // it is about the conversation
	before int        // index of the point where the conversation went on before
	done   bool
	undone bool // a redo took it back
}

// reasons of the Head entries that undo and redo append.
const (
	reasonUndo = "undo"
	reasonRedo = "redo"
)

// Read reads the history of a session.
func Read(ctx context.Context, store session.Store, id session.SessionID) (*History, error) {
	h := &History{Session: id, byID: map[session.ID]int{}, opIDs: map[session.ID]bool{}, calls: map[string]time.Time{}, tip: -1}
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

// inherit takes in the conversation that a fork goes on from, and returns its last entry. What was done to files before is not the fork's.
func (h *History) inherit(ctx context.Context, store session.Store, created session.ID) (last session.ID, err error) {
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
		p := point{int64(i - len(entries)), e.ID, last, true}
		last = e.ID
		h.byID[e.ID] = len(h.points)
		h.points = append(h.points, p)
		switch b := e.Body.(type) {
		case session.RunStarted:
			h.addRun(p, b)
		case session.Message:
			h.entitle(e, b)
		}
	}
	h.tip = len(h.points) - 1
	return last, nil
}

func (h *History) add(e session.Event) {
	p := point{e.Seq, e.ID, e.Parent, session.OnBranch(e.Body)}
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
	case session.Message:
		h.entitle(e, b)
	case session.CallStarted:
		h.calls[b.Call] = e.Time
	case session.FilesChanged:
		h.addChange(e, p, b)
	case session.Head:
		h.addHead(p, b, before)
	}
}

func (h *History) addRun(p point, b session.RunStarted) {
	h.runs = append(h.runs, run{point: p, id: b.Run, goes: b.Continues == session.ContinuesDefault})
}

// entitle names the run by what was asked.
func (h *History) entitle(e session.Event, b session.Message) {
	if n := len(h.runs); n > 0 && e.Run == h.runs[n-1].id && h.runs[n-1].title == "" && b.Role == "user" {
		h.runs[n-1].title, _, _ = strings.Cut(strings.TrimSpace(b.Text()), "\n")
	}
}

func (h *History) addChange(e session.Event, p point, b session.FilesChanged) {
	files := make([]session.FileChange, 0, len(b.Files))
	for _, f := range b.Files {
		files = append(files, renamed(f, unwritten))
	}
	b.Files = files
	c := change{point: p, body: b, run: e.Run, began: h.calls[b.Call], told: e.Time}
	begins := false
	if b.Cause == session.ByUndo || b.Cause == session.ByRedo {
		h.opIDs[e.ID] = true
		if i := slices.IndexFunc(h.ops, func(o *op) bool { return o.id == b.To && o.redo == (b.Cause == session.ByRedo) }); i >= 0 {
			c.op = h.ops[i] // it goes on, or is done
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

func (h *History) addHead(p point, b session.Head, before int) {
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

// newOp notes an undo or a redo. A redo takes back the last undo that was not taken back.
func (h *History) newOp(p point, redo bool, to session.ID) *op {
	o := &op{seq: p.seq, id: p.id, redo: redo, to: to}
	if redo {
		if last := h.lastUndo(); last != nil {
			last.undone = true
		}
	}
	h.ops = append(h.ops, o)
	return o
}

// lastUndo is the last undo that was not redone.
func (h *History) lastUndo() *op {
	for _, o := range slices.Backward(h.ops) {
		if !o.redo && !o.undone {
			return o
		}
	}
	return nil
}

// interrupted is the last undo or redo when its process died before it was done, and nothing has happened since.
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

// find returns the entry that a person names: by its ID, the beginning of it, or its number in the journal.
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
	return point{}, fmt.Errorf("%q is the beginning of %d entries; write more of one", name, len(found))
}

// pathTo are the entries of the branch that ends with a point.
func (h *History) pathTo(i int) map[session.ID]bool {
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

// inEffect are the changes that no undo has taken back, as of now, the last one first; nil: none.
func (h *History) inEffect() *effect {
	after := make([]*effect, len(h.changes)) // what was in effect after each change
	var now *effect
	asOf := func(seq int64) *effect {
		i, _ := slices.BinarySearchFunc(h.changes, seq, func(c change, seq int64) int { return int(c.seq - seq) })
		for ; i < len(h.changes) && h.changes[i].seq <= seq; i++ { // what stands at that entry counts
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
	Entry session.ID // where it began
	Title string     // the first line of its input
}

// Runs are the runs of the session, the last one first.
func (h *History) Runs() []Run {
	out := make([]Run, 0, len(h.runs))
	for _, r := range slices.Backward(h.runs) {
		out = append(out, Run{r.point.id, r.title})
	}
	return out
}
