package team

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace/path"
)

// Status is the status of a [Task].
type Status string

// The statuses of a task. An open task has one of the first five.
const (
	StatusCreated      Status = "created"       // its first attempt has not begun
	StatusRunning      Status = "running"       // a run of the sub-agent is on
	StatusWaitingOwner Status = "waiting_owner" // the sub-agent waits for a decision of the owner
	StatusWaitingTasks Status = "waiting_tasks" // the sub-agent has open tasks of its own
	StatusIdle         Status = "idle"          // no run is on, such as after the end of the process
	StatusCompleted    Status = "completed"
	StatusFailed       Status = "failed"
	StatusCancelled    Status = "cancelled"
)

// Task is a task as the journals have it.
type Task struct {
	session.TaskCreated
	Seq      int64     // its entry
	Time     time.Time // of its entry
	Attempt  int       // the newest one; 0: none has begun
	Since    time.Time // the beginning of that attempt
	Session  session.SessionID
	Dir      string // root of the files of the sub-agent
	Worktree string // name of its worktree; empty: it shares the files of the owner
	Reports  []session.TaskReport
	Mail     []session.Mail // both ways; each way in the order of its journal

	decision session.ID // the newest question to the owner without an answer
	running  bool
	own      State // the tasks of the sub-agent
}

// Open reports whether no report settles the newest attempt.
func (t *Task) Open() bool { return len(t.Reports) < max(t.Attempt, 1) }

// Report returns the report that settles the newest attempt; nil: the task is open.
func (t *Task) Report() *session.TaskReport {
	if t.Open() {
		return nil
	}
	return &t.Reports[len(t.Reports)-1]
}

// Decision returns the newest question to the owner that has no answer; nil: there is none, or the task is settled.
func (t *Task) Decision() *session.Mail {
	if t.decision == "" || !t.Open() {
		return nil
	}
	i := slices.IndexFunc(t.Mail, func(m session.Mail) bool { return m.Mail == t.decision })
	return &t.Mail[i]
}

// Status returns the status of the task.
func (t *Task) Status() Status {
	switch {
	case !t.Open():
		return Status(t.Report().Outcome)
	case t.Attempt == 0:
		return StatusCreated
	case t.Decision() != nil:
		return StatusWaitingOwner
	case len(t.own.Open()) > 0:
		return StatusWaitingTasks
	case t.running:
		return StatusRunning
	default:
		return StatusIdle
	}
}

// LateError reports an entry for an attempt that is settled, or a second entry for the same thing. The first one counts.
type LateError struct {
	What string // "task", "attempt", "mail"
	ID   session.ID
	N    int // number of the attempt
}

func (e *LateError) Error() string {
	if e.What == "attempt" {
		return fmt.Sprintf("cannot change attempt %d of task %s: it is settled", e.N, e.ID)
	}
	return fmt.Sprintf("cannot add %s %s: it exists", e.What, e.ID)
}

// Code returns "team.late".
func (e *LateError) Code() string { return "team.late" }

// State is the tasks of an owner. The zero value has none. It is not safe for concurrent use.
type State struct {
	Tasks []*Task // in the order of their creation; read only
}

// Kinds are the kinds of the entries that [State.Add] folds. [State.AddChild] folds these and the starts and ends of runs.
func Kinds() []string { return []string{"task_created", "task_started", "task_settled", "mail"} }

// Task returns a task; nil: there is none with this ID.
func (s *State) Task(id session.ID) *Task {
	if i := slices.IndexFunc(s.Tasks, func(t *Task) bool { return t.Task == id }); i >= 0 {
		return s.Tasks[i]
	}
	return nil
}

// ByKey returns the open task with a key; nil: there is none. No task has an empty key.
func (s *State) ByKey(key string) *Task {
	i := slices.IndexFunc(s.Tasks, func(t *Task) bool { return key != "" && t.Key == key && t.Open() })
	if i < 0 {
		return nil
	}
	return s.Tasks[i]
}

// Open returns the open tasks.
func (s *State) Open() (open []*Task) {
	for _, t := range s.Tasks {
		if t.Open() {
			open = append(open, t)
		}
	}
	return open
}

// Add folds an entry of the owner. It returns a [*LateError] if an earlier entry counts, and another error if the entry is impossible; both
// change nothing. Other entries are ignored, and so are imported ones: no file gives tasks.
func (s *State) Add(e session.Event) error {
	if e.Imported {
		return nil
	}
	switch b := e.Body.(type) {
	case session.TaskCreated:
		switch {
		case b.Task == "":
			return errors.New("cannot create a task without an ID")
		case s.Task(b.Task) != nil:
			return &LateError{What: "task", ID: b.Task}
		}
		s.Tasks = append(s.Tasks, &Task{TaskCreated: b, Seq: e.Seq, Time: e.Time})
	case session.TaskStarted:
		return s.started(e, b)
	case session.TaskSettled:
		return s.settled(b)
	case session.Mail:
		if b.Type == session.MailInstruction { // others are of the owner to its own owner
			return s.mail(b)
		}
	}
	return nil
}

func (s *State) started(e session.Event, b session.TaskStarted) error {
	t := s.Task(b.Task)
	switch {
	case t == nil:
		return unknownTask(b.Task)
	case b.Session == "" || t.Session != "" && t.Session != b.Session:
		return fmt.Errorf("cannot start task %s in session %q: its session is %q", b.Task, b.Session, t.Session)
	case b.Attempt <= len(t.Reports):
		return &LateError{What: "attempt", ID: b.Task, N: b.Attempt}
	case b.Attempt != len(t.Reports)+1:
		return fmt.Errorf("cannot start attempt %d of task %s: attempt %d comes first", b.Attempt, b.Task, len(t.Reports)+1)
	}
	if b.Attempt > t.Attempt {
		t.Attempt, t.Since, t.decision = b.Attempt, e.Time, ""
	}
	t.Session, t.Dir, t.Worktree = b.Session, b.Dir, b.Worktree
	return nil
}

func (s *State) settled(b session.TaskSettled) error {
	t := s.Task(b.Task)
	switch {
	case t == nil:
		return unknownTask(b.Task)
	case b.Attempt <= len(t.Reports):
		return &LateError{What: "attempt", ID: b.Task, N: b.Attempt}
	case b.Attempt != max(t.Attempt, 1): // a task can fail before its first attempt
		return fmt.Errorf("cannot settle attempt %d of task %s: it has not begun", b.Attempt, b.Task)
	}
	switch b.Report.Outcome {
	case session.TaskCompleted, session.TaskFailed, session.TaskCancelled:
	default:
		return fmt.Errorf("cannot settle task %s: unknown outcome %q", b.Task, b.Report.Outcome)
	}
	t.Attempt = b.Attempt
	t.Reports = append(slices.Clip(t.Reports), b.Report)
	return nil
}

func (s *State) mail(b session.Mail) error {
	t := s.Task(b.Task)
	switch {
	case t == nil:
		return unknownTask(b.Task)
	case slices.ContainsFunc(t.Mail, func(m session.Mail) bool { return m.Mail == b.Mail }):
		return &LateError{What: "mail", ID: b.Mail}
	}
	t.Mail = append(slices.Clip(t.Mail), b)
	if b.Reply != "" && b.Reply == t.decision {
		t.decision = ""
	}
	return nil
}

// AddChild folds an entry of the sub-agent of a task, as Add does those of the owner. The entries of the owner come first.
func (s *State) AddChild(task session.ID, e session.Event) error {
	t := s.Task(task)
	if t == nil {
		return unknownTask(task)
	}
	if e.Imported {
		return nil
	}
	switch b := e.Body.(type) {
	case session.RunStarted:
		t.running = true
	case session.RunEnded:
		t.running = false
	case session.Mail:
		if b.Type == session.MailInstruction || b.Task != task {
			return t.own.Add(e)
		}
		if err := s.mail(b); err != nil {
			return err
		}
		answered := slices.ContainsFunc(t.Mail, func(m session.Mail) bool { return m.Reply == b.Mail })
		if b.Type == session.MailDecision && !answered && !e.Time.Before(t.Since) {
			t.decision = b.Mail
		}
	default:
		return t.own.Add(e)
	}
	return nil
}

func unknownTask(id session.ID) error {
	return tool.Codef("team.not_found", "there is no task %s", id)
}

// Read folds the tasks of a session as they are now, with the entries of the sub-agents.
func Read(ctx context.Context, log session.Log, owner session.SessionID) (*State, error) {
	s := new(State)
	for e, err := range log.Read(ctx, owner, 0, Kinds()...) {
		if err != nil {
			return nil, err
		}
		_ = s.Add(e) // the first entry counts
	}
	for _, t := range s.Tasks {
		if t.Session == "" {
			continue
		}
		for e, err := range log.Read(ctx, t.Session, 0, append(Kinds(), "run_started", "run_ended")...) {
			if errors.Is(err, session.ErrNotFound) { // it was purged
				break
			}
			if err != nil {
				return nil, err
			}
			_ = s.AddChild(t.Task, e)
		}
	}
	return s, nil
}

// scopeOf returns the scope of a new task, within that of the owner. Tasks that share the files of the owner must not have overlapping scopes;
// a task without a scope overlaps none. The lock is held.
func scopeOf(t *Team, c session.TaskCreated) (session.Scope, error) {
	s, own := c.Scope, t.options.Scope
	s.ReadOnly = s.ReadOnly || own.ReadOnly
	if s.ReadOnly {
		return session.Scope{ReadOnly: true}, nil
	}
	paths := make([]string, len(s.Paths))
	for i, name := range s.Paths {
		if strings.TrimSpace(name) == "" {
			return s, tool.Codef("team.scope", "a path of the scope is empty")
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(t.dir, name)
		}
		paths[i] = filepath.Clean(name)
		if len(own.Paths) > 0 && !slices.ContainsFunc(own.Paths, func(dir string) bool { return path.Inside(dir, paths[i]) }) {
			return s, tool.Codef("team.scope", "%s is outside of your own scope: %s", paths[i], strings.Join(own.Paths, ", "))
		}
	}
	if s.Paths = paths; len(paths) == 0 {
		s.Paths = slices.Clone(own.Paths)
	}
	if c.Worktree || len(paths) == 0 {
		return s, nil
	}
	for _, other := range t.state.Open() {
		if !other.TaskCreated.Worktree && writes(s).Collides(writes(other.Scope)) {
			return s, tool.Codef("team.scope", "the scope overlaps that of %s; wait for that task, name other paths, or use a worktree", title(other))
		}
	}
	return s, nil
}

// writes are the effects of work within a scope.
func writes(s session.Scope) tool.Effects {
	e := tool.Effects{None: true}
	for _, name := range s.Paths {
		e.Writes = append(e.Writes, tool.Tree(name))
	}
	return e
}
