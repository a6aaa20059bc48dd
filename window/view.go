package window

import (
	"context"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// View is the part of a journal that a model sees. A summary may replace the beginning; the rest never contradicts the journal.
type View struct {
	Messages []llm.Message
	Blocks   []Block // the origin of each message

	Epoch   session.Event          // the epoch of the journal; the zero Event before the first
	Summary session.Event          // the newest summary; the zero Event: the view has every message
	Context []session.ContextBlock // the current context blocks, in the order in which the model first saw them

	conversation
	meter
	cleanups []session.Event // results that the model discarded and that no epoch has trimmed yet, oldest first
	revertTo session.Event   // the model's request to continue from an earlier state; the zero Event: none
	todo     *session.Todo   // the newest list after the summary; nil: none
	loose    string          // why an epoch must begin because of entries after the last one; empty: none must
}

// Block is the origin of one message of a request, and the reason for it.
type Block struct {
	Why     Why          `json:"why"`
	Entries []session.ID `json:"entries"`         // of the journal; the first one is the message itself
	Note    string       `json:"note,omitzero"`   // more about the reason, such as the reason of a trim
	Tokens  int          `json:"tokens,omitzero"` // estimated

	turn bool // a person wrote it, and a turn begins
}

// Why is the reason for a message in a request.
type Why string

// The reasons for a message in a request.
const (
	Said     Why = "said"     // unchanged from the journal
	Context  Why = "context"  // context files, skills, the environment
	Verbatim Why = "verbatim" // a summary keeps it
	Pinned   Why = "pinned"   // a person or the model keeps it
	Summary  Why = "summary"  // it replaces older turns
	Trimmed  Why = "trimmed"  // a shorter text replaces the content
	Repaired Why = "repaired" // the journal lacks it, and every provider requires it
)

// Look returns the view of a path. It reads back to the entry at which the newest summary ends, and no further: the time grows with the
// context window, not with the age of the session. The error is that of reading p.
func Look(ctx context.Context, p view.Path) (*View, error) { return lookAbout(ctx, p, 0) }

// lookAbout is [Look] for a view of about this many entries.
func lookAbout(ctx context.Context, p view.Path, about int) (*View, error) {
	l := looker{view: &View{}, said: make([]session.Event, 0, about)}
	l.view.journal = make([]session.ID, 0, about)
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if d, ok := l.view.Summary.Body.(session.Summarized); ok && e.ID == d.Through {
			break
		}
		l.take(e)
	}
	l.release()
	if l.view.Epoch.Body == nil {
		l.view.fresh = len(l.view.journal)
	}
	slices.Reverse(l.said)
	slices.Reverse(l.contexts)
	slices.Reverse(l.view.cleanups)
	return l.view, l.view.compose(ctx, l.said, l.contexts, l.trims)
}

// looker collects the parts of a view, from the newest entry to the oldest.
type looker struct {
	view     *View
	said     []session.Event // the entries of the conversation
	held     []session.Event // contexts that move before the questions that precede them
	contexts []session.Event
	trims    map[session.ID]session.Trim
	answer   llm.Usage // of the answer after the current entry
}

func (l *looker) take(e session.Event) {
	v := l.view
	inEpoch := v.Epoch.Body == nil
	switch b := e.Body.(type) {
	case session.Message, session.Partial, session.Discarded, session.CallStarted, session.Context:
		l.converse(e)
	case session.Todo:
		if v.todo == nil {
			v.todo = &b
		}
	case session.Summarized:
		if v.Summary.Body == nil {
			v.Summary = e
		}
		if inEpoch { // the process was killed before it could begin the epoch
			v.loose = "compaction"
		}
	case session.Trimmed:
		if inEpoch && v.loose == "" {
			v.loose = "trim"
		}
		l.trim(b)
	case session.Epoch:
		if inEpoch {
			v.Epoch, v.fresh = e, len(v.journal)
		}
	case session.Requested:
		l.release()
		v.meter.take(b, l.answer, inEpoch)
		l.answer = llm.Usage{}
	case session.Cleanup:
		if inEpoch { // an epoch trims the earlier ones
			v.cleanups = append(v.cleanups, e)
		}
	case session.Revert:
		if v.revertTo.Body == nil && !overtaken(l.said) {
			v.revertTo = e
		}
	}
}

// trim notes shorter texts. The newest one of a message counts.
func (l *looker) trim(b session.Trimmed) {
	if l.trims == nil {
		l.trims = make(map[session.ID]session.Trim, len(b.Messages))
	}
	for _, r := range b.Messages {
		if _, newer := l.trims[r.Entry]; !newer {
			l.trims[r.Entry] = r
		}
	}
}

// converse takes an entry of the conversation.
func (l *looker) converse(e session.Event) {
	v := l.view
	switch b := e.Body.(type) {
	case session.Context:
		if v.Summary.Body == nil { // otherwise the summary repeats it
			v.journal = append(v.journal, e.ID)
			l.held = append(l.held, contextMessage(e, b))
			l.contexts = append(l.contexts, e)
		}
		return
	case session.Message:
		v.journal = append(v.journal, e.ID)
		if b.Role != llm.RoleUser {
			l.release()
		}
		if b.Role == llm.RoleAssistant {
			l.answer = b.Usage
		}
	case session.Partial:
		v.journal = append(v.journal, e.ID)
	}
	l.said = append(l.said, e)
}

// release puts the held contexts before the next entry: the context comes before the questions that were not sent without it.
func (l *looker) release() {
	l.said = append(l.said, l.held...)
	l.held = l.held[:0]
}

// overtaken reports whether the model has answered since, or a person has written a message, which no revert removes.
func overtaken(newestFirst []session.Event) bool {
	return slices.ContainsFunc(newestFirst, func(e session.Event) bool {
		m, ok := e.Body.(session.Message)
		return ok && (m.Role == llm.RoleAssistant || m.ByPerson())
	})
}

// compose builds the messages of the view: those of the summary, and those after it.
func (v *View) compose(ctx context.Context, said, contexts []session.Event, trims map[session.ID]session.Trim) error {
	conversation, err := view.Messages(ctx, view.Entries(said))
	if err != nil {
		return err
	}
	v.entries, v.said = conversation, said
	d, _ := v.Summary.Body.(session.Summarized)
	v.Context = holding(d.Context, contexts)
	v.Messages, v.Blocks = make([]llm.Message, 0, len(v.entries)+len(d.Verbatim)+2), make([]Block, 0, len(v.entries)+len(d.Verbatim)+2)
	v.begin(d)
	v.conversation.trim(trims)
	start := len(v.Blocks)
	v.Messages, v.Blocks = repair(v.entries, v.Messages, v.Blocks)
	for i := range v.Blocks[start:] {
		b := &v.Blocks[start+i]
		if r, ok := trims[b.Entries[0]]; ok && b.Why == Said {
			b.Why, b.Note = Trimmed, r.Reason
		}
	}
	return nil
}

// begin adds the messages that replace the beginning.
func (v *View) begin(d session.Summarized) {
	add := func(m llm.Message, b Block) {
		if !m.Empty() {
			v.Messages, v.Blocks = append(v.Messages, m), append(v.Blocks, b)
		}
	}
	add(llm.UserText(contextText(d.Context)), Block{Why: Context, Entries: []session.ID{v.Summary.ID}})
	for _, k := range d.Verbatim {
		b := Block{Why: Verbatim, Entries: []session.ID{k.Entry, v.Summary.ID}}
		if k.Pinned {
			b.Why = Pinned
		}
		add(k.Message, b)
	}
	add(llm.UserText(summaryText(d.Summary, len(d.Omitted))), Block{Why: Summary, Entries: []session.ID{v.Summary.ID}, Note: d.Reason})
}

// todos is the list of tasks, as of the view.
func (v *View) todos() []session.TodoItem {
	if v.todo != nil {
		return v.todo.Items
	}
	before, _ := v.Summary.Body.(session.Summarized)
	return before.Todo
}
