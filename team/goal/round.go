package goal

import (
	"context"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/session"
)

// maxStalls is how many consecutive rounds without progress end the pursuit. The model learns of the first ones.
const maxStalls = 3

// round is the facts by which [Pursuit] recognizes progress: calls that no earlier round made with the same files, and states of files that no
// earlier round left. Words of the model are no progress.
type round struct {
	calls map[string]bool   // of all rounds, by the state of the files before the round, name and canonical arguments
	fresh bool              // a call of this round is new
	files map[string]string // the state of each changed file
	state string            // of all of them before this round
	seen  map[string]bool   // the states after earlier rounds
	after int64             // the newest entry that was read
}

func newRound() round {
	files := map[string]string{}
	return round{calls: map[string]bool{}, files: files, state: fmt.Sprint(files), seen: map[string]bool{}}
}

func (r *round) call(c agent.Proposed) {
	key := r.state + "\x00" + c.Call.Name + "\x00" + string(c.Arguments)
	r.fresh = r.fresh || !r.calls[key]
	r.calls[key] = true
}

// progress reports whether the round that ends made progress, and begins the next round.
func (p *Pursuit) progress(ctx context.Context) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &p.round
	changed := false
	for e, err := range p.options.Store.Read(ctx, p.agent.Session(), r.after, session.FilesChanged{}.Kind()) {
		if err != nil {
			return false, err
		}
		r.after = e.Seq
		b, ok := e.Body.(session.FilesChanged)
		if !ok || e.Imported {
			continue
		}
		changed = changed || b.More > 0
		for _, f := range b.Files {
			r.files[f.Path] = stateOf(f.After)
		}
	}
	if r.state = fmt.Sprint(r.files); !r.seen[r.state] { // maps print in the order of their keys
		changed = changed || len(r.files) > 0
		r.seen[r.state] = true
	}
	progress := changed || r.fresh
	r.fresh = false
	return progress, nil
}

func stateOf(s *session.FileState) string {
	if s == nil {
		return ""
	}
	return fmt.Sprint(s.Hash, s.Size, s.Mode, s.Link)
}

// exceeded returns which limit of a goal is reached, "" if none is.
func exceeded(g session.Goal) string {
	switch l, u := g.Limits, g.Used; {
	case l.Rounds > 0 && u.Rounds >= l.Rounds:
		return fmt.Sprintf("the limit of %d rounds", l.Rounds)
	case l.Time > 0 && u.Time >= l.Time:
		return "the limit of " + time.Duration(l.Time).String()
	case l.Money > 0 && u.Money >= l.Money:
		return fmt.Sprintf("the limit of $%.2f", l.Money)
	}
	return ""
}
