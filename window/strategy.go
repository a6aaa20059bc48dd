package window

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/internal/excerpt"
)

// Strategy decides what of a conversation is sent. It is asked before every request; what it decides is in the journal and holds from
// then on, so that requests go on from each other until it decides anew. Implementations are safe for concurrent use.
type Strategy interface {
	// Shrink returns entries that make the view smaller: a [session.Reduced], which stands for the contents of messages, or a
	// [session.Digest], which stands for the beginning, as [View.Before] makes it. It is asked again with the view that they make
	// until there are none. used is about how many tokens the request would have, and budget how many it may have.
	Shrink(ctx context.Context, v *View, used, budget int) ([]session.Body, error)
}

// Shrunk is the window of an agent by a strategy: `agent.Options{Window: window.Shrunk{By: window.Recent{Turns: 20}}}`. Where Place,
// pins, a background worker and reductions are wanted too, there is [Window]. It is safe for concurrent use.
type Shrunk struct{ By Strategy }

// maxSteps is how often a strategy is asked before one request.
const maxSteps = 100

// Request implements the window of an agent. The error is that of the strategy, or of reading p.
func (s Shrunk) Request(ctx context.Context, p session.Path, h Header) (*llm.Request, []session.Body, error) {
	d := draft{path: p, header: h, usable: Usable(h)}
	if err := s.shrink(ctx, &d); err != nil {
		return nil, nil, err
	}
	if err := d.beginEpoch(ctx); err != nil {
		return nil, nil, err
	}
	return d.request(), d.entries, nil
}

// shrink lets the strategy take its steps.
func (s Shrunk) shrink(ctx context.Context, d *draft) error {
	for range maxSteps {
		if err := d.look(ctx); err != nil {
			return err
		}
		bodies, err := s.By.Shrink(ctx, d.view, d.estimate().Tokens, d.usable)
		if err != nil {
			return fmt.Errorf("window: shrink the conversation: %w", err)
		}
		if len(bodies) == 0 {
			return nil
		}
		reason := "reduction"
		if slices.ContainsFunc(bodies, func(b session.Body) bool { return b.Kind() == session.Digest{}.Kind() }) {
			reason = "compaction"
		}
		d.begin(reason)
		d.add(bodies...)
	}
	return fmt.Errorf("window: the strategy %T does not come to an end: it returned entries %d times", s.By, maxSteps)
}

// Room implements the window of an agent: the fuller the window, the less one result may have.
func (s Shrunk) Room(ctx context.Context, p session.Path, h Header) (Room, error) {
	v, err := Look(ctx, p)
	if err != nil {
		return Room{}, err
	}
	return v.room(h, Usable(h)), nil
}

// Overflow implements the window of an agent: the strategy gets nine tenths of what was too much.
func (s Shrunk) Overflow(ctx context.Context, p session.Path, h Header, cause error) ([]session.Body, error) {
	d := draft{path: p, header: h}
	if err := d.look(ctx); err != nil {
		return nil, err
	}
	d.usable = min(Usable(h), d.estimate().Tokens*9/10)
	if err := s.shrink(ctx, &d); err != nil {
		return nil, err
	}
	if len(d.entries) == 0 {
		return nil, cause
	}
	err := d.beginEpoch(ctx)
	return d.entries, err
}

// Turns returns the places of the messages with which turns begin: what a person said, with all that came of it. What a digest keeps or
// sums up belongs to no turn.
func (v *View) Turns() []int {
	var turns []int
	for i, b := range v.Blocks {
		if b.turn {
			turns = append(turns, i)
		}
	}
	return turns
}

// Before returns a digest that leaves out the messages before Messages[i], but for those that say themselves that they are to be kept;
// what was told of the place, and what is to be done, is told again. It may have a summary of them, and keep more. Where view and journal
// do not part alike it leaves out a bit less; where nothing is left out, ok is false.
func (v *View) Before(i int) (d session.Digest, ok bool) {
	cut, through := v.cutBefore(i)
	if cut == 0 {
		return session.Digest{}, false
	}
	return session.Digest{Through: through, Reason: "full", Kept: v.keep(cut, 0, nil), Context: v.Context, Todo: v.todos()}, true
}

// cutBefore is the place among the entries up to which a digest may stand so that Messages[i] stays, and the last entry of the journal
// before it; 0 when there is none.
func (v *View) cutBefore(i int) (cut int, through session.ID) {
	if i < 0 || i >= len(v.Blocks) {
		return 0, ""
	}
	cut = slices.IndexFunc(v.entries, func(e session.Event) bool { return e.ID == v.Blocks[i].Entries[0] })
	ends := v.ends()
	for ; cut > 0; cut-- {
		if ends[cut] != "" {
			return cut, ends[cut]
		}
	}
	return 0, ""
}

// Recent is a [Strategy] that sends the last turns of the conversation: what people said, and all answers, calls and results that came of
// it, which do not count. In a window that is too small for them it sends fewer.
type Recent struct {
	Turns int // default 10
}

// Shrink implements [Strategy].
func (r Recent) Shrink(_ context.Context, v *View, used, budget int) ([]session.Body, error) {
	turns := v.Turns()
	keep := fewer(r.Turns, len(turns), used > budget)
	if len(turns) <= keep {
		return nil, nil
	}
	if d, ok := v.Before(turns[len(turns)-keep]); ok {
		return []session.Body{d}, nil
	}
	return nil, nil
}

// fewer is how many of the turns stay: as many as wanted, and when they do not fit, half of those that there are. One always stays.
func fewer(wanted, turns int, tight bool) int {
	if wanted <= 0 {
		wanted = 10
	}
	if tight {
		wanted = min(wanted, turns/2)
	}
	return max(wanted, 1)
}

// SummaryPlusRecent is a [Strategy] that sends a summary and the last turns behind it. When there are twice as many turns, or they do not
// fit, those before the last become part of the summary. The request waits while it is written.
type SummaryPlusRecent struct {
	Turns    int      // default 10
	Digester Digester // writes the summary; where it cannot, and by default: [Outline]
}

// Shrink implements [Strategy].
func (s SummaryPlusRecent) Shrink(ctx context.Context, v *View, used, budget int) ([]session.Body, error) {
	turns := v.Turns()
	keep := fewer(s.Turns, len(turns), used > budget)
	if len(turns) <= keep || len(turns) < 2*keep && used <= budget {
		return nil, nil
	}
	at := turns[len(turns)-keep]
	d, ok := v.Before(at)
	if !ok {
		return nil, nil
	}
	cut, _ := v.cutBefore(at)
	task := v.task(cut)
	task.Reason, task.Limit = d.Reason, max(budget/20, 500)
	written, err := Outline{}.Digest(ctx, task)
	if s.Digester != nil {
		if by, failed := write(ctx, s.Digester, task); failed == nil {
			written = by
		} else if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	d.Summary, d.By, d.Files, d.Usage = written.Summary, written.By, written.Files, written.Usage
	return []session.Body{d}, err
}

// Tiers is a [Strategy] that leaves more and more out until the rest fits: first lines in the middle of old results, then all but the
// beginnings of old answers and of what was said, then the turns between the first and the recent ones. It needs no model.
type Tiers struct {
	Lines  int // that a result of an old turn keeps, half of them at its end; default 20
	First  int // turns at the beginning that stay, as far as they do not belong to the recent ones; default 1
	Recent int // turns at the end that stay as they are, as long as they fit; default 4
}

// Shrink implements [Strategy].
func (t Tiers) Shrink(_ context.Context, v *View, used, budget int) ([]session.Body, error) {
	turns := v.Turns()
	if used <= budget || len(turns) < 2 {
		return nil, nil
	}
	recent := turns[len(turns)-min(orElse(t.Recent, 4), len(turns)-1)]
	first := min(recent, turns[min(orElse(t.First, 1), len(turns)-1)]) // where the first turns end
	if r := v.shorten(0, recent, t.result); len(r) > 0 {
		return []session.Body{session.Reduced{Messages: r}}, nil
	}
	if r := v.shorten(first, recent, t.old); len(r) > 0 {
		return []session.Body{session.Reduced{Messages: r}}, nil
	}
	for _, at := range []int{recent, turns[len(turns)-max(1, len(turns)/2)]} { // the recent ones may be too many
		if d, ok := v.Before(at); ok {
			t.between(v, &d, turns[0], min(first, at), at)
			return []session.Body{d}, nil
		}
	}
	return nil, nil
}

func orElse(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// shorten makes shorter texts of the messages between two places that are as the journal has them.
func (v *View) shorten(from, until int, shorter func(llm.Message) string) []session.Reduction {
	var out []session.Reduction
	for i := from; i < until; i++ {
		m := v.Messages[i]
		if b := v.Blocks[i]; b.Why == Said && !marked(m) {
			if text := shorter(m); text != "" {
				out = append(out, session.Reduction{Entry: b.Entries[0], Reason: "stale", Text: text})
			}
		}
	}
	return out
}

// result is the first and the last lines of a result; empty when it is short.
func (t Tiers) result(m llm.Message) string {
	if m.Role != llm.RoleTool {
		return ""
	}
	lines := strings.SplitAfter(m.Text(), "\n")
	keep := orElse(t.Lines, 20)
	if len(lines) <= keep+1 {
		return ""
	}
	tail := len(lines) - keep/2
	return fmt.Sprintf("%s[... %d lines left out ...]\n%s",
		strings.Join(lines[:keep-keep/2], ""), tail-(keep-keep/2), strings.Join(lines[tail:], ""))
}

// old is what is left of an old message: the beginning and the end of its text, and which tools it called. The results go with the calls.
func (Tiers) old(m llm.Message) string {
	const most = 300 // bytes
	text := excerpt.HeadTail(m.Text(), most)
	var called []string
	for _, c := range m.Calls() {
		called = append(called, c.Name)
	}
	switch {
	case m.Role == llm.RoleTool, len(called) == 0 && len(text) == len(m.Text()):
		return ""
	case len(called) > 0:
		text = strings.TrimSpace(text + "\n[called " + strings.Join(called, ", ") + "; the results are left out]")
	}
	return text
}

// between lets a digest keep the first turns, which stand from begin to end, and say that it leaves out what is between them and the recent ones.
// A digest that stands for a beginning already has the first turns.
func (Tiers) between(v *View, d *session.Digest, begin, end, recent int) {
	var first []session.Kept
	if before, ok := v.Digest.Body.(session.Digest); ok {
		first = before.Kept
	} else {
		for i := begin; i < end; i++ {
			if m := v.Messages[i]; m.Role != llm.RoleTool && len(m.Calls()) == 0 {
				first = append(first, session.Kept{Entry: v.Blocks[i].Entries[0], Message: m})
			}
		}
	}
	for _, k := range d.Kept {
		if !slices.ContainsFunc(first, func(f session.Kept) bool { return f.Entry == k.Entry }) {
			first = append(first, k)
		}
	}
	d.Kept = first
	if end < recent || v.Digest.Body != nil {
		d.Summary = "What was said between the messages above and those below was left out."
	}
}
