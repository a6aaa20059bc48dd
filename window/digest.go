package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Digester writes what stands for the beginning of a conversation. Implementations are safe for concurrent use.
type Digester interface {
	// Digest fills in Summary, and By, Files and Usage where it knows them. It leaves when ctx ends.
	Digest(ctx context.Context, t Task) (session.Digest, error)
}

// Task is what a digest is to be made of.
type Task struct {
	Live   *llm.Request          // the request as it would be sent now: behind it a provider finds its cache
	Model  llm.Model             // that it would be sent to
	Events []session.Event       // what the digest will stand for, oldest first: messages as the journal has them, results behind their calls
	Before *session.Digest       // the digest that stands before these; nil: they are the beginning
	Todo   []session.TodoItem    // what is to be done, as of now
	Calls  []session.CallStarted // of these events
	Reason string                // "full", "overflow", "asked"
	Focus  string                // what is to be kept above all; empty: nothing in particular
	Limit  int                   // tokens that the summary may have
}

// work is a digest that is being written.
type work struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when digest and err are there
	plan   plan
	digest session.Digest
	err    error
}

// plan says what a digest will stand for.
type plan struct {
	task    Task
	through session.ID
	kept    []session.Kept
	before  session.ID // the digest that was in the view
}

// begin has a digest written in the background.
func (w *Window) begin(ctx context.Context, d *draft, reason, focus string) {
	plan, err := w.plan(ctx, d, reason, focus)
	if err != nil {
		w.fail(reason, err)
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	work := &work{cancel: cancel, done: make(chan struct{}), plan: plan}
	w.mu.Lock()
	w.work = work
	w.mu.Unlock()
	w.announce(session.Compacting{Reason: reason})
	go func() {
		defer close(work.done)
		defer cancel()
		work.digest, work.err = w.options.Digester.Digest(ctx, plan.task)
	}()
}

// finished takes the digest that was written in the background, if there is one.
func (w *Window) finished() *work {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work == nil {
		return nil
	}
	select {
	case <-w.work.done:
		done := w.work
		w.work = nil
		return done
	default:
		return nil
	}
}

// digestNow waits for a digest: that which is being written, or one that is made now. Where a model cannot write it, it is made without.
func (w *Window) digestNow(ctx context.Context, d *draft, reason, focus string) error {
	w.mu.Lock()
	under := w.work
	w.work = nil
	w.mu.Unlock()
	if under != nil && reason == "asked" && focus != "" { // it would not know of the focus
		under.cancel()
		<-under.done
		under = nil
	}
	if under == nil {
		w.begin(ctx, d, reason, focus)
		w.mu.Lock()
		under, w.work = w.work, nil
		w.mu.Unlock()
	}
	if under == nil {
		return nil
	}
	select {
	case <-under.done:
	case <-ctx.Done():
		under.cancel()
		<-under.done
		return context.Cause(ctx)
	}
	return w.apply(ctx, d, under)
}

// apply lets a digest take effect in a draft, if it still fits and makes the window smaller.
func (w *Window) apply(ctx context.Context, d *draft, done *work) error {
	digest, err := done.digest, done.err
	if err != nil {
		w.fail(done.plan.task.Reason, err)
		if digest, err = (Outline{}).Digest(ctx, done.plan.task); err != nil {
			return nil
		}
	}
	if d.view.Digest.ID != done.plan.before || !d.has(done.plan.through) {
		return nil // the conversation has gone another way meanwhile
	}
	digest.Reason, digest.Focus = done.plan.task.Reason, done.plan.task.Focus
	digest.Through, digest.Kept, digest.Todo = done.plan.through, done.plan.kept, d.todo()
	if digest.Context, err = w.refresh(ctx, d, digest.Files); err != nil {
		return fmt.Errorf("window: tell of the place again: %w", err)
	}
	before := d.view.Estimate(d.header).Tokens
	trial := draft{path: extended{d.path, []session.Body{digest, d.header.epoch("compaction")}}, header: d.header}
	if err := trial.look(ctx); err != nil {
		return err
	}
	after := trial.view.Estimate(d.header).Tokens
	if after >= before*9/10 {
		w.fail(digest.Reason, fmt.Errorf("it would leave %d of %d tokens", after, before))
		return nil
	}
	digest.Before, digest.After = int64(before), int64(after)
	d.begin("compaction")
	d.add(digest)
	w.mu.Lock()
	w.last = time.Now()
	if err == nil && done.err == nil {
		w.failed = 0
	}
	w.mu.Unlock()
	w.announce(session.Compacting{Reason: digest.Reason, Done: true})
	return d.look(ctx)
}

// refresh is what holds of the place when the digest takes effect, with the files in work.
func (w *Window) refresh(ctx context.Context, d *draft, files []string) ([]session.ContextBlock, error) {
	held := slices.Clone(d.view.Context)
	if w.options.Files != nil {
		newest, err := w.options.Files(ctx, files)
		if err != nil {
			return nil, err
		}
		held = append(slices.DeleteFunc(held, func(b session.ContextBlock) bool { return strings.HasPrefix(b.Name, fileBlock) }), newest...)
	}
	held = slices.DeleteFunc(held, func(b session.ContextBlock) bool { return b.Name == todoBlock })
	if text := todoText(d.todo()); text != "" {
		held = append(held, session.ContextBlock{Name: todoBlock, Text: text})
	}
	return held, nil
}

// fail notes that a digest came to nothing, and tells people.
func (w *Window) fail(reason string, err error) {
	if errors.Is(err, context.Canceled) {
		w.announce(session.Compacting{Reason: reason, Done: true, Error: "it was cancelled"})
		return
	}
	w.mu.Lock()
	w.failed++
	gaveUp := w.failed == maxFailures
	w.mu.Unlock()
	text := err.Error()
	if gaveUp {
		text += "; it is not tried again until somebody asks for it"
	}
	w.announce(session.Compacting{Reason: reason, Done: true, Error: text})
}

var errNothing = errors.New("there is nothing to be left out: the conversation is one question and its beginning")

// plan decides what a digest will stand for: all but the end of the conversation, cut before an answer or a question.
func (w *Window) plan(ctx context.Context, d *draft, reason, focus string) (plan, error) {
	var pins []session.Kept
	if w.options.Pins != nil {
		var err error
		if pins, err = w.options.Pins(ctx); err != nil {
			return plan{}, err
		}
	}
	v := d.view
	used := v.Estimate(d.header).Tokens
	cut := v.cut(min(int(w.options.KeepTail*float64(d.usable)), used/4))
	if cut == 0 {
		return plan{}, errNothing
	}
	budget := w.options.KeepTurns
	if budget <= 0 {
		budget = d.usable / 20
	}
	p := plan{through: v.entries[cut-1].ID, before: v.Digest.ID}
	p.kept = v.keep(cut, budget, pins)
	p.task = Task{
		Live: d.header.request(v.Messages), Model: d.header.Model, Events: v.original(cut), Todo: d.todo(),
		Reason: reason, Focus: focus, Limit: max(d.usable/20, 500),
	}
	if before, ok := v.Digest.Body.(session.Digest); ok {
		p.task.Before = &before
	}
	answers := answersIn(v.entries[:cut])
	for _, b := range v.begun {
		if b.answer <= answers {
			p.task.Calls = append(p.task.Calls, b.call)
		}
	}
	return p, nil
}

// minTail is how many answers with their results stay word for word at least.
const minTail = 2

// cut is the place among the entries up to which a digest may stand: behind it are as many tokens as asked for, and at least two answers.
// What is cut off ends before an answer or a question, so that calls keep their results.
func (v *View) cut(tail int) int {
	size, answers, at := 0, 0, 0
	for i := len(v.entries) - 1; i > 0; i-- {
		m := v.entries[i].Body.(session.Message)
		size += countMessages([]llm.Message{m.Message})
		if m.Role == llm.RoleTool {
			continue
		}
		if answers >= minTail && size > tail {
			break
		}
		if m.Role == llm.RoleAssistant {
			answers++
		}
		at = i
	}
	return at
}

// keep is what a digest keeps word for word of the entries before cut and of the digest before: what is pinned, the first thing that the
// person said, and of the rest the newest that fit into the budget.
func (v *View) keep(cut, budget int, pins []session.Kept) []session.Kept {
	var all []session.Kept
	if d, ok := v.Digest.Body.(session.Digest); ok {
		all = slices.Clone(d.Kept)
	}
	pinnedID := func(id session.ID) bool {
		return slices.ContainsFunc(pins, func(k session.Kept) bool { return k.Entry == id })
	}
	for i := range all { // somebody may have changed their mind
		all[i].Pinned = pinnedID(all[i].Entry) || marked(all[i].Message)
	}
	for _, e := range v.entries[:cut] {
		m := e.Body.(session.Message)
		if m.Empty() {
			continue
		}
		pinned := pinnedID(e.ID) || marked(m.Message)
		if pinned || m.Role == llm.RoleUser && byPerson(m.Source) {
			all = append(all, session.Kept{Entry: e.ID, Message: asSaid(m.Message), Pinned: pinned})
		}
	}
	all = append(v.elsewhere(pins, all), all...)
	left := budget
	stays := make([]bool, len(all))
	for i, k := range all {
		stays[i] = k.Pinned
	}
	take := func(i int) {
		if n := countMessages([]llm.Message{all[i].Message}); !stays[i] && n <= left {
			left -= n
			stays[i] = true
		}
	}
	if len(all) > 0 {
		take(0)
	}
	for i := len(all) - 1; i > 0; i-- {
		take(i)
	}
	var kept []session.Kept
	for i, k := range all {
		if stays[i] {
			kept = append(kept, k)
		}
	}
	return kept
}

// marked reports whether a person's message says itself that it is to be kept.
func marked(m llm.Message) bool {
	return m.Role == llm.RoleUser && strings.Contains(m.Text(), "[[keep]]")
}

// elsewhere is the pinned messages that are neither in a list nor in the view: they lie further back than the digest before.
func (v *View) elsewhere(pins, list []session.Kept) []session.Kept {
	var out []session.Kept
	for _, k := range pins {
		same := func(o session.Kept) bool { return o.Entry == k.Entry }
		if !slices.ContainsFunc(list, same) && !slices.ContainsFunc(v.entries, func(e session.Event) bool { return e.ID == k.Entry }) {
			out = append(out, session.Kept{Entry: k.Entry, Message: asSaid(k.Message), Pinned: true})
		}
	}
	return out
}

// asSaid is a message as it can stand alone: an answer or a result as what it said, for its calls and its caller are gone.
func asSaid(m llm.Message) llm.Message {
	switch m.Role {
	case llm.RoleTool:
		return llm.UserText("<kept tool=\"" + m.Tool + "\">\n" + m.Text() + "\n</kept>")
	case llm.RoleAssistant:
		return llm.UserText("<kept>\nYou said: " + m.Text() + "\n</kept>")
	default:
		return m
	}
}

// byPerson reports whether a user message came from a person.
func byPerson(s session.Source) bool {
	return s == session.FromInput || s == session.FromSteering || s == session.FromFollowUp
}

// original is the entries before cut as the journal has them, without what stands for them in the view.
func (v *View) original(cut int) []session.Event {
	out := slices.Clone(v.entries[:cut])
	for i, e := range out {
		if o, ok := v.originals[e.ID]; ok {
			out[i] = o
		}
	}
	return out
}

func answersIn(entries []session.Event) int {
	n := 0
	for _, e := range entries {
		if m := e.Body.(session.Message); m.Role == llm.RoleAssistant {
			n++
		}
	}
	return n
}

// has reports whether an entry is in the view, so that a digest can stand for it and what is before it.
func (d *draft) has(id session.ID) bool {
	return slices.ContainsFunc(d.view.entries, func(e session.Event) bool { return e.ID == id })
}

// The names under which a digest tells the open points again, and begins those of files in work.
const (
	todoBlock = "todo"
	fileBlock = "file "
)

// todo is what is to be done, as of the view.
func (d *draft) todo() []session.TodoItem {
	if d.view.todo != nil {
		return d.view.todo
	}
	if before, ok := d.view.Digest.Body.(session.Digest); ok {
		return before.Todo
	}
	return nil
}

// todoText is a list of what is to be done, for a model.
func todoText(items []session.TodoItem) string {
	var b strings.Builder
	for _, i := range items {
		mark := " "
		switch i.Status {
		case "completed":
			mark = "x"
		case "in_progress":
			mark = ">"
		}
		fmt.Fprintf(&b, "[%s] %s\n", mark, i.Text)
	}
	return b.String()
}

// largest names what takes the most room in a view.
func (v *View) largest() string {
	at, size := -1, 0
	for i, m := range v.Messages {
		if n := countMessages([]llm.Message{m}); n > size {
			at, size = i, n
		}
	}
	if at < 0 {
		return "it has no messages: the system prompt and the tools alone are too long"
	}
	m := v.Messages[at]
	what := "a message of the " + string(m.Role)
	if m.Role == llm.RoleTool {
		what = "a result of " + m.Tool
	}
	return fmt.Sprintf("the largest part is %s with about %d tokens", what, size)
}
