package app

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

// endings is what the model knows and will know of the ends of jobs, each once. The zero value is ready for use.
type endings struct {
	mu     sync.Mutex
	queued map[string]session.ID // the drafts that will tell of jobs; of those that a tool has told, an empty one
}

// tell lets the model know of a job that has ended, unless it knows already.
func (a *Agent) tell(j workspace.JobStatus) {
	if j.Awaited || j.Killed {
		return
	}
	text := shell.Ended(j)
	if a.secrets != nil {
		text = a.secrets.Redact(text)
	}
	a.endings.mu.Lock()
	defer a.endings.mu.Unlock()
	if _, told := a.endings.queued[j.ID]; told {
		return
	}
	if d, err := a.FollowUp(context.Background(), llm.UserText(text)); err == nil { // a journal that cannot be written says so to the run
		a.endings.note(j.ID, d.ID)
	}
}

// TakenBackError says what the sandbox took back from jobs that ended with the agent: nobody else is told of that.
type TakenBackError struct{ What []string }

func (e *TakenBackError) Error() string { return strings.Join(e.What, "; ") }

// endJobs ends the jobs that run.
func (a *Agent) endJobs() error {
	over := func(j *workspace.Job) bool { return !j.Status().Ended.IsZero() }
	jobs := slices.DeleteFunc(a.workspace.Jobs(), over)
	a.workspace.EndJobs()
	taken := &TakenBackError{}
	for _, j := range jobs {
		for _, b := range j.Status().Blocked {
			text := j.Status().ID + ": " + b.String()
			if a.secrets != nil {
				text = a.secrets.Redact(text)
			}
			if b.Undone {
				taken.What = append(taken.What, text)
			}
		}
	}
	if len(taken.What) == 0 {
		return nil
	}
	return taken
}

// told takes back what waits to be said of a job: a tool has said it.
func (a *Agent) told(job string) {
	a.endings.mu.Lock()
	defer a.endings.mu.Unlock()
	if draft := a.endings.queued[job]; draft != "" {
		_ = a.RemoveDraft(context.Background(), draft) // unless it has been taken by now
	}
	a.endings.note(job, "")
}

func (e *endings) note(job string, draft session.ID) {
	if e.queued == nil {
		e.queued = make(map[string]session.ID)
	}
	e.queued[job] = draft
}
