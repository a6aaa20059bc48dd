package session

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session/internal/place"
)

// ---- Entries aside of every branch: tasks of sub-agents, their mail, goals, and parallel runs. Package team folds them.

// TaskCreated gives a task to a sub-agent. Like [TaskStarted] and [TaskSettled] it is in the session of the owner, the agent that gave it.
type TaskCreated struct {
	Task       ID     `json:"task"`
	Call       string `json:"call,omitzero"`       // the call of the owner that gave it
	Name       string `json:"name,omitzero"`       // a few words for people
	Text       string `json:"text"`                // the prompt of the sub-agent
	Role       string `json:"role,omitzero"`       // empty: the role of the owner
	Key        string `json:"key,omitzero"`        // two open tasks of an owner never have the same key
	Scope      Scope  `json:"scope,omitzero"`      // paths that the sub-agent may change
	Background bool   `json:"background,omitzero"` // the owner does not wait for it
	Worktree   bool   `json:"worktree,omitzero"`   // the sub-agent works in a copy of the project
}

// Scope limits the changes of a sub-agent. The zero value allows all changes that the owner may make.
type Scope struct {
	ReadOnly bool     `json:"read_only,omitzero"`
	Paths    []string `json:"paths,omitzero"` // files and directories, absolute
}

// TaskStarted begins an attempt at a task, or continues it in another process.
type TaskStarted struct {
	Task     ID        `json:"task"`
	Attempt  int       `json:"attempt"`           // from 1; the same after a crash, another one after the attempt was settled
	Session  SessionID `json:"session"`           // of the sub-agent; the same for all attempts
	Dir      string    `json:"dir,omitzero"`      // root of its files, absolute: the project, or its worktree
	Worktree string    `json:"worktree,omitzero"` // name of its worktree; empty: it shares the files of the owner
}

// TaskSettled ends an attempt at a task. The first one for an attempt counts.
type TaskSettled struct {
	Task    ID         `json:"task"`
	Attempt int        `json:"attempt"`
	Report  TaskReport `json:"report"`
}

// TaskOutcome is the outcome of an attempt.
type TaskOutcome string

// The outcomes.
const (
	TaskCompleted TaskOutcome = "completed"
	TaskFailed    TaskOutcome = "failed"
	TaskCancelled TaskOutcome = "cancelled"
)

// TaskReport is the report of a sub-agent about an attempt, and what the journal says about its claims. Nothing in it has the authority of a
// person.
type TaskReport struct {
	Outcome     TaskOutcome `json:"outcome"`
	Summary     string      `json:"summary,omitzero"`     // its last words
	Files       []string    `json:"files,omitzero"`       // that it says it changed, relative to its root
	Checks      []TaskCheck `json:"checks,omitzero"`      // commands that it names as verification
	Limitations []string    `json:"limitations,omitzero"` // work that it left undone
	Risks       []string    `json:"risks,omitzero"`
	FollowUps   []string    `json:"follow_ups,omitzero"` // further work that it recommends
	Artifacts   []string    `json:"artifacts,omitzero"`  // names of stored texts

	Changed []string  `json:"changed,omitzero"` // files that it changed, by the journal
	Doubts  []string  `json:"doubts,omitzero"`  // claims that the journal does not support, in words
	Denied  []string  `json:"denied,omitzero"`  // the first calls that were denied, or that the sandbox blocked, in words
	Denials int       `json:"denials,omitzero"` // how many there were
	Usage   llm.Usage `json:"usage,omitzero"`   // of the attempt
}

// TaskCheck is a command that a sub-agent names as verification.
type TaskCheck struct {
	Command  string `json:"command"`
	Verified bool   `json:"verified,omitzero"` // it ran, exited with 0, and no file changed after it
	Doubt    string `json:"doubt,omitzero"`    // why not
}

// Mail is a message between the owner and the sub-agent of a task, in the session of its sender. Its delivery is a draft with the same ID in
// the session of its receiver, which accepts an ID once.
type Mail struct {
	Mail     ID           `json:"mail"`
	Task     ID           `json:"task"`
	To       SessionID    `json:"to"`
	Type     MailType     `json:"type"`
	Priority MailPriority `json:"priority"`
	Reply    ID           `json:"reply,omitzero"` // the mail that it answers
	Text     string       `json:"text"`
}

// MailType is the kind of a [Mail].
type MailType string

// The types. An owner sends an instruction; the others come from sub-agents.
const (
	MailInstruction MailType = "instruction"
	MailProgress    MailType = "progress"
	MailCompleted   MailType = "completed" // about a [TaskSettled]
	MailBlocked     MailType = "blocked"
	MailDecision    MailType = "decision_required" // the sub-agent waits for the answer
	MailRisk        MailType = "risk_alert"
	MailDirection   MailType = "direction_change_request"
)

// MailPriority says when a [Mail] enters the conversation of its receiver.
type MailPriority string

// The priorities.
const (
	MailNotify    MailPriority = "notify"    // with the next turn; it starts none
	MailUrgent    MailPriority = "urgent"    // when the run would otherwise end; it starts a run
	MailInterrupt MailPriority = "interrupt" // after the calls that are running; it starts a run
)

// Goal is the state of a goal that the agent of the session pursues over many turns. The last entry is valid.
type Goal struct {
	Goal   string     `json:"goal"`
	State  GoalState  `json:"state"`
	Checks []string   `json:"checks,omitzero"` // commands of the person that must exit with 0 before the goal is completed
	Stalls int        `json:"stalls,omitzero"` // consecutive rounds without progress
	Reason string     `json:"reason,omitzero"` // for the state, in words
	Limits GoalLimits `json:"limits,omitzero"`
	Used   GoalLimits `json:"used,omitzero"` // of the limits so far
	By     Speaker    `json:"by,omitzero"`   // who set or changed it
}

// Open reports whether the agent pursues the goal, or continues to do so with its next run.
func (g Goal) Open() bool {
	switch g.State {
	case "", GoalCompleted, GoalDropped:
		return false
	}
	return true
}

// GoalLimits end the pursuit of a goal. Zero fields are no limit.
type GoalLimits struct {
	Rounds int      `json:"rounds,omitzero"` // answers after which the run would have ended
	Time   Duration `json:"time,omitzero"`   // of runs
	Money  float64  `json:"money,omitzero"`  // US dollars
}

// GoalState is the state of a [Goal].
type GoalState string

// The states.
const (
	GoalExecuting GoalState = "executing"
	GoalVerifying GoalState = "verifying" // the checks run
	GoalAssessing GoalState = "assessing" // a model compares the answer with the goal
	GoalCompleted GoalState = "completed"
	GoalBlocked   GoalState = "blocked"
	GoalExhausted GoalState = "budget_exhausted"
	GoalDropped   GoalState = "dropped" // by a person
)

// ParallelStarted begins several runs on one prompt, each in a session of its own.
type ParallelStarted struct {
	Group    ID               `json:"group"`
	Prompt   string           `json:"prompt"`
	Branches []ParallelBranch `json:"branches"`
	Judge    []string         `json:"judge"` // the evaluations in their order: "first", "tokens", "elaborate", "command", "model"
}

// ParallelBranch is one of the runs of a [ParallelStarted].
type ParallelBranch struct {
	Session  SessionID `json:"session"`
	Name     string    `json:"name,omitzero"`     // of its configuration
	Model    string    `json:"model,omitzero"`    // "provider/model"
	Worktree string    `json:"worktree,omitzero"` // name of its worktree
}

// ParallelEnded ends the runs of a [ParallelStarted].
type ParallelEnded struct {
	Group    ID               `json:"group"`
	Selected SessionID        `json:"selected,omitzero"` // empty: none was
	Results  []ParallelResult `json:"results"`           // one for each branch, in their order
	Reason   string           `json:"reason,omitzero"`   // for the selection, in words
	Usage    llm.Usage        `json:"usage,omitzero"`    // of the evaluation
}

// ParallelResult is the result of one branch.
type ParallelResult struct {
	Session SessionID `json:"session"`
	Error   string    `json:"error,omitzero"` // why it is excluded
	Score   float64   `json:"score,omitzero"` // by the evaluation that decided
	Usage   llm.Usage `json:"usage,omitzero"`
}

func (TaskCreated) Kind() string     { return "task_created" }
func (TaskStarted) Kind() string     { return "task_started" }
func (TaskSettled) Kind() string     { return "task_settled" }
func (Mail) Kind() string            { return "mail" }
func (Goal) Kind() string            { return "goal" }
func (ParallelStarted) Kind() string { return "parallel_started" }
func (ParallelEnded) Kind() string   { return "parallel_ended" }

func (TaskCreated) Place() place.Place     { return place.Aside }
func (TaskStarted) Place() place.Place     { return place.Aside }
func (TaskSettled) Place() place.Place     { return place.Aside }
func (Mail) Place() place.Place            { return place.Aside }
func (Goal) Place() place.Place            { return place.Aside }
func (ParallelStarted) Place() place.Place { return place.Aside }
func (ParallelEnded) Place() place.Place   { return place.Aside }
