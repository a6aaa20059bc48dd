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
	"github.com/tenon-agent/tenon/session/index"
)

// A source has grown if its content begins with the imported content. Other programs' IDs are not kept, so GoOn
// matches entries by content: an entry of the source is the entry of the session with the same predecessor and the same
// content. It finds the end of a continued branch anywhere in the journal. An entry of the session without a counterpart in
// the source shows that the source rewrote its past.
//
// A growing source replaces three things without rewriting its past: an incomplete message, a
// call without a result, and the todo list. GoOn adds the first two on a new branch; the old
// list stays in place.

// DivergedError says that a session cannot take up the new entries of its source. The session stays unchanged.
type DivergedError struct {
	Session session.SessionID
	Why     string // such as "it was continued here"
}

// Code is the stable code of the error.
func (*DivergedError) Code() string { return "transfer.diverged" }

func (e *DivergedError) Error() string {
	return fmt.Sprintf("cannot import the new entries into session %s: %s", e.Session, e.Why)
}

// sum identifies a body.
type sum [sha256.Size]byte

// journal has the entries of a session that was imported before. A nil journal is empty.
type journal struct {
	id    session.SessionID
	tip   session.ID                // the end of its branch; of a head, its target
	last  session.Import            // progress of the last import
	title string                    // of the session
	after map[session.ID][]*place   // followers of an entry on a branch, without heads
	back  map[session.ID]session.ID // target of each head
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

	opening *opening // of a message that may have been incomplete
	list    bool     // a todo list
	tail    bool     // a result or a list, which may follow an answer before the next message
	standIn bool     // a made-up result, or a list: a grown source has another entry there
	usage   llm.Usage
}

// readJournal reads a session imported from another program.
func readJournal(ctx context.Context, store index.Store, id session.SessionID) (*journal, error) {
	j := &journal{
		id: id, tip: id, notes: map[sum]bool{}, after: map[session.ID][]*place{}, back: map[session.ID]session.ID{},
	}
	var here int64 // the first entry on a branch after the last import
	for e, err := range store.Read(ctx, id, 1) {
		if err != nil {
			return nil, err
		}
		if e.OnBranch() {
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
		return nil, &DivergedError{id, "its import did not record how far it went"}
	case here > 0:
		return nil, &DivergedError{id, fmt.Sprintf("it was continued in Tenon from entry %d on", here)}
	}
	return j, nil
}

// add records an entry on a branch.
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

// real resolves an ID: of a head it returns the target.
func (j *journal) real(id session.ID) session.ID {
	if to, ok := j.back[id]; ok {
		return to
	}
	return id
}

// find returns the entry after from with the same content as ev. It marks messages of the same time that are a beginning of ev as
// superseded; their usage does not count twice. If a todo list was at the end of the branch, find also looks after the list; from is
// then the list.
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

// behind is find for the direct followers of an entry only.
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
	if m.Usage.Total() > all.Total() && best.at.Equal(ev.Time) && j.leave(best) { // counted while incomplete
		return "", all, false
	}
	best.found = true
	return best.id, used, true
}

// same returns the entry after from with the same content as ev: of several the last one of the same time, or else the first.
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

// less is the usage beyond the amount counted before.
func less(u, before llm.Usage) llm.Usage {
	return llm.Usage{
		Input: max(u.Input-before.Input, 0), CacheRead: max(u.CacheRead-before.CacheRead, 0), CacheWrite: max(u.CacheWrite-before.CacheWrite, 0),
		Output: max(u.Output-before.Output, 0), Reasoning: max(u.Reasoning-before.Reasoning, 0), Cost: max(u.Cost-before.Cost, 0),
	}
}

// leave marks a message and its followers as superseded, if they end their branch.
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

// noted reports whether the session already has a note.
func (j *journal) noted(b session.Body) bool { return j != nil && j.notes[sumOf(b)] }

// wants reports whether the session takes the title: the source has a new one, and no person set another here.
func (j *journal) wants(title string) bool {
	return j == nil || title != j.last.Title && j.title == j.last.Title
}

// rest returns an error if the session has an entry that its source lacks.
func (j *journal) rest() error {
	for _, p := range j.list {
		if !p.found && !p.standIn {
			return &DivergedError{j.id, fmt.Sprintf("its source no longer has the content of entry %d", p.seq)}
		}
	}
	return nil
}

// sumOf is the sum of a body without the IDs of entries in it, and without the usage of a message, which may be known later.
func sumOf(body session.Body) sum {
	switch b := body.(type) {
	case session.Message:
		b.Usage = llm.Usage{}
		body = b
	case session.Summarized:
		b.Through, b.Verbatim = "", slices.Clone(b.Verbatim)
		for i := range b.Verbatim {
			b.Verbatim[i].Entry = ""
		}
		body = b
	}
	kind, data, err := session.EncodeBody(body)
	if err != nil {
		return sum{} // not storable either
	}
	return sha256.Sum256(append([]byte(kind+"\n"), data...))
}

// opening is the content of a message as the beginning of a longer one: equal parts, except that the last text may be longer.
type opening struct {
	parts int
	text  int // bytes of the last part, if it is text or thinking
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

// begins reports whether a content begins with the opening.
func (o *opening) begins(c llm.Content) bool {
	if o == nil || o.parts == 0 || len(c) < o.parts {
		return false
	}
	s, ok := o.of(c)
	return ok && s == o.sum
}

// of is the sum of the corresponding beginning of a content.
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
			*last = llm.Thinking{Text: text[:o.text]} // the signature comes with the complete part
		}
	}
	data, err := json.Marshal(c)
	return sha256.Sum256(data), err == nil
}

// words is the text of a text or thinking part.
func words(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return p.Text
	case llm.Thinking:
		return p.Text
	}
	return ""
}
