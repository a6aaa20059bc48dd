package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const defaultWait = 60 // seconds

type jobArguments struct {
	Action  string `json:"action" enum:"output,wait,kill,list"`
	ID      string `json:"id,omitempty"`
	Cursor  int64  `json:"cursor,omitempty" jsonschema:"output from this byte on, -1: all; default: what is new" min:"-1"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds to wait, default 60" min:"1" max:"600"`
}

// Job is the details of a call about jobs; Jobs is the list of them.
type Job struct {
	ID       string    `json:"id"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Killed   bool      `json:"killed,omitzero"`
	ExitCode int       `json:"exit_code"`
	Signal   string    `json:"signal,omitzero"`
	Bytes    int64     `json:"bytes"`         // of output, so far
	File     string    `json:"file,omitzero"` // with all of it, when it is long
	Blocked  []Blocked `json:"blocked,omitzero"`
}

// Jobs is the details of a list of jobs.
type Jobs struct {
	Jobs []Job `json:"jobs"`
}

// jobEffects: looking after what was started touches nothing else. Only a kill is not to be repeated by itself.
func jobEffects(_ context.Context, a jobArguments) (tool.Effects, error) {
	if a.Action != "list" && a.ID == "" {
		return tool.Effects{}, fmt.Errorf("id: missing; it says which job to %s", map[string]string{"output": "look at", "wait": "wait for", "kill": "kill"}[a.Action])
	}
	return tool.Effects{Idempotent: a.Action != "kill"}, nil
}

func (s *set) start(ctx context.Context, a sandboxed) (tool.Result, error) {
	job, err := s.Start(ctx, s.command(a))
	if err != nil {
		return tool.Result{}, err
	}
	id := job.Status().ID
	result := tool.TextResult(fmt.Sprintf("[started as %s; job shows its output, and you are told when it ends]", id))
	result.Details = Ran{Command: a.Command, Description: a.Description, Dir: a.Dir, Job: id, Unconfined: a.Unconfined, Reason: a.Reason}
	return result, nil
}

func (s *set) job(ctx context.Context, a jobArguments, _ tool.Report) (tool.Result, error) {
	if a.Action == "list" {
		return s.list(), nil
	}
	job, err := s.find(a.ID)
	if err != nil {
		return tool.Result{}, err
	}
	var waited string
	switch a.Action {
	case "wait":
		seconds := cmp.Or(a.Timeout, defaultWait)
		limited, cancel := context.WithTimeoutCause(ctx, time.Duration(seconds)*time.Second, errTimeout)
		defer cancel()
		if _, err := job.Wait(limited); errors.Is(err, errTimeout) {
			waited = fmt.Sprintf(" after %d s", seconds)
		} else if err != nil {
			return tool.Result{}, err
		}
	case "kill":
		if _, err := job.Kill(ctx); err != nil {
			return tool.Result{}, err
		}
	}
	return s.tell(job, a.Cursor, waited), nil
}

func (s *set) find(id string) (*workspace.Job, error) {
	var known []string
	for _, job := range s.Jobs() {
		if known = append(known, job.Status().ID); known[len(known)-1] == id {
			return job, nil
		}
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("there is no job %q, and no other; shell starts one with background: true", id)
	}
	return nil, fmt.Errorf("there is no job %q; there are %s", id, strings.Join(known, ", "))
}

// tell says what a job has written since the model last saw it, and how it is doing.
func (s *set) tell(job *workspace.Job, cursor int64, waited string) tool.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := job.Status() // before the output: of what has ended, that is all
	from := cursor
	switch {
	case cursor == 0:
		from = s.told[status.ID]
	case cursor < 0:
		from = 0
	}
	o := job.Output(from, maxText)
	if status.Ended.IsZero() {
		o = whole(o)
	}
	s.told[status.ID] = o.Size
	output, lost := excerpt(o)
	notes := []string{status.ID + " still runs" + waited}
	if !status.Ended.IsZero() {
		notes = []string{status.ID + " has ended: " + ending(status.Finished)}
		if s.ended != nil {
			s.ended(status.ID)
		}
	}
	if output == "" {
		notes = append(notes, "no new output")
	}
	if lost > 0 && o.File != "" {
		notes = append(notes, kept(o))
	}
	notes = append(notes, fmt.Sprintf("cursor %d", o.Size))
	result := tool.TextResult(output + bracketed(append(notes, remarks(status.Finished)...)))
	result.Details = newJob(status, o)
	return result
}

// whole leaves the start of a rune for the next time.
func whole(o workspace.Output) workspace.Output {
	last := &o.Head
	if o.Tail != "" {
		last = &o.Tail
	}
	n := begun(*last)
	*last = (*last)[:len(*last)-n]
	o.Size -= int64(n)
	return o
}

func newJob(s workspace.JobStatus, o workspace.Output) Job {
	return Job{
		ID: s.ID, Command: s.Command.Line, Started: s.Started, Ended: s.Ended, Killed: s.Killed, ExitCode: s.ExitCode, Signal: s.Signal,
		Bytes: o.Size, File: o.File, Blocked: blocked(s.Finished),
	}
}

func (s *set) list() tool.Result {
	details := Jobs{Jobs: []Job{}}
	var lines []string
	for _, job := range s.Jobs() {
		status := job.Status()
		state := "runs"
		if !status.Ended.IsZero() {
			state = ending(status.Finished)
		}
		line, _, more := strings.Cut(status.Command.Line, "\n")
		if more || len(line) > 200 {
			line = strings.ToValidUTF8(line[:min(len(line), 200)], "") + " ..."
		}
		o := job.Output(0, 0)
		lines = append(lines, fmt.Sprintf("%s: %s, %d bytes of output: %s", status.ID, state, o.Size, line))
		details.Jobs = append(details.Jobs, newJob(status, o))
	}
	if len(lines) == 0 {
		lines = []string{"[no jobs]"}
	}
	result := tool.TextResult(strings.Join(lines, "\n"))
	result.Details = details
	return result
}

// Ended is what to tell a model of a job that has ended: how, and the last of what it wrote.
func Ended(s workspace.JobStatus) string {
	const most = 2 << 10
	line, _, _ := strings.Cut(s.Command.Line, "\n")
	line, _ = tool.Bound(line, 200)
	tail := s.Head + s.Tail
	if len(tail) > most {
		tail = "..." + strings.ToValidUTF8(tail[len(tail)-most:], "")
	}
	tail, _ = tool.Bound(tail, most+most/2)
	if tail != "" && !strings.HasSuffix(tail, "\n") {
		tail += "\n"
	}
	how := ending(s.Finished)
	if s.Killed {
		how = "killed"
	}
	return tail + bracketed(append([]string{fmt.Sprintf("the job %s (%s) has ended: %s", s.ID, line, how)}, remarks(s.Finished)...))
}
