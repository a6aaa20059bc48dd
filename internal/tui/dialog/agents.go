package dialog

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// Agent is a row of the agents: a task of a sub-agent.
type Agent struct {
	Task           session.ID
	Session        session.SessionID // empty: it has not begun
	Name, Role     string
	State          AgentState
	Does           string // its call, or its last words
	Attempt        int
	Depth          int // 0: the session gave the task; 1: a sub-agent did
	Usage          llm.Usage
	Model          string // "provider/model"; empty: unknown
	Worktree       string
	Prompt, Report string
}

// AgentState is the state of an agent in words: one of these, or the outcome of its task.
type AgentState string

// The states of open tasks.
const (
	AgentCreated AgentState = "not begun"
	AgentRuns    AgentState = "running"
	AgentAsks    AgentState = "asks its owner"
	AgentWaits   AgentState = "waits for its agents"
	AgentIdle    AgentState = "idle"
)

// Open reports whether the task is not settled.
func (a Agent) Open() bool {
	switch session.TaskOutcome(a.State) {
	case session.TaskCompleted, session.TaskFailed, session.TaskCancelled:
		return false
	}
	return true
}

// Asks reports whether a picker shows the question of a key, which new rows would end.
func Asks[T any](p *Picker[T]) bool { return p.ask != nil }

// NewAgents returns a picker of agents: show one, stop one. Set fills it.
func NewAgents(o *Options) *Picker[Agent] {
	return NewPicker(List[Agent]{
		Title: "Agents", Accept: "show", Empty: "This session has no other agents.",
		Columns: []Column{{Head: "TASK"}, {Head: "STATE"}, {Head: "ROLE", Drop: 2}, {Head: "MODEL", Drop: 3}, {Head: "ATTEMPT", Right: true, Drop: 5}, {Head: "TOKENS", Right: true, Drop: 4}, {Head: "COST", Right: true, Drop: 1}, {Head: "WORKTREE", Drop: 6}},
		Keys: []Key[Agent]{{
			Action: keys.Delete, Words: "stop", Confirm: func(a Agent) string { return "Stop the agent " + a.Name + "?" },
			Stay: true, Can: func(a Agent) bool { return a.Open() && a.Session != "" },
		}},
		Row: func(a Agent) Row[Agent] {
			cost, attempt, tokens := "", "", ""
			if a.Attempt > 0 {
				attempt = fmt.Sprint(a.Attempt)
			}
			if a.Usage.Cost > 0 {
				cost = transcript.Dollars(a.Usage.Cost)
			}
			if a.Usage.Total() > 0 {
				tokens = transcript.Tokens(a.Usage.Total())
			}
			return Row[Agent]{
				Cells:  []string{strings.Repeat("  ", a.Depth) + a.Name, string(a.State), a.Role, a.Model, attempt, tokens, cost, a.Worktree},
				Find:   string(a.Task),
				Detail: cmp.Or(a.Report, a.Does) + "\n\nTask: " + a.Prompt,
			}
		},
	}, o)
}
