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

// JobStatus is how a job is doing.
type JobStatus struct {
	ID      string // "job1"; no other job of the workspace has it
	Command Command
	Started time.Time

	Ended    time.Time // zero: it runs
	Killed   bool      // it ended because it was told to
	Awaited  bool      // somebody was in Wait when it ended, and so knows
	Finished           // what came of it, once it has ended; also the start and the end of its output
}

// Start starts a command as a job and does not wait for it; ctx is for the start alone. What is said of commands at [Workspace.Run]
// holds for jobs. At most 32 run at a time; of those that have ended the last 32 are known.
//
// All of its output goes to a file, up to the limit of the command, as soon as it is longer than what is kept in memory.
func (w *Workspace) Start(ctx context.Context, c Command) (*Job, error) {
	id, err := w.jobs.reserve()
	if err != nil {
		return nil, err
	}
	if c.Capture == 0 {
		c.Capture = 128 << 10
	}
	r, err := w.launch(ctx, c)
	if err != nil {
		w.jobs.done.Done()
		w.jobs.free()
		return nil, err
	}
	life, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	j := &Job{running: r, stop: stop, ended: make(chan struct{}), status: JobStatus{ID: id, Command: c, Started: time.Now()}}
	w.jobs.keep(j)
	go w.attend(life, j)
	return j, nil
}

// attend waits for the end of a job and tells of it.
func (w *Workspace) attend(ctx context.Context, j *Job) {
	defer w.jobs.done.Done()
	defer j.stop(nil)
	cause := j.running.wait(ctx)
	done, err := w.finish(ctx, j.running)
	done.Trouble = errors.Join(done.Trouble, err)
	w.jobs.free()
	status := j.end(done, errors.Is(cause, errKilled))
	if w.jobEnded != nil && !w.jobs.isClosed() {
		w.jobEnded(status)
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

// Status says how the job is doing now.
func (j *Job) Status() JobStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.status
}

// Output returns what the job has written from an offset on, at most most bytes of it: the first and the last of them when there
// is more. Size is the offset for the next time.
func (j *Job) Output(from int64, most int) Output { return j.running.collector.since(from, most) }

// Wait returns when the job has ended or ctx has, with the cause of ctx then.
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
	return j.status, nil // whoever counts as waiting learns of the end
}

// Kill asks all that the job has started to end, kills it after the grace of the command, and waits for that, or for ctx. A job
// that has ended stays as it is.
func (j *Job) Kill(ctx context.Context) (JobStatus, error) {
	j.stop(errKilled)
	return j.Wait(ctx)
}

// Jobs returns the jobs that are known, in the order in which they were started.
func (w *Workspace) Jobs() []*Job {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	return slices.Clone(w.jobs.list)
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

	repositories repositories
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

// keep makes a job known, and forgets those that ended longest ago.
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

// kill ends all of it without asking, and lets nothing more begin.
func (j *jobs) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.killed = true
	for r := range j.now {
		r.kill()
	}
}

// EndJobs ends all jobs and waits for them; none can be started then. What they changed has been told when it returns.
func (w *Workspace) EndJobs() { w.jobs.end() }

func (j *jobs) end() {
	j.mu.Lock()
	j.closed = true
	for _, job := range j.list {
		job.stop(errClosed)
	}
	j.mu.Unlock()
	j.done.Wait()
}
