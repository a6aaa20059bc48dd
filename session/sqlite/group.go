package sqlite

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// group is the appends that wait for the lane together. The first one that gets the lane commits them all.
type group struct {
	mu   sync.Mutex
	jobs []*job
	busy int // > 0: writers shared one of the last commits; the goroutine that has the turn uses it
}

// busyCommits is how many commits of one job it takes to call a store quiet.
const busyCommits = 8

// job is a change in a transaction that it may share with others. It may run more than once, and only the last run counts.
type job struct {
	f       func(*txn) error
	sync    bool // a sync follows, and the head is kept after it
	synced  bool // the commit has synced it
	err     error
	changed session.SessionID
	head    *head
	done    chan struct{} // closed when the rest is final
}

func (g *group) add(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.jobs = append(g.jobs, j)
}

// drop removes a job, unless it has started.
func (g *group) drop(j *job) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.jobs, j)
	if i >= 0 {
		g.jobs = slices.Delete(g.jobs, i, i+1)
	}
	return i >= 0
}

func (g *group) takeAll() []*job {
	g.mu.Lock()
	defer g.mu.Unlock()
	jobs := g.jobs
	g.jobs = nil
	return jobs
}

// share is write for small changes: changes that wait together share one transaction and one sync. Each succeeds or fails by itself.
func (s *committer) share(ctx context.Context, what string, sync bool, f func(*txn) error) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	j := &job{f: f, sync: sync, done: make(chan struct{})}
	s.group.add(j)
	select {
	case <-s.lane.turn:
		s.lead(ctx, j)
		s.lane.turn <- struct{}{}
	case <-j.done:
	case <-ctx.Done():
		if s.group.drop(j) {
			return ctx.Err()
		}
		<-j.done
	}
	return s.fail(what, s.settle(j))
}

// lead commits all waiting jobs, unless another goroutine has done j. The caller has the turn.
func (s *committer) lead(ctx context.Context, j *job) {
	select {
	case <-j.done:
		return
	default:
	}
	if s.group.busy > 0 {
		runtime.Gosched() // writers whose appends were just committed may join with their next ones
	}
	if err := s.begin(ctx, j.sync && s.group.busy <= 0); err != nil {
		s.group.drop(j)
		j.err = err
		return
	}
	jobs := s.group.takeAll()
	if s.group.busy--; len(jobs) > 1 {
		s.group.busy = busyCommits
	}
	if err := s.commit(jobs); err != nil {
		for _, one := range jobs {
			if one.err = err; len(jobs) > 1 {
				one.err = s.alone(ctx, one)
			}
		}
	}
	for _, one := range jobs {
		close(one.done)
	}
}

// alone does one job of a group that failed.
func (s *committer) alone(ctx context.Context, j *job) error {
	if err := s.begin(context.WithoutCancel(ctx), false); err != nil {
		return err
	}
	return s.commit([]*job{j})
}
