package window

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/internal/excerpt"
)

// Strategy decides which part of a conversation the model sees. The window calls it before every request. The journal records its decisions,
// which hold until the next one, so that requests share their beginnings. Implementations are safe for concurrent use.
type Strategy interface {
	// Shrink returns entries that shrink the view: a [session.Trimmed] replaces the contents of messages, a [session.Summarized] replaces
	// the beginning, as [View.Before] makes it. The window calls Shrink again with the resulting view until it returns none. used is the
	// estimated number of tokens of the request, budget the available number.
	Shrink(ctx context.Context, v *View, used, budget int) ([]session.Body, error)
}

// Turns returns the indexes of the messages that begin turns: each prompt of a person, with everything that followed it. Messages of a
// summary belong to no turn.
func (v *View) Turns() []int {
	var turns []int
	for i, b := range v.Blocks {
		if b.turn {
			turns = append(turns, i)
		}
	}
	return turns
}

// Before returns a summary without text that replaces the messages before Messages[i]. It keeps messages with [[keep]], and repeats the
// context and the list of tasks. The caller may add a summary and further messages. If view and journal do not divide there, it replaces a
// little less. If it would replace nothing, ok is false.
func (v *View) Before(i int) (d session.Summarized, ok bool) {
	cut, through := v.cutBefore(i)
	if cut == 0 {
		return session.Summarized{}, false
	}
	return session.Summarized{Through: through, Reason: "full", Verbatim: v.keep(cut, 0, nil), Context: v.Context, Todo: v.todos()}, true
}

// cutBefore is the index of the first entry that stays so that Messages[i] stays, and the last entry of the journal before it; 0 if there is
// none.
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

// Recent is a [Strategy] that sends the last turns of the conversation: prompts with their answers, calls and results. If the context window
// is too small for them, it sends fewer.
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

// fewer is the number of turns that stay: the wanted number, or half of the turns if they do not fit. One always stays.
func fewer(wanted, turns int, tight bool) int {
	if wanted <= 0 {
		wanted = 10
	}
	if tight {
		wanted = min(wanted, turns/2)
	}
	return max(wanted, 1)
}

// SummaryPlusRecent is a [Strategy] that sends a summary and the last turns after it. If there are twice as many turns, or they do not
// fit, the older ones become part of the summary. The request waits for it.
type SummaryPlusRecent struct {
	Turns      int        // default 10
	Summarizer Summarizer // writes the summary; by default, and if it fails: [Extract]
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
	written, err := Extract{}.Summarize(ctx, task)
	if s.Summarizer != nil {
		if by, failed := write(ctx, s.Summarizer, task); failed == nil {
			written = by
		} else if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	d.Summary, d.By, d.Files, d.Usage = written.Summary, written.By, written.Files, written.Usage
	return []session.Body{d}, err
}

// Tiers is a [Strategy] that omits more and more until the rest fits: first lines in the middle of old results, then all but the beginnings
// and ends of old messages, then the turns between the first and the recent ones. It needs no model.
type Tiers struct {
	Lines  int // of a result of an old turn, half of them at its end; default 20
	First  int // turns at the beginning that stay, unless they are among the recent ones; default 1
	Recent int // turns at the end that stay unchanged if they fit; default 4
}

// Shrink implements [Strategy].
func (t Tiers) Shrink(_ context.Context, v *View, used, budget int) ([]session.Body, error) {
	turns := v.Turns()
	if used <= budget || len(turns) < 2 {
		return nil, nil
	}
	recent := turns[len(turns)-min(cmp.Or(max(t.Recent, 0), 4), len(turns)-1)]
	first := min(recent, turns[min(cmp.Or(max(t.First, 0), 1), len(turns)-1)]) // the end of the first turns
	if r := v.shorten(0, recent, t.result); len(r) > 0 {
		return []session.Body{session.Trimmed{Messages: r}}, nil
	}
	if r := v.shorten(first, recent, oldMessage); len(r) > 0 {
		return []session.Body{session.Trimmed{Messages: r}}, nil
	}
	for _, at := range []int{recent, turns[len(turns)-max(1, len(turns)/2)]} { // the recent turns may be too many
		if d, ok := v.Before(at); ok {
			between(v, &d, turns[0], min(first, at), at)
			return []session.Body{d}, nil
		}
	}
	return nil, nil
}

// shorten returns shorter texts for the untrimmed messages between two indexes.
func (v *View) shorten(from, until int, shorter func(llm.Message) string) []session.Trim {
	var out []session.Trim
	for i := from; i < until; i++ {
		m := v.Messages[i]
		if b := v.Blocks[i]; b.Why == Said && !marked(m) {
			if text := shorter(m); text != "" {
				out = append(out, session.Trim{Entry: b.Entries[0], Reason: "stale", Text: text})
			}
		}
	}
	return out
}

// result is the first and the last lines of a result; empty if it is short.
func (t Tiers) result(m llm.Message) string {
	if m.Role != llm.RoleTool {
		return ""
	}
	lines := strings.SplitAfter(m.Text(), "\n")
	keep := cmp.Or(max(t.Lines, 0), 20)
	if len(lines) <= keep+1 {
		return ""
	}
	tail := len(lines) - keep/2
	return fmt.Sprintf("%s[... %d lines left out ...]\n%s",
		strings.Join(lines[:keep-keep/2], ""), tail-(keep-keep/2), strings.Join(lines[tail:], ""))
}

// oldMessage is the short form of an old message: the beginning and the end of its text, and the names of the tools that it called. The
// results go with the calls.
func oldMessage(m llm.Message) string {
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
		text = strings.TrimSpace(text + "\n[called " + strings.Join(called, ", ") + "; results omitted]")
	}
	return text
}

// between makes a summary keep the first turns, from begin to end, and say that it omits the messages between them and the recent turns.
// A previous summary already has the first turns.
func between(v *View, d *session.Summarized, begin, end, recent int) {
	var first []session.Verbatim
	if before, ok := v.Summary.Body.(session.Summarized); ok {
		first = before.Verbatim
	} else {
		for i := begin; i < end; i++ {
			if m := v.Messages[i]; m.Role != llm.RoleTool && len(m.Calls()) == 0 {
				first = append(first, session.Verbatim{Entry: v.Blocks[i].Entries[0], Message: m})
			}
		}
	}
	for _, k := range d.Verbatim {
		if pinOf(first, k.Entry) < 0 {
			first = append(first, k)
		}
	}
	d.Verbatim = first
	if end < recent || v.Summary.Body != nil {
		d.Summary = "The messages between those above and those below are omitted."
	}
}
