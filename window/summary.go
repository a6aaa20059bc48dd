package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Summarizer writes summaries of the beginning of a conversation. Implementations are safe for concurrent use.
type Summarizer interface {
	// Summarize fills in Summary, and By, Files and Usage if it knows them; By and Usage also if it fails. It returns when ctx ends.
	Summarize(ctx context.Context, t Task) (session.Summarized, error)
}

// Task is the input of a summary.
type Task struct {
	Live   *llm.Request          // the next request without a summary: the provider has its beginning in the cache
	Model  llm.Model             // the model of that request
	Scale  tokens.Scale          // of that model, by what its provider has counted so far
	Events []session.Event       // the entries that the summary will replace, oldest first: messages of the journal, results after their calls
	Before *session.Summarized   // the previous summary; nil: the events are the beginning
	Todo   []session.TodoItem    // the current list of tasks
	Calls  []session.CallStarted // of these events
	Reason string                // "full", "overflow", "asked"
	Focus  string                // the most important content to keep; empty: no focus
	Tail   int                   // answers at the end of Live that stay verbatim, with their results
	Limit  int                   // tokens of the summary
}

var errNothing = &coded{"window.nothing", "nothing to summarize: the last answers and their results stay verbatim, and there is almost nothing before them"}

// errRefused says that Header.BeforeSummary refused a summary.
var errRefused = errors.New("no summary")

// none reports whether an error says that there will be no summary, which is no failure of the request.
func none(err error) bool { return errors.Is(err, errNothing) || errors.Is(err, errRefused) }

// maxFailures is the number of failures in a row after which only a person's request leads to the Summarizer again.
const maxFailures = 2

// pinsShare is the divisor of the usable window for the space of pinned messages.
const pinsShare = 4

// summaries are the summaries of a window: at most one is being written. They are safe for concurrent use.
type summaries struct {
	options *Options

	mu       sync.Mutex
	work     *work // the summary in the background, or ready for the next request
	failures int   // of the Summarizer, in a row
	stuck    bool  // the last summary that a request waited for freed nothing
	closed   bool
	last     time.Time // when the last summary took effect
	wish     *Ask      // of a person
	recalled bool      // the failures of earlier processes count
}

// work is a summary that is being written.
type work struct {
	plan
	cancel  context.CancelFunc
	done    chan struct{} // closed when summary and err are set
	plain   bool          // written without the Summarizer
	summary session.Summarized
	err     error
}

// plan says what a summary will replace.
type plan struct {
	task    Task
	through session.ID
	cut     int        // the index of the first entry that stays
	before  session.ID // the summary of the view
	sent    int        // estimated tokens of the request for it
}

// recall takes over the failures of earlier processes. The lock is held.
func (s *summaries) recall() {
	if !s.recalled && s.options.Failures != nil {
		s.failures, s.last = s.options.Failures()
	}
	s.recalled = true
}

func (s *summaries) ask(a Ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recall()
	s.wish, s.failures, s.stuck = &a, 0, false
}

// asked takes the wish of a person.
func (s *summaries) asked() *Ask {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.wish
	s.wish = nil
	return a
}

func (s *summaries) isStuck() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stuck
}

func (s *summaries) setStuck(stuck bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = stuck
}

// mayBegin reports whether a summary may start in the background.
func (s *summaries) mayBegin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recall()
	return !s.closed && s.work == nil && s.failures < maxFailures && (s.last.IsZero() || time.Since(s.last) >= s.options.Cooldown)
}

// taken takes the summary that is being written, if there is one.
func (s *summaries) taken() *work {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.work
	s.work = nil
	return w
}

func (s *summaries) finish(ctx context.Context) bool {
	s.mu.Lock()
	w := s.work
	s.closed = true
	s.mu.Unlock()
	if w == nil {
		return false
	}
	select {
	case <-w.done:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *summaries) close() {
	s.mu.Lock()
	w := s.work
	s.work, s.closed = nil, true
	s.mu.Unlock()
	if w != nil {
		s.giveUp(w)
	}
}

// giveUp cancels a summary, and waits until it has ended. The provider reports no usage of a request that it did not finish, so the estimated
// tokens of the request count.
func (s *summaries) giveUp(w *work) {
	w.cancel()
	<-w.done
	if d := &w.summary; w.err != nil && d.By != "" && d.Usage == (llm.Usage{}) && d.Parts == (llm.Usage{}) {
		d.Usage.Input = int64(min(w.sent, cmp.Or(w.task.Model.Context, w.sent)))
	}
	s.wasted(w)
}

// cancelled gives up a summary, and announces it.
func (s *summaries) cancelled(w *work) {
	s.giveUp(w)
	s.over(w.task.Reason, "cancelled")
}

// over announces the end of a summary.
func (s *summaries) over(reason, problem string) {
	s.options.Announce(live.Compacting{Reason: reason, Done: true, Error: problem})
}

// wasted reports the cost of a summary that takes no effect.
func (s *summaries) wasted(w *work) {
	if d := w.summary; s.options.Spent != nil && d.Usage != (llm.Usage{}) {
		s.options.Spent(d.By, d.Usage)
	}
}

// failure notes a failure of the Summarizer, and describes it for people.
func (s *summaries) failure(err error) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	if s.failures < maxFailures {
		return err.Error()
	}
	return err.Error() + "; until you request a summary, Tenon writes summaries without a model, and only when the window is full"
}

// plan selects the entries that a summary will replace: all but the end of the conversation.
func (s *summaries) plan(d *draft, reason, focus string) (plan, error) {
	v := d.view
	used := d.estimate().Tokens
	cut, through := v.cut(min(int(s.options.KeepTail*float64(d.usable)), used/4))
	if cut == 0 || v.Summary.Body == nil && v.gain(d.header, cut) < used/10 {
		return plan{}, errNothing // a summary without effect is not worth its price
	}
	p := plan{through: through, cut: cut, before: v.Summary.ID, sent: used, task: v.task(cut)}
	p.task.Live, p.task.Model, p.task.Scale = d.header.request(v.Messages), d.header.Model, v.scale(d.header.Model)
	p.task.Tail = answersIn(v.entries[cut:])
	p.task.Reason, p.task.Focus, p.task.Limit = reason, focus, min(max(d.usable/20, 500), 2000)
	return p, nil
}

// gain is the largest number of tokens that a first summary could save: those of the entries that it replaces, less the context that it
// repeats.
func (v *View) gain(h Header, cut int) int {
	n := -countMessages(llm.UserText(contextText(v.Context)))
	for _, e := range v.entries[:cut] {
		n += countMessages(e.Body.(session.Message).Message)
	}
	return v.scale(h.Model).Tokens(n)
}

// task is the input of a summary that will replace the entries before cut, with the request of the epoch.
func (v *View) task(cut int) Task {
	t := Task{Events: v.original(cut), Todo: v.todos()}
	epoch, _ := v.Epoch.Body.(session.Epoch)
	t.Live = Header{System: epoch.System, Tools: epoch.Tools, Settings: llm.Settings{Thinking: epoch.Thinking}}.request(v.Messages)
	t.Model = epoch.Model
	if before, ok := v.Summary.Body.(session.Summarized); ok {
		t.Before = &before
	}
	t.Calls, _ = v.started(answersIn(v.entries[:cut]))
	return t
}

// start starts a summary in the background. The caller waits for it or cancels it.
func (s *summaries) start(ctx context.Context, d *draft, reason, focus string) (*work, error) {
	plan, err := s.plan(d, reason, focus)
	if err != nil {
		return nil, err
	}
	if before := d.header.BeforeSummary; before != nil {
		if err := before(ctx, reason); err != nil {
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	s.mu.Lock()
	s.recall()
	plain := s.failures >= maxFailures || reason == "overflow" && d.estimate().Tokens > d.usable // a model would refuse the request too
	s.mu.Unlock()
	by := s.options.Summarizer
	if plain {
		by = Extract{}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &work{cancel: cancel, done: make(chan struct{}), plan: plan, plain: plain}
	s.options.Announce(live.Compacting{Reason: reason})
	go func() {
		defer close(w.done)
		defer cancel()
		w.summary, w.err = write(ctx, by, plan.task)
	}()
	return w, nil
}

// write calls a Summarizer. A panic becomes an error, because it would end the program.
func write(ctx context.Context, by Summarizer, t Task) (d session.Summarized, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the summarizer panicked: %v", p)
		}
	}()
	d, err = by.Summarize(ctx, t)
	if err == nil && strings.TrimSpace(d.Summary) == "" {
		err = errors.New("the summary is empty")
	}
	return d, err
}

// begin starts a summary for a later request. If there is nothing to summarize, it does nothing.
func (s *summaries) begin(ctx context.Context, d *draft) error {
	w, err := s.start(ctx, d, "full", "")
	if err != nil {
		if none(err) {
			return nil
		}
		return err
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.work = w
	}
	s.mu.Unlock()
	if closed {
		s.giveUp(w)
	}
	return nil
}

// finished takes the summary in the background if it is ready.
func (s *summaries) finished() *work {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		return nil
	}
	select {
	case <-s.work.done:
		done := s.work
		s.work = nil
		return done
	default:
		return nil
	}
}

// now waits for a summary: the one in the background, or a new one. If a model cannot write it, the window extracts one. If ctx ends, now
// returns its cause; this is no failure of the Summarizer.
func (s *summaries) now(ctx context.Context, d *draft, reason, focus string) error {
	under := s.taken()
	if under != nil && (focus != "" || reason == "overflow") { // it does not know the focus, or that its request is too long
		s.cancelled(under)
		under = nil
	}
	for range 2 { // the one in the background may no longer fit
		begun := under == nil
		if begun {
			var err error
			if under, err = s.start(ctx, d, reason, focus); err != nil {
				if !none(err) {
					return err
				}
				s.setStuck(true)
				s.over(reason, err.Error())
				return nil
			}
		}
		select {
		case <-under.done:
		case <-ctx.Done():
			s.cancelled(under)
			return context.Cause(ctx)
		}
		applied, err := s.apply(ctx, d, under)
		if err != nil {
			return err
		}
		s.setStuck(!applied)
		if applied || begun {
			return nil
		}
		under = nil
	}
	return nil
}

// apply makes a summary part of a draft if it still fits and shrinks the window.
func (s *summaries) apply(ctx context.Context, d *draft, w *work) (applied bool, _ error) {
	if d.view.Summary.ID != w.before || !d.view.has(w.through) {
		s.wasted(w)
		s.over(w.task.Reason, "the conversation has changed its branch")
		return false, nil
	}
	summary, problem := w.summary, ""
	if w.err != nil {
		problem = s.failure(w.err)
		s.wasted(w)
		summary, _ = Extract{}.Summarize(ctx, w.task) // it never fails
	}
	after, notices, err := s.complete(ctx, d, w.plan, &summary)
	if err != nil {
		return false, err
	}
	before := d.estimate().Tokens
	if after >= before*9/10 {
		if problem == "" {
			s.wasted(w)
			problem = s.failure(fmt.Errorf("the summary does not shrink the window: %d tokens instead of %d", after, before))
		}
		s.over(w.task.Reason, problem)
		return false, nil
	}
	summary.Before, summary.After = int64(before), int64(after)
	d.begin("compaction")
	d.add(summary)
	d.notices = append(d.notices, notices...)
	s.mu.Lock()
	s.last, s.stuck = time.Now(), false
	if w.err == nil && !w.plain {
		s.failures = 0
	}
	s.mu.Unlock()
	if problem != "" {
		problem += "; Tenon wrote this summary without a model"
	}
	s.over(w.task.Reason, problem)
	return true, d.look(ctx)
}

// complete adds the current state to a summary: pins and files may have changed since it was begun. It returns the estimated tokens of the
// next request. Files get the space up to half of the window, at most an eighth of it.
func (s *summaries) complete(ctx context.Context, d *draft, p plan, summary *session.Summarized) (after int, notices []live.Notice, err error) {
	pins, err := d.pinned(ctx)
	if err != nil {
		return 0, nil, err
	}
	keepTurns := s.options.KeepTurns
	if keepTurns <= 0 {
		keepTurns = d.usable / 20
	}
	summary.Reason, summary.Focus, summary.Through = p.task.Reason, p.task.Focus, p.through
	summary.Verbatim, summary.Omitted, notices = boundPins(d.view.keep(p.cut, keepTurns, pins), d.usable/pinsShare)
	summary.Todo = d.view.todos()
	summary.Context = d.view.again(nil)
	size := func() (int, error) {
		v, err := d.with(ctx, *summary, d.header.epoch("compaction"))
		if err != nil {
			return 0, err
		}
		return v.Estimate(d.header).Tokens, nil
	}
	if after, err = size(); err != nil || s.options.Files == nil {
		return after, notices, err
	}
	const least = 200 // tokens of files; fewer are useless
	room := min(d.usable/2-after, d.usable/8)
	if room < least {
		return after, notices, nil
	}
	files, err := s.options.Files(ctx, d.view.notShown(p.cut, summary.Files, d.reads), room)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot read the files in use: %w", err)
	}
	summary.Context = d.view.again(files)
	after, err = size()
	return after, notices, err
}
