package export

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// overview is what a reader wants to know before the first message.
type overview struct {
	session.Summary
	Root     session.Created
	Models   []modelUse // the most used first
	Answers  int
	Calls    int
	Failed   int       // calls
	Turns    []turnRef // what the person said, in the order of the journal
	Branches []branchRef
	Parts    []part // between which the conversation went back
	First    time.Time
	Last     time.Time

	opts Options
	end  int64  // the last entry that counts: the session may grow while it is written
	live []bool // by sequence number: the entry is on the branch that goes on
	seqs map[session.ID]int64
}

type modelUse struct {
	Name    string
	Answers int
	Usage   llm.Usage
}

// turnRef is a line of the list of contents.
type turnRef struct {
	Seq   int64
	Title string
	Dead  bool // on a branch that was left
}

// branchRef is a place where the conversation went back.
type branchRef struct {
	Seq, To int64
	Reason  string
}

// part is what was written between two returns to an earlier entry. Branches are made of parts: a part, and those before it up to
// where it goes on from.
type part struct {
	First, Last int64  // entries
	Title       string // what the person said last
	Messages    int
	From        int   // the part that it goes on from; of the first -1
	To          int64 // the entry there
	End         int64 // its last entry on a branch
	Inner       bool  // another part goes on from its end
}

// begin adds the part that a head begins.
func (o *overview) begin(seq, to int64) {
	from, found := slices.BinarySearchFunc(o.Parts, to, func(p part, seq int64) int { return cmp.Compare(p.First, seq) })
	if !found {
		from--
	}
	if from >= 0 && o.Parts[from].End == to {
		o.Parts[from].Inner = true
	}
	o.Parts = append(o.Parts, part{First: seq, From: from, To: to})
}

// extend adds an entry to the last part.
func (o *overview) extend(e session.Event) {
	p := &o.Parts[len(o.Parts)-1]
	p.Last = e.Seq
	if session.OnBranch(e.Body) {
		p.End = e.Seq
	}
	m, ok := e.Body.(session.Message)
	if !ok || m.Role == llm.RoleTool {
		return
	}
	if p.Messages++; m.Role == llm.RoleUser && m.Source != session.FromLoop {
		p.Title = unmarked(firstLine(m.Text(), 60))
	}
}

// look reads a session once.
func look(ctx context.Context, store session.Store, s session.Summary, opts Options) (*overview, error) {
	s.Title, s.Dir = opts.text(s.Title), opts.text(s.Dir)
	o := &overview{Summary: s, opts: opts, seqs: map[session.ID]int64{}}
	var tip session.ID
	parents := []int64{0} // by sequence number
	models := map[string]*modelUse{}
	for e, err := range opts.read(ctx, store, s.ID) {
		if err != nil {
			return nil, err
		}
		o.end, o.Last = e.Seq, e.Time
		parents = append(parents, o.seqs[e.Parent])
		if session.OnBranch(e.Body) {
			tip = e.ID
			o.seqs[e.ID] = e.Seq
		}
		o.add(e, models)
		o.extend(e)
	}
	o.live = make([]bool, o.end+1)
	for seq := o.seqs[tip]; seq > 0; seq = parents[seq] {
		o.live[seq] = true
	}
	for i := range o.Turns {
		o.Turns[i].Dead = !o.live[o.Turns[i].Seq]
	}
	for _, m := range models {
		o.Models = append(o.Models, *m)
	}
	slices.SortFunc(o.Models, func(a, b modelUse) int { return cmp.Or(b.Answers-a.Answers, strings.Compare(a.Name, b.Name)) })
	return o, nil
}

func (o *overview) add(e session.Event, models map[string]*modelUse) {
	switch b := e.Body.(type) {
	case session.Created:
		o.Root, o.First = b, e.Time
		o.begin(e.Seq, 0)
	case session.Head:
		o.Branches = append(o.Branches, branchRef{e.Seq, o.seqs[b.To], b.Reason})
		o.begin(e.Seq, o.seqs[b.To])
	case session.Message:
		switch b.Role {
		case llm.RoleUser:
			if b.Source != session.FromLoop {
				o.Turns = append(o.Turns, turnRef{Seq: e.Seq, Title: unmarked(firstLine(b.Text(), 80))})
			}
		case llm.RoleAssistant:
			o.Answers++
			o.Calls += len(b.Calls())
			name := cmp.Or(b.Model, "unknown model")
			if models[name] == nil {
				models[name] = &modelUse{Name: name}
			}
			models[name].Answers++
			models[name].Usage = models[name].Usage.Plus(b.Usage)
		case llm.RoleTool:
			if b.IsError {
				o.Failed++
			}
		}
	}
}

// firstLine is the first line of a text that has words, at most limit runes.
func firstLine(text string, limit int) string {
	const look = 4 << 10
	if len(text) > look {
		text = text[:look]
	}
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if r := []rune(line); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return line
}

// unmarked is a line of Markdown without the marks that matter least.
func unmarked(line string) string {
	return strings.NewReplacer("**", "", "__", "", "`", "").Replace(strings.TrimLeft(line, "# "))
}
