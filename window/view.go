package window

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// View is what a model sees of a journal: less than all of it where a digest stands for its beginning, never other than it.
type View struct {
	Messages []llm.Message
	Blocks   []Block // says of each message where it comes from

	Epoch   session.Event          // the epoch that the journal is in; the zero Event before the first
	Digest  session.Event          // what stands for its beginning; the zero Event: all of it is there
	Context []session.ContextBlock // what holds of what was told of the place, in the order in which it was told first

	cleanups []session.Event // wishes of the model that no epoch has fulfilled yet, oldest first
	revert   session.Event   // its wish to go on from an earlier state; the zero Event: none
	requests []session.Event // Requested of this epoch, newest first
	entries  []session.Event // what the messages after the digest were made from, oldest first
	journal  []session.ID    // the order of these in the journal, newest first

	begun   []begun             // the calls of these, oldest first
	answers map[session.ID]bool // the answers of this epoch
	learned learning
	todo    *session.Todo // the newest list after the digest; nil: there is none
	loose   string        // why an epoch must begin for what stands after the last one; empty: it need not

	originals map[session.ID]session.Event // of the entries for which a shorter text stands
}

// Block says where one message of a request comes from, and why it is there.
type Block struct {
	Why     Why          `json:"why"`
	Entries []session.ID `json:"entries"`         // of the journal; the first is the one that is told
	Note    string       `json:"note,omitzero"`   // more about the reason, such as that of a reduction
	Tokens  int          `json:"tokens,omitzero"` // estimated

	turn bool // a person said it, and a turn begins
}

// Why says why a message is in a request.
type Why string

// The reasons for which a message is in a request.
const (
	Said    Why = "said"    // it is in the journal as it is
	Told    Why = "context" // it tells of the place: context files, skills, the environment
	Kept    Why = "kept"    // a digest keeps it word for word
	Pinned  Why = "pinned"  // a person wants it kept
	Summary Why = "summary" // it stands for what came before
	Shorter Why = "reduced" // a shorter text stands for the content
	Mended  Why = "mended"  // the journal lacks it, and no provider would take the request without
)

// Look makes the view of a path. It reads back to where the newest digest begins to stand for the rest, and no further: the cost grows
// with what the model sees, not with the age of the session. The error is that of reading p.
func Look(ctx context.Context, p session.Path) (*View, error) {
	l := looker{view: &View{answers: make(map[session.ID]bool)}, reduced: make(map[session.ID]session.Reduction)}
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if d, ok := l.view.Digest.Body.(session.Digest); ok && e.ID == d.Through {
			break
		}
		l.take(e)
	}
	l.release()
	slices.Reverse(l.said)
	slices.Reverse(l.contexts)
	slices.Reverse(l.view.cleanups)
	return l.view, l.view.compose(ctx, l.said, l.contexts, l.reduced)
}

// looker gathers what a view is made of, from the newest entry to the oldest.
type looker struct {
	view     *View
	said     []session.Event // what the conversation is made of
	held     []session.Event // contexts that are told before the questions that stand before them
	contexts []session.Event
	reduced  map[session.ID]session.Reduction
	answer   llm.Usage // of the answer that came after the entry that is looked at
}

func (l *looker) take(e session.Event) {
	v := l.view
	inEpoch := v.Epoch.Body == nil
	switch b := e.Body.(type) {
	case session.Message, session.Partial, session.Discarded, session.CallStarted, session.Context:
		l.converse(e, inEpoch)
	case session.Todo:
		if v.todo == nil {
			v.todo = &b
		}
	case session.Digest:
		if v.Digest.Body == nil {
			v.Digest = e
		}
		if inEpoch { // the process died before the epoch was there
			v.loose = "compaction"
		}
	case session.Reduced:
		if inEpoch && v.loose == "" {
			v.loose = "reduction"
		}
		for _, r := range b.Messages {
			if _, newer := l.reduced[r.Entry]; !newer {
				l.reduced[r.Entry] = r
			}
		}
	case session.Epoch:
		if inEpoch {
			v.Epoch = e
		}
	case session.Requested:
		l.release()
		if inEpoch {
			v.requests = append(v.requests, e)
		}
		v.learn(b, l.answer)
		l.answer = llm.Usage{}
	case session.Cleanup:
		if inEpoch { // an epoch fulfils those before it
			v.cleanups = append(v.cleanups, e)
		}
	case session.Revert:
		if v.revert.Body == nil && !overtaken(l.said) {
			v.revert = e
		}
	}
}

// converse takes what the conversation is made of.
func (l *looker) converse(e session.Event, inEpoch bool) {
	v := l.view
	switch b := e.Body.(type) {
	case session.Context:
		if v.Digest.Body == nil { // else the digest tells it anew
			v.journal = append(v.journal, e.ID)
			l.held = append(l.held, told(e, b))
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
			v.answers[e.ID] = inEpoch
		}
	case session.Partial:
		v.journal = append(v.journal, e.ID)
	}
	l.said = append(l.said, e)
}

// release puts the contexts that are held before what comes next: the place is told before the questions about it, as long as these
// were not sent without.
func (l *looker) release() {
	l.said = append(l.said, l.held...)
	l.held = l.held[:0]
}

// overtaken reports whether the model has answered since, or a person has said something, which is never taken back.
func overtaken(newestFirst []session.Event) bool {
	return slices.ContainsFunc(newestFirst, func(e session.Event) bool {
		m, ok := e.Body.(session.Message)
		return ok && (m.Role == llm.RoleAssistant || m.Role == llm.RoleUser && byPerson(m.Source))
	})
}

// compose puts the messages of the view together: what the digest says, and what came after it.
func (v *View) compose(ctx context.Context, said, contexts []session.Event, reduced map[session.ID]session.Reduction) error {
	conversation, err := session.Messages(ctx, session.Entries(said))
	if err != nil {
		return err
	}
	v.entries, v.begun = conversation, begunIn(said)
	d, _ := v.Digest.Body.(session.Digest)
	v.Context = holding(d.Context, contexts)
	v.begin(d)
	v.reduce(reduced)
	tail, blocks := repair(v.entries)
	for i := range blocks {
		if r, ok := reduced[blocks[i].Entries[0]]; ok && blocks[i].Why == Said {
			blocks[i].Why, blocks[i].Note = Shorter, r.Reason
		}
	}
	v.Messages, v.Blocks = append(v.Messages, tail...), append(v.Blocks, blocks...)
	return nil
}

// begun is a call that began.
type begun struct {
	call   session.CallStarted
	answer int // that made it, from 1: names of calls may come again
}

// begunIn is the calls that began.
func begunIn(said []session.Event) []begun {
	var out []begun
	answers := 0
	for _, e := range said {
		switch b := e.Body.(type) {
		case session.Message:
			if b.Role == llm.RoleAssistant {
				answers++
			}
		case session.CallStarted:
			out = append(out, begun{b, answers})
		}
	}
	return out
}

// begin tells what stands for the beginning.
func (v *View) begin(d session.Digest) {
	add := func(m llm.Message, b Block) {
		if !m.Empty() {
			v.Messages, v.Blocks = append(v.Messages, m), append(v.Blocks, b)
		}
	}
	add(llm.UserText(contextText(d.Context)), Block{Why: Told, Entries: []session.ID{v.Digest.ID}})
	for _, k := range d.Kept {
		b := Block{Why: Kept, Entries: []session.ID{k.Entry, v.Digest.ID}}
		if k.Pinned {
			b.Why = Pinned
		}
		add(k.Message, b)
	}
	add(llm.UserText(summaryText(d.Summary)), Block{Why: Summary, Entries: []session.ID{v.Digest.ID}, Note: d.Reason})
}

// reduce puts the shorter texts in place.
func (v *View) reduce(reduced map[session.ID]session.Reduction) {
	if len(reduced) == 0 {
		return
	}
	v.originals = make(map[session.ID]session.Event)
	for i, e := range v.entries {
		if r, ok := reduced[e.ID]; ok {
			v.originals[e.ID] = e
			m := e.Body.(session.Message)
			m.Content = llm.Content{llm.Text{Text: r.Text}}
			v.entries[i].Body = m
		}
	}
}

// fromContext is the source of a message that a view makes of a [session.Context].
const fromContext session.Source = "context"

// told is a context entry as a message.
func told(e session.Event, c session.Context) session.Event {
	e.Body = session.Message{Message: llm.UserText(contextText(c.Blocks)), Source: fromContext}
	return e
}

// contextText is what a model reads of the place. What a file says cannot end its block, nor begin another. Files in work are data, and
// no context that the model follows: they have a block of another kind.
func contextText(blocks []session.ContextBlock) string {
	var b strings.Builder
	for _, c := range blocks {
		tag, name := "context", c.Name
		if file, ok := strings.CutPrefix(name, fileBlock); ok {
			tag, name = "file", file
		}
		name = strings.Map(inName, name)
		if c.Text == "" {
			b.WriteString("<" + tag + " name=\"" + name + "\" gone=\"true\"/>\n")
			continue
		}
		text := disarm(strings.TrimRight(c.Text, "\n"), "<context", "</context", "</file")
		b.WriteString("<" + tag + " name=\"" + name + "\">\n" + text + "\n</" + tag + ">\n")
	}
	return b.String()
}

// inName is a character as it may stand in the name of a block.
func inName(r rune) rune {
	switch {
	case r == '"':
		return '\''
	case r == '<':
		return '('
	case r == '>':
		return ')'
	case unicode.IsPrint(r):
		return r
	default:
		return ' '
	}
}

// disarm takes from marks in a text what makes them marks, in capital letters too: what is told cannot end the block that it is told in.
func disarm(text string, marks ...string) string {
	var b strings.Builder
	rest := text
	for {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		begins := func(mark string) bool {
			return len(rest)-i >= len(mark) && strings.EqualFold(rest[i:i+len(mark)], mark)
		}
		b.WriteString(rest[:i+1])
		if slices.ContainsFunc(marks, begins) {
			b.WriteByte(' ')
		}
		rest = rest[i+1:]
	}
	if b.Len() == 0 {
		return text
	}
	return b.String() + rest
}

// summaryText is how a digest speaks to the model.
func summaryText(summary string) string {
	if summary == "" {
		return ""
	}
	return "<summary>\nThe conversation up to here was longer. This is what it came to; the journal has all of it.\n\n" +
		disarm(strings.TrimSpace(summary), "</summary") + "\n</summary>"
}

// holding is what holds after a beginning and what was told since.
func holding(blocks []session.ContextBlock, since []session.Event) []session.ContextBlock {
	held := slices.Clone(blocks)
	for _, e := range since {
		c := e.Body.(session.Context)
		if c.Whole {
			held = nil
		}
		for _, b := range c.Blocks {
			at := slices.IndexFunc(held, func(h session.ContextBlock) bool { return h.Name == b.Name })
			switch {
			case at < 0 && b.Text != "":
				held = append(held, b)
			case at >= 0 && b.Text != "":
				held[at] = b
			case at >= 0:
				held = slices.Delete(held, at, at+1)
			}
		}
	}
	return held
}

// changes is what of now is not as it was told. What a digest told beside the place, such as the files in work, is not asked about.
func changes(told, now []session.ContextBlock) []session.ContextBlock {
	find := func(in []session.ContextBlock, name string) (session.ContextBlock, bool) {
		i := slices.IndexFunc(in, func(b session.ContextBlock) bool { return b.Name == name })
		if i < 0 {
			return session.ContextBlock{}, false
		}
		return in[i], true
	}
	var news []session.ContextBlock
	for _, b := range now {
		if old, ok := find(told, b.Name); ok && old.Text == b.Text || !ok && b.Text == "" {
			continue
		}
		news = append(news, b)
	}
	for _, old := range told {
		if _, ok := find(now, old.Name); !ok && old.Name != todoBlock && !strings.HasPrefix(old.Name, fileBlock) {
			news = append(news, session.ContextBlock{Name: old.Name})
		}
	}
	return news
}
