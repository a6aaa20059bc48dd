package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	maxJobs = 32 // that run at a time
	oldJobs = 32 // that have ended and are still known
)

var (
	errKilled = errors.New("the job was killed")
	errClosed = errors.New("the workspace was closed")
)

// Job is a command that runs in the background: until it ends, is killed, or its workspace is closed. It is safe for concurrent
// use.
type Job struct {
	running *running
	stop    context.CancelCauseFunc
	ended   chan struct{}

	mu      sync.Mutex
	status  JobStatus
	waiting int
}

// JobStatus is the state of a job.
type JobStatus struct {
	ID      string // "job1"; no other job of the workspace has it
	Session string // of the workspace
	Command Command
	Started time.Time

	Ended    time.Time // zero: it runs
	Killed   bool      // Kill ended it
	Awaited  bool      // a caller of Wait knows of its end
	Finished           // its outcome, once it has ended, with the start and the end of its output
}

// Start starts a command as a job and does not wait for it; ctx is for the start alone. The promises of [Workspace.Run] hold for jobs, too. At
// most 32 jobs run at a time; of those that have ended, the last 32 are known.
//
// If the output is longer than the part in memory, all of it goes to a file, up to the limit of the command.
func (w *Workspace) Start(ctx context.Context, c Command) (*Job, error) {
	return w.commands.job(ctx, c)
}

func (m *commands) job(ctx context.Context, c Command) (*Job, error) {
	id, err := m.jobs.reserve()
	if err != nil {
		return nil, err
	}
	if c.Capture == 0 {
		c.Capture = 128 << 10
	}
	r, err := m.launch(ctx, c)
	if err != nil {
		m.jobs.done.Done()
		m.jobs.free()
		return nil, err
	}
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	j := &Job{running: r, stop: stop, ended: make(chan struct{}), status: JobStatus{ID: id, Session: m.session, Command: c, Started: time.Now()}}
	m.jobs.keep(j)
	go m.attend(life, j)
	return j, nil
}

// attend waits for the end of a job and reports it.
func (m *commands) attend(ctx context.Context, j *Job) {
	defer m.jobs.done.Done()
	defer j.stop(nil)
	cause := j.running.wait(ctx)
	done, err := m.finish(ctx, j.running)
	done.Trouble = errors.Join(done.Trouble, err)
	m.jobs.free()
	status := j.end(done, errors.Is(cause, errKilled))
	if m.jobEnded != nil && !m.jobs.isClosed() {
		m.jobEnded(status)
	}
}

func (j *Job) end(done Finished, killed bool) JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.status.Finished, j.status.Killed = done, killed
	j.status.Ended, j.status.Awaited = time.Now(), j.waiting > 0
	close(j.ended)
	return j.status
}

// Status returns the state of the job now.
func (j *Job) Status() JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status
}

// Output returns the output of the job from an offset on, at most most bytes: the first and the last of them if there are more. Size is the
// offset for the next call. If there are more bytes, all of the output goes to the file.
func (j *Job) Output(from int64, most int) Output { return j.running.collector.since(from, most) }

// Wait returns when the job has ended, or with the cause of ctx when ctx has.
func (j *Job) Wait(ctx context.Context) (JobStatus, error) {
	j.mu.Lock()
	j.waiting++
	j.mu.Unlock()
	select {
	case <-j.ended:
	case <-ctx.Done():
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting--
	if j.status.Ended.IsZero() {
		return j.status, context.Cause(ctx)
	}
	return j.status, nil // every caller that counts as waiting learns of the end
}

// Kill asks all processes of the job to end, kills them after the grace of the command, and waits for that, or for ctx. It does nothing to a
// job that has ended.
func (j *Job) Kill(ctx context.Context) (JobStatus, error) {
	j.stop(errKilled)
	return j.Wait(ctx)
}

// Jobs returns the jobs that are known, in the order in which they were started.
func (w *Workspace) Jobs() []*Job {
	return w.commands.jobs.all()
}

func (j *jobs) all() []*Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.list)
}

// jobs is the commands that run, and the jobs that are known.
type jobs struct {
	mu     sync.Mutex
	now    map[*running]bool
	list   []*Job
	active int // jobs that run or are about to
	count  int // of all jobs so far
	done   sync.WaitGroup
	closed bool // no more jobs
	killed bool // no more commands

	marks  // how the processes of commands are recognised
	warden // what ends them when this process dies
}

// reserve takes a place for a job, to be given back by free, and is waited for until done.Done.
func (j *jobs) reserve() (id string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return "", errClosed
	case j.active >= maxJobs:
		return "", fmt.Errorf("%d jobs run already, and no more can; wait for one or kill one", j.active)
	}
	j.active++
	j.count++
	j.done.Add(1)
	return fmt.Sprintf("job%d", j.count), nil
}

func (j *jobs) isClosed() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}

func (j *jobs) free() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.active--
}

// keep adds a job, and forgets those that ended longest ago.
func (j *jobs) keep(job *Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		job.stop(errClosed)
	}
	old := -oldJobs
	for _, other := range j.list {
		if other.over() {
			old++
		}
	}
	j.list = append(slices.DeleteFunc(j.list, func(other *Job) bool {
		if old <= 0 || !other.over() {
			return false
		}
		old--
		return true
	}), job)
}

func (j *Job) over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// begin notes a command that is about to start, until forget.
func (j *jobs) begin(r *running) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.killed {
		return errClosed
	}
	if j.now == nil {
		j.now = map[*running]bool{}
	}
	j.now[r] = true
	return nil
}

func (j *jobs) forget(r *running) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.now, r)
}

// kill ends all commands without asking, and lets none begin.
func (j *jobs) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.killed = true
	for r := range j.now {
		r.kill()
	}
}

// EndJobs ends all jobs and waits until their changes are reported. None can be started after it.
func (w *Workspace) EndJobs() { w.commands.jobs.end() }

func (j *jobs) end() {
	j.mu.Lock()
	j.closed = true
	for _, job := range j.list {
		job.stop(errClosed)
	}
	j.mu.Unlock()
	j.done.Wait()
}
