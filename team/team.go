package team

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/tool"
)

// Options is what a team is made of. Store and Open are required.
type Options struct {
	Store index.Store

	// Open makes the agent of a task, or opens its session again. It must not start a run. It is called on several goroutines.
	Open func(ctx context.Context, a Assignment) (Member, error)

	Roles  func() []RoleInfo // for the tool agent; nil: none
	Limits Limits
	Depth  int           // of the owner: 0 for an agent of a person, 1 for its sub-agents
	Scope  session.Scope // of the owner, if it is a sub-agent; the scopes of its tasks are within it

	// Wait is for owners that no one watches: a run of the owner does not end while sub-agents work.
	Wait bool

	// Wake starts a run of the idle owner when mail waits for it. Nil: the team does.
	Wake func()
}

// RoleInfo describes a role to the model of the owner.
type RoleInfo struct{ Name, Description string }

// Limits bound the tasks of one owner. A zero field has its default.
type Limits struct {
	Depth   int // of sub-agents below an agent of a person; default 2: people rarely follow more
	Open    int // open tasks; default 10, as in other agents of this kind
	Running int // sub-agents that run at a time; default 4, which most rate limits of providers allow
}

func (l Limits) withDefaults() Limits {
	return Limits{Depth: cmp.Or(l.Depth, 2), Open: cmp.Or(l.Open, 10), Running: cmp.Or(l.Running, 4)}
}

// Assignment is what Options.Open makes an agent from. Session, Parent, ParentRun, Budget, Tools and Hook belong in its [agent.Options].
type Assignment struct {
	Task      session.ID
	Attempt   int
	Session   session.SessionID // empty: the task needs a new session
	Parent    session.SessionID // the session of the owner
	ParentRun session.RunID     // the run that gave the task; may be empty
	Name      string
	Role      string
	Text      string
	Scope     session.Scope
	Worktree  string // name of the worktree for its files; empty: it shares those of the owner
	Depth     int
	Budget    *budget.Budget

	Tools []tool.Tool // complete, escalate and notify
	Hook  agent.Hook  // which ends the run with the task
	Wake  func()      // Options.Wake for a team of the sub-agent
}

// Member is the agent of a task, and all that Options.Open made for it. The team closes it.
type Member interface {
	// Agent returns the same agent each time. It does not block.
	Agent() *agent.Agent

	// Close closes the team of the agent if it has one, the agent, and what else belongs to it. It waits for their end.
	Close() error
}

// Team starts the sub-agents of one owner, delivers their mail and settles their tasks. The tools and the hook of a team are among the options
// of the owner, so the order is: [New], [Team.Tools] and [Team.Hook], agent.New or agent.Open, [Team.Bind]. Close the team before the
// owner. All methods are safe for concurrent use.
type Team struct {
	options Options
	limits  Limits
	roles   []RoleInfo
	slots   chan struct{} // taken by the sub-agents that run; a channel serves those who wait in their order
	ctx     context.Context
	stop    context.CancelFunc
	works   sync.WaitGroup
	wakeup  chan struct{}

	owner *agent.Agent // set once by Bind
	dir   string       // of the owner

	admitting sync.Mutex // one new task at a time
	mu        sync.Mutex
	state     *State // nil: the team is not bound
	workers   map[session.ID]*worker
	changed   chan struct{} // closed and renewed when a task changes
	resumed   bool          // Resume has succeeded
	shown     []session.ID  // drafts that results of the current turn show
	closed    bool
}

var errClosed = tool.Codef("team.closed", "the team is closed")

// New makes a team. Bind it before the first run of its owner.
func New(o Options) (*Team, error) {
	if o.Store == nil || o.Open == nil {
		return nil, errors.New("team: Options.Store and Options.Open are required")
	}
	t := &Team{
		options: o, limits: o.Limits.withDefaults(), wakeup: make(chan struct{}, 1), changed: make(chan struct{}),
		workers: make(map[session.ID]*worker),
	}
	if o.Roles != nil {
		t.roles = o.Roles()
	}
	t.slots = make(chan struct{}, t.limits.Running)
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t, nil
}

// Bind gives the team its owner and reads its tasks. It starts nothing: see [Team.Resume].
func (t *Team) Bind(ctx context.Context, owner *agent.Agent) error {
	state, err := Read(ctx, t.options.Store, owner.Session())
	if err != nil {
		return fmt.Errorf("team: cannot read the tasks of session %s: %w", owner.Session(), err)
	}
	created, err := createdOf(ctx, t.options.Store, owner.Session())
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state != nil {
		return errors.New("team: it has an owner")
	}
	t.owner, t.dir, t.state = owner, created.Dir, state
	if t.options.Wake == nil {
		t.works.Go(func() { wakeOwner(t) })
	}
	return nil
}

// createdOf returns the first entry of a session.
func createdOf(ctx context.Context, log session.Log, id session.SessionID) (c session.Created, _ error) {
	for e, err := range log.Read(ctx, id, 0) {
		if err != nil {
			return c, err
		}
		c, _ = e.Body.(session.Created)
		break
	}
	return c, nil
}

// Close ends all sub-agents and waits for them. Their tasks stay open: the next process continues them.
func (t *Team) Close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	t.works.Wait()
	return nil
}

// usable returns an error if the team cannot be used. The lock is held.
func (t *Team) usable() error {
	switch {
	case t.closed:
		return errClosed
	case t.state == nil:
		return errors.New("team: it has no owner; call Bind")
	}
	return nil
}

// record appends entries to the session of the owner and folds them. The lock is held.
func (t *Team) record(ctx context.Context, bodies ...session.Body) error {
	now := session.Now() // not after the time of the entries
	if err := t.owner.Record(ctx, bodies...); err != nil {
		return err
	}
	for _, b := range bodies {
		_ = t.state.Add(session.Event{Time: now, Body: b}) // the callers look before
	}
	t.change()
	return nil
}

// change wakes those who wait for a change of a task. The lock is held.
func (t *Team) change() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Start gives a task to a new sub-agent and returns once the sub-agent has its session; it works in the background. The team sets c.Task. Paths
// of the scope are absolute or relative to the directory of the owner. If an open task has the same key, Start returns that task, with
// fresh false. The sub-agent draws from the budget of the session of the owner if c.Background is set, else from that of the run that ctx
// carries.
//
// Errors have the codes "team.limit" and "team.scope", or come from Options.Open; after one of Options.Open the task has failed.
func (t *Team) Start(ctx context.Context, c session.TaskCreated) (task Task, fresh bool, err error) {
	if err := t.Resume(ctx); err != nil { // before there are new tasks
		return task, false, err
	}
	w, task, err := t.admit(ctx, c)
	if w == nil {
		return task, false, err
	}
	w.run, w.budget, w.began = agent.RunOf(ctx), budgetOf(ctx, t.owner, w.created), false
	w.foreground.Store(!c.Background)
	if err := w.open(ctx); err != nil {
		w.close()
		t.settle(w, failed("cannot start: "+err.Error()))
		close(w.over)
		return task, true, fmt.Errorf("cannot start task %s: %w", task.Task, err)
	}
	task, _ = t.Task(task.Task)
	t.mu.Lock()
	launched := t.launch(w)
	t.mu.Unlock()
	if !launched {
		w.close()
		return task, true, errClosed
	}
	return task, true, nil
}

// admit records a new task. Without a worker, there is an open task with the same key, or an error.
func (t *Team) admit(ctx context.Context, c session.TaskCreated) (*worker, Task, error) {
	t.admitting.Lock()
	defer t.admitting.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(); err != nil {
		return nil, Task{}, err
	}
	if same := t.state.ByKey(c.Key); same != nil {
		return nil, *same, nil
	}
	if t.options.Depth >= t.limits.Depth {
		return nil, Task{}, tool.Codef("team.limit", "sub-agents at depth %d start no others; do the work yourself", t.options.Depth)
	}
	if err := room(t); err != nil {
		return nil, Task{}, err
	}
	var err error
	if c.Scope, err = scopeOf(t, c); err != nil {
		return nil, Task{}, err
	}
	c.Task = session.NewSessionID() // short, because models repeat it
	if err := t.record(ctx, c); err != nil {
		return nil, Task{}, err
	}
	task := t.state.Task(c.Task)
	w := t.worker(task)
	t.workers[c.Task] = w
	return w, *task, nil
}

// room returns an error if there are too many open tasks. The lock is held.
func room(t *Team) error {
	if n := len(t.state.Open()); n >= t.limits.Open {
		return tool.Codef("team.limit", "%d tasks are open, the limit is %d; wait for one or cancel one", n, t.limits.Open)
	}
	return nil
}

// budgetOf returns the budget of a sub-agent.
func budgetOf(ctx context.Context, owner *agent.Agent, c session.TaskCreated) *budget.Budget {
	b := budget.Of(ctx)
	if b == nil || c.Background {
		if b = owner.Budget(); b.Name() == "run" {
			b = b.Parent() // the session outlives the run
		}
	}
	return b.Child("task "+string(c.Task), budget.Limits{})
}

// launch lets a worker work. It reports false if the team is closed. The lock is held.
func (t *Team) launch(w *worker) bool {
	if t.closed {
		close(w.over)
		return false
	}
	t.workers[w.created.Task] = w
	t.works.Go(w.live)
	return true
}

// Task returns a task as the team knows it.
func (t *Team) Task(id session.ID) (Task, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == nil || t.state.Task(id) == nil {
		return Task{}, false
	}
	return *t.state.Task(id), true
}

// List returns the tasks of the owner as the journals have them.
func (t *Team) List(ctx context.Context) ([]*Task, error) {
	t.mu.Lock()
	err := t.usable()
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	s, err := Read(ctx, t.options.Store, t.owner.Session())
	if err != nil {
		return nil, err
	}
	return s.Tasks, nil
}

// Member returns the agent of an open task, for frontends that show it. It is nil while none is open. The team closes it.
func (t *Team) Member(task session.ID) Member {
	t.mu.Lock()
	w := t.workers[task]
	t.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.current()
}

// Wait waits until each of the tasks is settled or waits for a decision of the owner, and returns them; without IDs, all that are open now. If
// ctx ends first, the error is its cause.
func (t *Team) Wait(ctx context.Context, ids ...session.ID) ([]Task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.state == nil {
		return nil, t.usable()
	}
	if len(ids) == 0 {
		for _, one := range t.state.Open() {
			ids = append(ids, one.Task)
		}
	}
	for {
		var tasks []Task
		busy, changed := false, t.changed
		for _, id := range ids {
			one := t.state.Task(id)
			if one == nil {
				return nil, unknownTask(id)
			}
			tasks = append(tasks, *one)
			busy = busy || busyWith(t, one)
		}
		if !busy {
			return tasks, nil
		}
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		case <-t.ctx.Done():
		}
		t.mu.Lock()
		if ctx.Err() != nil {
			return tasks, context.Cause(ctx)
		}
		if t.closed {
			return tasks, errClosed
		}
	}
}

// busyWith reports whether a task goes on without its owner. The lock is held.
func busyWith(t *Team, one *Task) bool {
	return one.Open() && t.workers[one.Task] != nil && one.Decision() == nil
}

// Cancel settles the newest attempt at a task as cancelled, and the open tasks of its sub-agent too. It waits until the sub-agent has ended.
// If the attempt is settled, the error is a [*LateError].
func (t *Team) Cancel(ctx context.Context, task session.ID, reason string) error {
	w, err := t.open(task)
	if err != nil {
		return err
	}
	w.cancel(&cancelled{cmp.Or(reason, "the owner cancelled it")})
	select {
	case <-w.over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.settle(w, session.TaskReport{Outcome: session.TaskCancelled, Summary: reason}) // if the worker has not
	now, _ := t.Task(task)
	if len(now.Reports) >= w.attempt && now.Reports[w.attempt-1].Outcome != session.TaskCancelled {
		return &LateError{What: "attempt", ID: task, N: w.attempt}
	}
	return nil
}

// open returns the worker of an open task. Without one, because the team has not continued the task, it makes one that does not work.
func (t *Team) open(task session.ID) (*worker, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(); err != nil {
		return nil, err
	}
	one := t.state.Task(task)
	switch {
	case one == nil:
		return nil, unknownTask(task)
	case !one.Open():
		return nil, &LateError{What: "attempt", ID: task, N: one.Attempt}
	case t.workers[task] != nil:
		return t.workers[task], nil
	}
	w := t.worker(one)
	close(w.over)
	return w, nil
}

// cancelBelow settles the open tasks of an agent that has ended.
func cancelBelow(ctx context.Context, store session.Log, child session.SessionID) error {
	if child == "" {
		return nil
	}
	s, err := Read(ctx, store, child)
	if err != nil {
		return err
	}
	for _, one := range s.Open() {
		report := session.TaskReport{Outcome: session.TaskCancelled, Summary: "the task of its owner was cancelled"}
		_, err := store.Annotate(ctx, child, session.TaskSettled{Task: one.Task, Attempt: max(one.Attempt, 1), Report: report})
		if err == nil {
			err = cancelBelow(ctx, store, one.Session)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settle ends an attempt, and queues the report for the owner in the same step. It does nothing if the attempt is settled.
func (t *Team) settle(w *worker, r session.TaskReport) {
	ctx := context.WithoutCancel(t.ctx)
	r = w.verified(ctx, r)
	if one, _ := t.Task(w.created.Task); r.Outcome == session.TaskCancelled {
		_ = cancelBelow(ctx, t.options.Store, one.Session) // if it fails, their entries stay open
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.workers[w.created.Task] == w {
		delete(t.workers, w.created.Task)
	}
	one := t.state.Task(w.created.Task)
	if len(one.Reports) >= w.attempt {
		return
	}
	lane := session.FromFollowUp
	if r.Outcome == session.TaskCancelled {
		lane = session.FromNews // the owner or a person did it
	}
	bodies := []session.Body{
		session.TaskSettled{Task: w.created.Task, Attempt: w.attempt, Report: r},
		session.Queued{
			Draft: reportDraft(w.created.Task, w.attempt), Change: "added", Lane: lane, Speaker: speakerOf(one.Session),
			Message: llm.UserText(reportText(one, w.attempt, r)).Valid(),
		},
	}
	again, _ := pending(ctx, t.options.Store, one) // an instruction that came too late for this attempt begins the next one
	if again = again && (r.Outcome == session.TaskCompleted || r.Outcome == session.TaskFailed && w.ran); again {
		bodies = append(bodies, nextAttempt(one))
	}
	if err := t.record(ctx, bodies...); err != nil {
		t.change() // the next run of the owner reports the error, and the next process finds the task open
	} else if again {
		t.launchNext(one)
	}
	if lane != session.FromNews {
		t.wake()
	}
}

// pending reports whether something has come for a sub-agent that starts a run.
func pending(ctx context.Context, log session.Log, one *Task) (bool, error) {
	if one.Session == "" {
		return false, nil
	}
	box, err := inboxOf(ctx, log, one.Session)
	return err == nil && (wakes(box.Drafts) || wakes(box.lacks(one))), err
}

// nextAttempt is the entry that begins the attempt after the newest one.
func nextAttempt(one *Task) session.TaskStarted {
	return session.TaskStarted{Task: one.Task, Attempt: max(one.Attempt, 1) + 1, Session: one.Session, Dir: one.Dir, Worktree: one.Worktree}
}

// launchNext lets a worker work on an attempt that has just begun. The lock is held.
func (t *Team) launchNext(one *Task) *worker {
	w := t.worker(one)
	w.began = true
	t.launch(w)
	return w
}

// reportDraft is the draft with the report of an attempt.
func reportDraft(task session.ID, attempt int) session.ID {
	return session.ID(fmt.Sprintf("%s.%d", task, attempt))
}

// speakerOf is a session as the author of messages.
func speakerOf(id session.SessionID) session.Speaker {
	return session.Speaker{Kind: session.SpeakerAgent, Name: string(id)}
}

// ofAgent reports whether an agent wrote a message.
func ofAgent(m session.Message) bool { return m.Speaker.Kind == session.SpeakerAgent }
