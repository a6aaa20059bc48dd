package export

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

// overview is the facts that come before the first item.
type overview struct {
	index.Summary
	Root     session.Created
	Models   []modelUse // the most used first
	Answers  int
	Calls    int
	Failed   int       // calls
	Turns    []turnRef // prompts of the person, in the order of the journal
	Branches []branchRef
	Parts    []part // of the journal, separated by heads
	First    time.Time
	Last     time.Time

	opts Options
	end  int64  // the last entry of the export: the session may grow in the meantime
	live []bool // by sequence number: the entry is on the current branch
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
	Dead  bool // on an abandoned branch
}

// branchRef is a head that began a branch.
type branchRef struct {
	Seq, To int64
	Reason  string
}

// part is the entries between two heads. A branch consists of a part, and of the beginnings of the parts that it continues.
type part struct {
	First, Last int64  // entries
	Title       string // of the last prompt of the person
	Messages    int
	From        int   // the part that it continues; -1 for the first
	To          int64 // the last entry that it shares with that part
	End         int64 // its last entry on a branch
	Inner       bool  // another part continues its end
}

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

// extend adds an entry to the newest part.
func (o *overview) extend(e session.Event) {
	p := &o.Parts[len(o.Parts)-1]
	p.Last = e.Seq
	if e.OnBranch() {
		p.End = e.Seq
	}
	m, ok := e.Body.(session.Message)
	if !ok || m.Role == llm.RoleTool {
		return
	}
	if p.Messages++; m.ByPerson() {
		p.Title = transcript.Headline(m.Text(), 60)
	}
}

// look reads a session once.
func look(ctx context.Context, store index.Store, s index.Summary, opts Options) (*overview, error) {
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
		if e.OnBranch() {
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
			if b.ByPerson() {
				o.Turns = append(o.Turns, turnRef{Seq: e.Seq, Title: transcript.Headline(b.Text(), 80)})
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
			if b.IsError || b.Failed {
				o.Failed++
			}
		}
	}
}

func (o *overview) name() string {
	return cmp.Or(transcript.Headline(o.Title, 200), "Session "+string(o.ID))
}

// fact is a fact about the session as a whole. Its value is text and code in turn.
type fact struct {
	name  string
	value []string
}

func (o *overview) facts() (facts []fact) {
	add := func(name string, value ...string) { facts = append(facts, fact{name, value}) }
	if o.Dir != "" {
		add("Directory", "", o.Dir)
	}
	var models []string
	const most = 6
	before := ""
	for i, m := range o.Models {
		if i == most {
			before += fmt.Sprintf(" and %d more", len(o.Models)-most)
			break
		}
		models = append(models, before, m.Name)
		before = fmt.Sprintf("×%d", m.Answers)
		if i < min(len(o.Models), most)-1 {
			before += ","
		}
	}
	add("Model", append(models, cmp.Or(before, "no answer yet"))...)
	took := ""
	if d := o.Last.Sub(o.First); d > 0 {
		took = " (" + transcript.Duration(d) + ")"
	}
	add("Time", clock(o.First)+" – "+clock(o.Last)+" UTC"+took)
	messages := transcript.Count(len(o.Turns), "prompt") + ", " + transcript.Count(o.Answers, "answer") + ", " + transcript.Count(o.Calls, "call")
	if o.Failed > 0 {
		messages += fmt.Sprintf(" (%d failed)", o.Failed)
	}
	add("Messages", messages)
	if o.Usage.Total() > 0 || o.Usage.Cost > 0 {
		add("Tokens and cost", transcript.Usage(o.Usage))
	}
	if from := o.Root.Imported; from.Program != "" {
		add("Imported from", from.Program, from.ID)
	}
	add("Session", "", string(o.ID))
	return facts
}

// whither returns the direction of a head: a redo leads forward.
func whither(to int64, reason string) string {
	words := fmt.Sprintf("back to #%d", to)
	switch {
	case to <= 1:
		words = "back to the beginning"
	case session.Cause(reason) == session.ByRedo:
		words = fmt.Sprintf("forward to #%d", to)
	}
	if reason != "" {
		words += ": " + strings.ReplaceAll(reason, "_", " ")
	}
	return words
}

func clock(t time.Time) string { return t.UTC().Format(time.DateTime) }
