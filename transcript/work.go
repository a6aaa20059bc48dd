package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Task is a task of a sub-agent, as the session of its owner has it.
type Task struct {
	session.TaskCreated
	Time     time.Time // of its first entry
	Attempt  int       // the newest; 0: none has begun
	Since    time.Time // the beginning of that attempt
	Session  session.SessionID
	Worktree string              // name of its worktree
	Model    string              // "provider/model" of a parallel run; empty: the session of the task has it
	Report   *session.TaskReport // of that attempt; nil: it is not settled
	Usage    llm.Usage           // of all settled attempts

	imported bool
}

// Who returns the role of the sub-agent, or "agent".
func (t *Task) Who() string { return cmp.Or(line(t.Role), "agent") }

// Label returns the task in a few words.
func (t *Task) Label() string {
	const long = 60 // characters, as in the titles of sessions
	return cmp.Or(line(t.Name), Headline(t.Text, long), "task "+string(t.Task))
}

// title returns the role and the task.
func (t *Task) title() string { return t.Who() + ": " + t.Label() }

// Tasks returns the tasks that the session gave to sub-agents, and its parallel runs, oldest first. Imported ones are not among them: no file gives tasks.
func (t *Transcript) Tasks() (all []*Task) {
	for _, k := range t.crew.tasks {
		if !k.imported {
			all = append(all, k)
		}
	}
	return all
}

// Replied reports whether the session has the answer to a message of one of its sub-agents.
func (t *Transcript) Replied(mail session.ID) bool { return t.crew.replies[mail] }

// crew is the agents that a session has to do with.
type crew struct {
	tasks    []*Task
	replies  map[session.ID]bool // the mail that mail of this session answers
	owner    session.SessionID   // of the task that the session is for
	parallel session.ParallelStarted
	runs     []*Task // of parallel, while they are open
	selected session.SessionID
}

// task returns a task. One whose beginning is not in this part of the journal has only an ID.
func (t *crew) task(id session.ID) *Task {
	i := slices.IndexFunc(t.tasks, func(k *Task) bool { return k.Task == id })
	if i < 0 {
		return &Task{TaskCreated: session.TaskCreated{Task: id}}
	}
	return t.tasks[i]
}

// add folds the entries of tasks, their mail and parallel runs. It returns a note for people, or false.
func (t *crew) add(e session.Event) (Note, bool) {
	switch b := e.Body.(type) {
	case session.Created:
		t.owner = b.Parent.Session
	case session.TaskCreated:
		k := t.task(b.Task)
		if !k.Time.IsZero() { // the first one counts
			return Note{}, false
		}
		k.TaskCreated, k.Time, k.imported = b, e.Time, e.Imported
		t.tasks = append(t.tasks, k)
		title := k.title()
		if b.Worktree {
			title += ", in a copy of the project"
		}
		if b.Background {
			title += ", in the background"
		}
		return Note{Kind: NoteInfo, Title: title, Plain: b.Text}, true
	case session.TaskStarted:
		if k := t.task(b.Task); b.Attempt > k.Attempt {
			k.Attempt, k.Since, k.Report = b.Attempt, e.Time, nil
			k.Session, k.Worktree = b.Session, b.Worktree
		}
	case session.TaskSettled:
		k := t.task(b.Task)
		if k.Report != nil && b.Attempt <= k.Attempt { // the first one counts
			return Note{}, false
		}
		k.Attempt, k.Report, k.Usage = max(b.Attempt, k.Attempt), &b.Report, k.Usage.Plus(b.Report.Usage)
		return settled(k, b.Report, e.Time), true
	case session.Mail:
		if b.Reply != "" {
			if t.replies == nil {
				t.replies = make(map[session.ID]bool)
			}
			t.replies[b.Reply] = true
		}
		switch b.Type {
		case session.MailDecision:
			return Note{Kind: NoteWarning, Title: "a decision is needed: " + line(b.Text), Detail: b.Text}, true
		case session.MailRisk:
			return Note{Kind: NoteWarning, Title: "a risk: " + line(b.Text), Detail: b.Text}, true
		}
	case session.ParallelStarted:
		t.runsEnded(session.ParallelEnded{})
		t.parallel, t.selected = b, ""
		for i, r := range b.Branches {
			k := &Task{Time: e.Time, Since: e.Time, Session: r.Session, Worktree: r.Worktree, Model: r.Model, imported: e.Imported}
			k.Task, k.Name, k.Role, k.Text = session.ID(fmt.Sprintf("%s.%d", b.Group, i+1)), "run "+r.Name, "parallel", b.Prompt
			if r.Session != "" {
				k.Attempt = 1
			}
			t.tasks, t.runs = append(t.tasks, k), append(t.runs, k)
		}
		var list strings.Builder
		for i := range b.Branches {
			fmt.Fprintln(&list, t.branch(b.Branches[i].Session))
		}
		return Note{Kind: NoteInfo, Title: Count(len(b.Branches), "run") + " on one prompt: " + Headline(b.Prompt, 60), Plain: list.String()}, true
	case session.ParallelEnded:
		t.runsEnded(b)
		t.selected = b.Selected
		return t.parallelEnded(b), true
	}
	return Note{}, false
}

// runsEnded settles the open parallel runs.
func (t *crew) runsEnded(b session.ParallelEnded) {
	for i, k := range t.runs {
		r := session.TaskReport{Outcome: session.TaskCancelled}
		if i < len(b.Results) {
			r.Usage, r.Summary = b.Results[i].Usage, b.Results[i].Error
			switch {
			case r.Summary != "":
				r.Outcome = session.TaskFailed
			case k.Session == b.Selected:
				r.Outcome, r.Summary = session.TaskCompleted, "selected: "+b.Reason
			default:
				r.Outcome, r.Summary = session.TaskCompleted, "not selected"
			}
		}
		k.Report, k.Usage = &r, r.Usage
	}
	t.runs = nil
}

// Parallel returns the worktree of the selected one of the newest parallel runs, and the worktrees of all of them.
func (t *Transcript) Parallel() (selected string, worktrees []string) {
	for _, b := range t.crew.parallel.Branches {
		if b.Session == "" {
			continue
		}
		if worktrees = append(worktrees, b.Worktree); b.Session == t.crew.selected {
			selected = b.Worktree
		}
	}
	return selected, worktrees
}

func settled(k *Task, r session.TaskReport, at time.Time) Note {
	n := Note{Kind: NoteInfo, Title: k.title() + " · " + strings.ReplaceAll(string(r.Outcome), "_", " "), Detail: r.Summary}
	if r.Usage.Cost > 0 {
		n.Title += " · " + Dollars(r.Usage.Cost)
	}
	if took := at.Sub(k.Since); !k.Since.IsZero() && took > 0 {
		n.Title += " · " + Duration(took)
	}
	if len(r.Doubts) > 0 {
		n.Title += " · " + Count(len(r.Doubts), "doubt")
	}
	if r.Denials > 0 {
		n.Title += " · " + Count(r.Denials, "denied call")
	}
	if r.Outcome == session.TaskFailed || len(r.Doubts) > 0 {
		n.Kind = NoteWarning
	}
	files := r.Changed
	if len(files) == 0 {
		files = r.Files
	}
	var checks []string
	for _, c := range r.Checks {
		state := "not verified"
		if c.Verified {
			state = "verified"
		}
		checks = append(checks, line(c.Command)+" · "+joined(state, line(c.Doubt)))
	}
	var all strings.Builder
	for _, part := range []struct {
		name  string
		items []string
	}{{"files", files}, {"checks", checks}, {"doubts", r.Doubts}, {"denied", r.Denied}, {"limitations", r.Limitations}, {"risks", r.Risks}} {
		for i, item := range part.items {
			if i == 0 {
				fmt.Fprintln(&all, part.name+":")
			}
			fmt.Fprintln(&all, "  "+line(item))
		}
	}
	n.Plain = all.String()
	return n
}

// branch returns the name of a parallel run and its model, or the ID of its session.
func (t *crew) branch(id session.SessionID) string {
	for _, b := range t.parallel.Branches {
		switch {
		case b.Session != id:
		case b.Name == "" || b.Model == "" || strings.Contains(b.Name, b.Model):
			return cmp.Or(line(b.Name), line(b.Model), string(id))
		default:
			return line(b.Name) + " (" + line(b.Model) + ")"
		}
	}
	return string(id)
}

func (t *crew) parallelEnded(b session.ParallelEnded) Note {
	n := Note{Kind: NoteInfo, Title: "no parallel run was selected"}
	if b.Selected != "" {
		n.Title = "selected " + t.branch(b.Selected)
	} else {
		n.Kind = NoteWarning
	}
	n.Title = joined(n.Title, line(b.Reason))
	var all strings.Builder
	for _, r := range b.Results {
		facts := t.branch(r.Session)
		if r.Error != "" {
			facts += " · " + line(r.Error)
		} else {
			facts += fmt.Sprintf(" · score %.3g", r.Score)
		}
		if r.Usage.Cost > 0 {
			facts += " · " + Dollars(r.Usage.Cost)
		}
		if r.Session == b.Selected {
			facts += " · selected"
		}
		fmt.Fprintln(&all, facts)
	}
	n.Plain = all.String()
	return n
}

// author returns a speaker with a name for people. The name of an agent in the journal is its session.
func (t *crew) author(s session.Speaker) session.Speaker {
	if s.Kind != session.SpeakerAgent || s.Name == "" {
		return s
	}
	if s.Name == string(t.owner) {
		s.Name = "that gave the task"
		return s
	}
	for _, k := range t.tasks {
		if s.Name == string(k.Session) {
			s.Name = k.Label()
			if k.Role != "" {
				s.Name += " (" + line(k.Role) + ")"
			}
		}
	}
	return s
}
