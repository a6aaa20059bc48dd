package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	defaultWait = 60      // seconds
	maxEnd      = 2 << 10 // bytes of output in the message about the end of a job
)

type jobArguments struct {
	Action  string `json:"action" jsonschema:"what to do" enum:"output,wait,kill,list"`
	ID      string `json:"id,omitempty" jsonschema:"job, such as job1; for all actions but list"`
	Cursor  int64  `json:"cursor,omitempty" jsonschema:"show output from this byte on, -1 for all; default only new output" min:"-1"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds to wait for the end, default 60" min:"1" max:"600"`
}

func (a jobArguments) title() string { return strings.TrimSpace(a.Action + " " + a.ID) }

// Job is the details of a call about a background job.
type Job struct {
	ID       string    `json:"id"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended,omitzero"`
	Killed   bool      `json:"killed,omitzero"`
	ExitCode int       `json:"exit_code"`
	Signal   string    `json:"signal,omitzero"`
	Bytes    int64     `json:"bytes"`         // of output so far
	File     string    `json:"file,omitzero"` // with all output, if it is long
	Blocked  []Blocked `json:"blocked,omitzero"`
}

// Jobs is the details of a list of jobs.
type Jobs struct {
	Jobs []Job `json:"jobs"`
}

// jobEffects declares that job touches nothing. Only a kill must not repeat after a crash.
func jobEffects(_ context.Context, a jobArguments) (tool.Effects, error) {
	if a.Action != "list" && a.ID == "" {
		return tool.Effects{}, tool.Codef("tool.arguments", "id: missing; name the job for the action %s", a.Action)
	}
	return tool.Effects{None: true, Idempotent: a.Action != "kill"}, nil
}

func (s *set) start(ctx context.Context, a sandboxed) (tool.Result, error) {
	c := command(ctx, a)
	c.Spill = maxEnd
	job, err := s.Start(ctx, c)
	if err != nil {
		return tool.Result{}, err
	}
	id := job.Status().ID
	ran := Ran{Command: c.Line, Description: a.Description, Dir: a.Dir, Job: id, Unconfined: a.Unconfined, Reason: a.Reason}
	return tool.TextResult(fmt.Sprintf("[started as %s; job shows its output, and you get a message when it ends]", id)).With("started as "+id, ran), nil
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
	return s.show(ctx, job, a.Cursor, waited), nil
}

func (s *set) find(id string) (*workspace.Job, error) {
	var known []string
	for _, job := range s.Jobs() {
		if known = append(known, job.Status().ID); known[len(known)-1] == id {
			return job, nil
		}
	}
	if len(known) == 0 {
		return nil, tool.Codef("tool.not_found", "job %q not found; there are no jobs; shell starts one with background: true", id)
	}
	return nil, tool.Codef("tool.not_found", "job %q not found; the jobs are %s", id, strings.Join(known, ", "))
}

func (s *set) show(ctx context.Context, job *workspace.Job, cursor int64, waited string) tool.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := job.Status() // before the output: if the job has ended, the output is complete
	from := cursor
	switch {
	case cursor == 0:
		from = s.seen[status.ID]
	case cursor < 0:
		from = 0
	}
	limit := tool.Limit(ctx, maxText)
	o := job.Output(from, limit)
	if status.Ended.IsZero() {
		o = whole(o)
	}
	s.seen[status.ID] = o.Size
	output := excerpt(o, limit)
	notes := []string{status.ID + " is still running" + waited}
	if !status.Ended.IsZero() {
		notes = []string{status.ID + " has ended: " + ending(status.Finished)}
		if s.ended != nil {
			s.ended(status.ID)
		}
	}
	if output == "" {
		notes = append(notes, "no new output")
	}
	notes = append(notes, fmt.Sprintf("cursor %d", o.Size))
	state := "running"
	if !status.Ended.IsZero() {
		state = ending(status.Finished)
	}
	return tool.TextResult(output+bracketed(append(notes, remarks(status.Finished)...))).With(state+", "+lineCount(o), newJob(status, o))
}

// whole removes an incomplete rune at the end, which the next output will complete.
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
		state := "running"
		if !status.Ended.IsZero() {
			state = ending(status.Finished)
		}
		line, _, more := strings.Cut(status.Command.Line, "\n")
		if more || len(line) > 200 {
			line = strings.ToValidUTF8(line[:min(len(line), 200)], "") + " ..."
		}
		o := job.Output(math.MaxInt64, 0) // the size alone
		lines = append(lines, fmt.Sprintf("%s: %s, %d bytes of output: %s", status.ID, state, o.Size, line))
		details.Jobs = append(details.Jobs, newJob(status, o))
	}
	if len(lines) == 0 {
		lines = []string{"[no jobs]"}
	}
	return tool.TextResult(strings.Join(lines, "\n")).With(tool.Count(len(details.Jobs), "job"), details)
}

// Ended returns the message about an ended job for the model: its outcome and the end of its output.
func Ended(s workspace.JobStatus) string {
	line, _, _ := strings.Cut(s.Command.Line, "\n")
	line, _ = tool.Bound(line, 200)
	o := s.Output
	if all := o.Head + o.Tail; len(all) > maxEnd {
		lines := o.Lines + int64(strings.Count(all, "\n"))
		o.Head, o.Tail = "", all[len(all)-maxEnd:]
		if i := strings.IndexByte(o.Tail, '\n') + 1; i < maxEnd/2 {
			o.Tail = o.Tail[i:]
		}
		o.Bytes, o.Lines = o.Size-int64(len(o.Tail)), lines-int64(strings.Count(o.Tail, "\n"))
	}
	how := ending(s.Finished)
	if s.Killed {
		how = "killed"
	}
	return excerpt(o, 2*maxEnd) + bracketed(append([]string{fmt.Sprintf("the job %s (%s) has ended: %s", s.ID, line, how)}, remarks(s.Finished)...))
}
