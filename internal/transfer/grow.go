package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// A source that was imported has grown when what it has now begins with what was imported. Other programs' IDs are not kept, so what
// belongs together is found by what it says: an entry of the source is the one of the session that follows the same entry and says the
// same. Where a branch went on, its end is found, wherever in the journal it is. What no entry of the source is found for shows that
// the past was rewritten.
//
// Three things are written over in a source when it grows, and are no rewriting: a message of which only the beginning was there, a
// call without a result, and the list of what is to be done. The first two are made anew on a branch that leaves the old ones; the old
// list stays where it is.

// DivergedError says that a session cannot go on with what is new in its source. It is left as it is.
type DivergedError struct {
	Session session.SessionID
	Why     string // such as "somebody has gone on in it"
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("session %s cannot take up what is new: %s", e.Session, e.Why)
}

// sum is what tells bodies apart.
type sum [sha256.Size]byte

// journal is what a session has that was imported before. A nil one has nothing.
type journal struct {
	id    session.SessionID
	tip   session.ID                // the end of its branch; of a head, where that goes back to
	last  session.Import            // how far the import went
	title string                    // that the session has
	after map[session.ID][]*place   // what follows an entry on a branch, without heads
	back  map[session.ID]session.ID // of each head, the entry that it goes back to
	list  []*place
	notes map[sum]bool
}

// place is an entry on a branch.
type place struct {
	id    session.ID
	at    time.Time
	sum   sum
	seq   int64
	found bool // in the source

	opening *opening // of a message that may not have been whole
	list    bool     // of what is to be done
	tail    bool     // a result or a list: what may stand behind an answer before the next message
	standIn bool     // a result that was made up, or a list: the source has something else there when it goes on
	usage   llm.Usage
}

// readJournal reads a session that was imported from another program.
func readJournal(ctx context.Context, store session.Store, id session.SessionID) (*journal, error) {
	j := &journal{
		id: id, tip: id, notes: map[sum]bool{}, after: map[session.ID][]*place{}, back: map[session.ID]session.ID{},
	}
	var here int64 // the first entry on a branch behind the last import
	for e, err := range store.Read(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		if session.OnBranch(e.Body) {
			if here == 0 {
				here = e.Seq
			}
			j.add(e)
			continue
		}
		switch b := e.Body.(type) {
		case session.Import:
			j.last, here = b, 0
		case session.Title:
			j.title = b.Title
		case session.Note:
			j.notes[sumOf(b)] = true
		}
	}
	switch {
	case j.last.Program == "":
		return nil, &DivergedError{id, "it was imported by a Tenon that did not write down how far"}
	case here > 0:
		return nil, &DivergedError{id, fmt.Sprintf("somebody has gone on in it, from entry %d on", here)}
	}
	return j, nil
}

// add takes an entry on a branch.
func (j *journal) add(e session.Event) {
	from := j.real(e.Parent)
	if _, ok := e.Body.(session.Head); ok {
		j.back[e.ID], j.tip = from, from
		return
	}
	p := &place{id: e.ID, seq: e.Seq, at: e.Time, sum: sumOf(e.Body)}
	switch b := e.Body.(type) {
	case session.Message:
		switch b.Role {
		case llm.RoleUser, llm.RoleAssistant:
			p.opening, p.usage = openingOf(b.Content), b.Usage
		case llm.RoleTool:
			p.tail, p.standIn = true, b.Outcome == session.OutcomeUnknown && b.Text() == lostResult
		}
	case session.Todo:
		p.list, p.tail, p.standIn = true, true, true
	}
	j.tip, j.after[from], j.list = e.ID, append(j.after[from], p), append(j.list, p)
}

// real is the entry that an ID means: of a head, where that goes back to.
func (j *journal) real(id session.ID) session.ID {
	if to, ok := j.back[id]; ok {
		return to
	}
	return id
}

// find returns the entry behind from that says what ev says. Messages of the same time that are its beginning are done with; what
// they have used is not counted again when the message is put beside them. Where a list of what is to be done stood at the end of the
// branch, it is looked for behind that, too: from is then the list.
func (j *journal) find(from *session.ID, ev session.Event) (id session.ID, used llm.Usage, ok bool) {
	if j == nil {
		return "", used, false
	}
	for {
		if id, used, ok = j.behind(*from, ev); ok || used != (llm.Usage{}) {
			return id, used, ok
		}
		i := slices.IndexFunc(j.after[*from], func(p *place) bool { return p.list && !p.found })
		if i < 0 {
			return "", used, false
		}
		*from = j.after[*from][i].id
	}
}

// behind is find for what follows an entry at once.
func (j *journal) behind(from session.ID, ev session.Event) (id session.ID, used llm.Usage, ok bool) {
	best := j.same(from, ev)
	m, _ := ev.Body.(session.Message)
	for _, p := range j.after[from] {
		if p != best && !p.found && p.at.Equal(ev.Time) && p.opening.begins(m.Content) && j.leave(p) {
			used = used.Plus(p.usage)
		}
	}
	if best == nil {
		return "", used, false
	}
	all := used.Plus(best.usage)
	if m.Usage.Total() > all.Total() && best.at.Equal(ev.Time) && j.leave(best) { // it was counted when it was not over
		return "", all, false
	}
	best.found = true
	return best.id, used, true
}

// same returns the entry behind from that says what ev says. Of several the last one of the same time is meant, or the first.
func (j *journal) same(from session.ID, ev session.Event) (best *place) {
	if len(j.after[from]) == 0 {
		return nil
	}
	s := sumOf(ev.Body)
	for _, p := range j.after[from] {
		if p.found || p.sum != s {
			continue
		}
		if best == nil || p.at.Equal(ev.Time) {
			best = p
		}
	}
	return best
}

// less is what has been used beyond what was counted before.
func less(u, before llm.Usage) llm.Usage {
	return llm.Usage{
		Input: max(u.Input-before.Input, 0), CacheRead: max(u.CacheRead-before.CacheRead, 0), CacheWrite: max(u.CacheWrite-before.CacheWrite, 0),
		Output: max(u.Output-before.Output, 0), Reasoning: max(u.Reasoning-before.Reasoning, 0), Cost: max(u.Cost-before.Cost, 0),
	}
}

// leave marks a message and what is behind it as done with, when that is the end of its branch.
func (j *journal) leave(p *place) bool {
	all := []*place{p}
	for i := 0; i < len(all); i++ {
		for _, behind := range j.after[all[i].id] {
			if !behind.tail {
				return false
			}
			all = append(all, behind)
		}
	}
	for _, p := range all {
		p.found = true
	}
	return true
}

// noted reports whether the session has a note already.
func (j *journal) noted(b session.Body) bool { return j != nil && j.notes[sumOf(b)] }

// wants reports whether the session is to be called so: its source has a new title, and nobody gave it another one here.
func (j *journal) wants(title string) bool {
	return j == nil || title != j.last.Title && j.title == j.last.Title
}

// rest returns an error when the session has something that was not found in its source.
func (j *journal) rest() error {
	for _, p := range j.list {
		if !p.found && !p.standIn {
			return &DivergedError{j.id, fmt.Sprintf("its source no longer has what became entry %d", p.seq)}
		}
	}
	return nil
}

// sumOf is the sum of a body, but for the IDs of entries in it, and for what a message has used, which may be known later.
func sumOf(body session.Body) sum {
	switch b := body.(type) {
	case session.Message:
		b.Usage = llm.Usage{}
		body = b
	case session.Digest:
		b.Through, b.Kept = "", slices.Clone(b.Kept)
		for i := range b.Kept {
			b.Kept[i].Entry = ""
		}
		body = b
	}
	kind, data, err := session.EncodeBody(body)
	if err != nil {
		return sum{} // it cannot be stored either
	}
	return sha256.Sum256(append([]byte(kind+"\n"), data...))
}

// opening is the content of a message as the beginning of a longer one: all parts are the same, but that a text may go on.
type opening struct {
	parts int
	text  int // bytes of the last part, when it is a text or thinking
	sum   sum
}

func openingOf(c llm.Content) *opening {
	o := opening{parts: len(c)}
	if o.parts > 0 {
		o.text = len(words(c[o.parts-1]))
	}
	o.sum, _ = o.of(c)
	return &o
}

// begins reports whether a content begins so.
func (o *opening) begins(c llm.Content) bool {
	if o == nil || o.parts == 0 || len(c) < o.parts {
		return false
	}
	s, ok := o.of(c)
	return ok && s == o.sum
}

// of is the sum of as much of a content.
func (o *opening) of(c llm.Content) (sum, bool) {
	c = slices.Clone(c[:o.parts])
	if o.text > 0 {
		last := &c[o.parts-1]
		text := words(*last)
		if len(text) < o.text {
			return sum{}, false
		}
		if _, ok := (*last).(llm.Text); ok {
			*last = llm.Text{Text: text[:o.text]}
		} else {
			*last = llm.Thinking{Text: text[:o.text]} // its proof comes when it is whole
		}
	}
	data, err := json.Marshal(c)
	return sha256.Sum256(data), err == nil
}

// words is the text of a part that is one, or thinking.
func words(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Thinking:
		return p.Text
	}
	return ""
}
