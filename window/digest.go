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
	plain  bool // it is made without the Digester, which was asked in vain
	digest session.Digest
	err    error
}

// stop ends the work and waits for its end.
func (w *work) stop() {
	w.cancel()
	<-w.done
}

// plan says what a digest will stand for.
type plan struct {
	task    Task
	through session.ID
	cut     int        // the place of what is behind it, among the entries of the view
	before  session.ID // the digest that was in the view
}

// begin has a digest written in the background. Where nothing can be left out yet it does nothing.
func (w *Window) begin(ctx context.Context, d *draft) error {
	work, err := w.start(ctx, d, "full", "")
	if err != nil {
		if errors.Is(err, errNothing) {
			return nil
		}
		return err
	}
	w.mu.Lock()
	closed := w.closed
	if !closed {
		w.work = work
	}
	w.mu.Unlock()
	if closed {
		work.stop()
	}
	return nil
}

// start has a digest written beside the caller, who waits for it or stops it.
func (w *Window) start(ctx context.Context, d *draft, reason, focus string) (*work, error) {
	plan, err := w.plan(d, reason, focus)
	if err != nil {
		return nil, err
	}
	digester := w.options.Digester
	plain := w.gaveUp() || reason == "overflow" && d.view.Estimate(d.header).Tokens > d.usable // a model would refuse this too
	if plain {
		digester = Outline{}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	work := &work{cancel: cancel, done: make(chan struct{}), plan: plan, plain: plain}
	w.announce(session.Compacting{Reason: reason})
	go func() {
		defer close(work.done)
		defer cancel()
		work.digest, work.err = write(ctx, digester, plan.task)
	}()
	return work, nil
}

// write asks a digester for a digest with a summary. A panic of it is an error: it runs beside everything else.
func write(ctx context.Context, by Digester, t Task) (d session.Digest, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the digester panicked: %v", p)
		}
	}()
	d, err = by.Digest(ctx, t)
	if err == nil && strings.TrimSpace(d.Summary) == "" {
		err = errors.New("the summary is empty")
	}
	return d, err
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
// When ctx ends, that is the error, and no failure of the digest.
func (w *Window) digestNow(ctx context.Context, d *draft, reason, focus string) error {
	w.mu.Lock()
	under := w.work
	w.work = nil
	w.mu.Unlock()
	if under != nil && (focus != "" || reason == "overflow") { // it does not know of the focus; nor that its request is too long
		w.cancelled(under)
		under = nil
	}
	for range 2 { // what was begun earlier may no longer fit
		begun := under == nil
		if begun {
			var err error
			if under, err = w.start(ctx, d, reason, focus); err != nil {
				return w.cannot(reason, err)
			}
		}
		select {
		case <-under.done:
		case <-ctx.Done():
			w.cancelled(under)
			return context.Cause(ctx)
		}
		applied, err := w.apply(ctx, d, under)
		if err != nil {
			return err
		}
		w.mu.Lock()
		w.stuck = !applied
		w.mu.Unlock()
		if applied || begun {
			return nil
		}
		under = nil
	}
	return nil
}

// cancelled ends work that nobody waits for any more.
func (w *Window) cancelled(work *work) {
	work.stop()
	w.announce(session.Compacting{Reason: work.plan.task.Reason, Done: true, Error: "it was cancelled"})
}

// cannot tells people why no digest can be made. That there is nothing to leave out is no error of the request.
func (w *Window) cannot(reason string, err error) error {
	if !errors.Is(err, errNothing) {
		return err
	}
	w.mu.Lock()
	w.stuck = true
	w.mu.Unlock()
	w.announce(session.Compacting{Reason: reason, Done: true, Error: err.Error()})
	return nil
}

// apply lets a digest take effect in a draft, if it still fits and makes the window smaller.
func (w *Window) apply(ctx context.Context, d *draft, done *work) (applied bool, _ error) {
	task := done.plan.task
	over := func(problem string) {
		w.announce(session.Compacting{Reason: task.Reason, Done: true, Error: problem})
	}
	if d.view.Digest.ID != done.plan.before || !d.has(done.plan.through) {
		over("the conversation has gone another way meanwhile")
		return false, nil
	}
	digest, problem := done.digest, ""
	if done.err != nil {
		problem = w.failure(done.err)
		digest, _ = Outline{}.Digest(ctx, task) // it never fails
	}
	if err := w.complete(ctx, d, done.plan, &digest); err != nil {
		return false, err
	}
	before := d.view.Estimate(d.header).Tokens
	trial := draft{path: extended{d.path, []session.Body{digest, d.header.epoch("compaction")}}, header: d.header}
	if err := trial.look(ctx); err != nil {
		return false, err
	}
	after := trial.view.Estimate(d.header).Tokens
	if after >= before*9/10 {
		if problem == "" {
			problem = w.failure(fmt.Errorf("it would leave %d of %d tokens", after, before))
		}
		over(problem)
		return false, nil
	}
	digest.Before, digest.After = int64(before), int64(after)
	d.begin("compaction")
	d.add(digest)
	w.mu.Lock()
	w.last, w.stuck = time.Now(), false
	if done.err == nil && !done.plain {
		w.failed = 0
	}
	w.mu.Unlock()
	over(problem)
	return true, d.look(ctx)
}

// complete adds to a digest what holds as it takes effect: somebody may have pinned more since it was begun, and files have changed.
func (w *Window) complete(ctx context.Context, d *draft, p plan, digest *session.Digest) error {
	pins, err := d.kept(ctx)
	if err != nil {
		return err
	}
	digest.Reason, digest.Focus, digest.Through = p.task.Reason, p.task.Focus, p.through
	digest.Kept, digest.Todo = d.view.keep(p.cut, w.keepTurns(d.usable), pins), d.view.todos()
	if digest.Context, err = w.refresh(ctx, d, digest.Files); err != nil {
		return fmt.Errorf("window: tell of the place again: %w", err)
	}
	return nil
}

// failure notes that the Digester was asked in vain, and says what people are told.
func (w *Window) failure(err error) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	if w.failed < maxFailures {
		return err.Error()
	}
	return err.Error() + "; until somebody asks for a digest, they are made without a model, and only when the window is full"
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
	if text := todoText(d.view.todos()); text != "" {
		held = append(held, session.ContextBlock{Name: todoBlock, Text: text})
	}
	return held, nil
}

var errNothing = errors.New("there is nothing to be left out: the conversation is one question and its beginning")

// plan decides what a digest will stand for: all but the end of the conversation.
func (w *Window) plan(d *draft, reason, focus string) (plan, error) {
	v := d.view
	tail := min(int(w.options.KeepTail*float64(d.usable)), v.Estimate(d.header).Tokens/4)
	cut, through := v.cut(tail)
	if cut == 0 {
		return plan{}, errNothing
	}
	p := plan{through: through, cut: cut, before: v.Digest.ID}
	p.task = v.task(cut)
	p.task.Live, p.task.Model = d.header.request(v.Messages), d.header.Model
	p.task.Reason, p.task.Focus, p.task.Limit = reason, focus, max(d.usable/20, 500)
	return p, nil
}

// task is what is known of a digest that is to stand for the entries before cut. The request is that of the epoch.
func (v *View) task(cut int) Task {
	t := Task{Events: v.original(cut), Todo: v.todos()}
	epoch, _ := v.Epoch.Body.(session.Epoch)
	t.Live = Header{System: epoch.System, Tools: epoch.Tools, Thinking: epoch.Thinking}.request(v.Messages)
	t.Model = epoch.Model
	if before, ok := v.Digest.Body.(session.Digest); ok {
		t.Before = &before
	}
	answers := answersIn(v.entries[:cut])
	for _, b := range v.begun {
		if b.answer <= answers {
			t.Calls = append(t.Calls, b.call)
		}
	}
	return t
}

// keepTurns is the tokens of what the person said that stay word for word.
func (w *Window) keepTurns(usable int) int {
	if w.options.KeepTurns > 0 {
		return w.options.KeepTurns
	}
	return usable / 20
}

// minTail is how many answers with their results stay word for word at least, where there are more.
const minTail = 2

// cut is the place among the entries up to which a digest may stand, and the newest entry of the journal before it; 0 when there is none.
// Behind it are as many tokens as asked for, and at least two answers.
func (v *View) cut(tail int) (at int, through session.ID) {
	ends := v.ends()
	size, answers := 0, 0
	for i := len(v.entries) - 1; i > 0; i-- {
		m := v.entries[i].Body.(session.Message)
		size += countMessages([]llm.Message{m.Message})
		if m.Role == llm.RoleAssistant {
			answers++
		}
		if ends[i] == "" {
			continue
		}
		if at == 0 || answers <= minTail || size <= tail {
			at, through = i, ends[i]
		}
		if answers >= minTail && size > tail {
			break
		}
	}
	return at, through
}

// ends says for each place among the entries whether a digest may stand for all before it: the newest entry of the journal that is
// before it, or nothing where the order of the view and that of the journal do not part there alike, or where a call would lose
// its result.
func (v *View) ends() []session.ID {
	age := make(map[session.ID]int, len(v.journal)) // 1 is the newest; 0 has those that are not written yet
	for i, id := range v.journal {
		if id != "" {
			age[id] = i + 1
		}
	}
	oldestBehind := make([]int, len(v.entries)+1)
	for i, e := range slices.Backward(v.entries) {
		oldestBehind[i] = max(oldestBehind[i+1], age[e.ID])
	}
	ends := make([]session.ID, len(v.entries))
	newest := len(v.journal) + 1
	var through session.ID
	for i, e := range v.entries {
		if i > 0 && newest > oldestBehind[i] && !v.answersWait(i) {
			ends[i] = through
		}
		if a := age[e.ID]; a < newest {
			newest, through = a, e.ID
		}
	}
	return ends
}

// answersWait reports whether results stand at a place or behind it that belong to an answer before it.
func (v *View) answersWait(i int) bool {
	for _, e := range v.entries[i:] {
		switch e.Body.(session.Message).Role {
		case llm.RoleTool:
			return true
		case llm.RoleAssistant:
			return false
		}
	}
	return false
}

// keep is what a digest keeps word for word of the entries before cut and of the digest before: what is pinned, the first thing that the
// person said, and of the rest the newest that fit into the budget.
func (v *View) keep(cut, budget int, pins []session.Kept) []session.Kept {
	all := v.candidates(cut, pins)
	stays := make([]bool, len(all))
	take := func(i int) {
		if n := countMessages([]llm.Message{all[i].Message}); !stays[i] && n <= budget {
			budget -= n
			stays[i] = true
		}
	}
	for i, k := range all {
		stays[i] = k.Pinned
	}
	if first := slices.IndexFunc(all, func(k session.Kept) bool { return !k.Pinned }); first >= 0 {
		take(first)
	}
	for i := range slices.Backward(all) {
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

// candidates is what a digest might keep, oldest first, and what of it is pinned as of now.
func (v *View) candidates(cut int, pins []session.Kept) []session.Kept {
	pinned := func(id session.ID, m llm.Message) bool {
		return marked(m) || slices.ContainsFunc(pins, func(k session.Kept) bool { return k.Entry == id })
	}
	var all []session.Kept
	if d, ok := v.Digest.Body.(session.Digest); ok {
		for _, k := range d.Kept {
			k.Pinned = pinned(k.Entry, k.Message) // somebody may have changed their mind
			if k.Pinned || !standsAlone(k.Message) {
				all = append(all, k)
			}
		}
	}
	for _, e := range v.original(cut) {
		m := e.Body.(session.Message)
		if m.Empty() {
			continue
		}
		pin := pinned(e.ID, m.Message)
		if pin || m.Role == llm.RoleUser && byPerson(m.Source) {
			all = append(all, session.Kept{Entry: e.ID, Message: asSaid(m.Message), Pinned: pin})
		}
	}
	return append(v.elsewhere(pins, all), all...)
}

// marked reports whether a message says itself that it is to be kept: by the person's word, or as a checkpoint of the model.
func marked(m llm.Message) bool {
	if m.Role != llm.RoleUser {
		return false
	}
	text := m.Text()
	return strings.Contains(text, "[[keep]]") || strings.HasPrefix(text, lessonIntro+titleCheckpoint+": ")
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
		return llm.UserText(keptBegin + " tool=\"" + m.Tool + "\">\n" + m.Text() + "\n</kept>")
	case llm.RoleAssistant:
		return llm.UserText(keptBegin + ">\nYou said: " + m.Text() + "\n</kept>")
	default:
		return m
	}
}

const keptBegin = "<kept"

// standsAlone reports whether a message was made by asSaid of one that no person said.
func standsAlone(m llm.Message) bool { return strings.HasPrefix(m.Text(), keptBegin) }

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

// todos is what is to be done, as of the view.
func (v *View) todos() []session.TodoItem {
	if v.todo != nil {
		return v.todo.Items
	}
	before, _ := v.Digest.Body.(session.Digest)
	return before.Todo
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
