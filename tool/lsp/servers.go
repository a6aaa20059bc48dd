package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Options of [New].
type Options struct {
	Root    string // of the project: absolute, with its links resolved
	Servers []Spec // the first one that handles a file is used for it

	// Sandbox returns the policy for a server that starts. Nil, or if it returns nil: servers run as this process does. Its error stops the
	// start. A server gets no network and writes only temporary files and caches, whatever the policy allows to commands.
	Sandbox func() (*sandbox.Policy, error)

	Env    []string      // the environment, from which servers get what [sandbox.Environment] lets pass; default: that of this process
	Idle   time.Duration // after which a server without use is ended; default 10 minutes
	Memory int64         // bytes of memory of a server with its processes, on Linux, from which it is ended; default 4 GiB
	Check  time.Duration // between looks at idle time and memory; default 15 seconds

	Limit *Limit // of the servers of several directories; nil: none

	// First and Warm limit the wait for the problems of an edit: of a server that has answered no edit yet, and of another. Default 8 and 3
	// seconds. Answer limits the wait for the answer to another request. Default 20 seconds.
	First, Warm, Answer time.Duration
}

// Servers are the language servers of a directory, for all sessions that work there. It is safe for concurrent use.
type Servers struct {
	o     Options
	ctx   context.Context
	end   context.CancelFunc
	owned sync.WaitGroup

	mu    sync.Mutex
	slots map[string]*slot // by name
}

// slot is the place of one server, whether it runs or not.
type slot struct {
	spec     Spec
	starting chan struct{} // closed when the start has succeeded or failed; nil: none is on
	running  *server
	failures int       // in a row
	until    time.Time // no start before
	err      error     // of the last failure
	told     bool      // an edit has reported it
}

// New returns the servers of a directory. None of them runs. The caller closes them.
func New(o Options) *Servers {
	o.Idle, o.Memory, o.Check = cmp.Or(o.Idle, 10*time.Minute), cmp.Or(o.Memory, 4<<30), cmp.Or(o.Check, 15*time.Second)
	o.First, o.Warm, o.Answer = cmp.Or(o.First, 8*time.Second), cmp.Or(o.Warm, 3*time.Second), cmp.Or(o.Answer, 20*time.Second)
	if o.Env == nil {
		o.Env = os.Environ()
	}
	m := &Servers{o: o, slots: map[string]*slot{}}
	m.ctx, m.end = context.WithCancel(context.Background())
	return m
}

// Close ends all servers and waits for that.
func (m *Servers) Close() error {
	m.end()
	m.Restart()
	m.owned.Wait()
	return nil
}

// Restart ends the servers that run. They start again when they are needed, under the policy of that moment.
func (m *Servers) Restart() {
	for _, s := range m.running() {
		s.conn.fail(errStopped)
	}
}

func (m *Servers) running() (all []*server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.slots {
		if at.running != nil {
			all = append(all, at.running)
		}
	}
	return all
}

// State is what a server does now.
type State string

// The states of a server.
const (
	Starting State = "starting"
	Ready    State = "ready"
	Unloaded State = "unloaded" // it was not used for a while, and starts again when it is needed
	Waiting  State = "waiting"  // it failed, and starts again at the next use after Status.Next
	Off      State = "off"      // it failed too often
)

// Status is the state of a server.
type Status struct {
	Name     string
	State    State
	PID      int // 0: it does not run
	Failures int // in a row
	Next     time.Time
	Err      error // of the last start or run; nil: it did not fail
}

// Status returns the servers that were used, by name. The others have not started.
func (m *Servers) Status() (all []Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, s := range m.slots {
		one := Status{Name: name, State: Unloaded, Failures: s.failures, Err: s.err}
		switch {
		case s.starting != nil:
			one.State = Starting
		case s.running != nil && s.running.conn.cause() == nil:
			one.State, one.PID = Ready, s.running.proc.cmd.Process.Pid
		case s.failures >= maxFailures:
			one.State = Off
		case s.err != nil:
			one.State, one.Next = Waiting, s.until
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// specOf returns the server for a file.
func (m *Servers) specOf(name string) (Spec, bool) {
	if rel, err := filepath.Rel(m.o.Root, name); err != nil || !filepath.IsLocal(rel) {
		return Spec{}, false
	}
	i := slices.IndexFunc(m.o.Servers, func(s Spec) bool { return s.handles(name) })
	if i < 0 {
		return Spec{}, false
	}
	return m.o.Servers[i], true
}

// Warm starts the server for a file, if there is one, waits for it, and opens the file there. So the first edit gets its answer sooner. It
// returns early if ctx ends.
func (m *Servers) Warm(ctx context.Context, from reader, name string) {
	spec, ok := m.specOf(name)
	if !ok || !installed(spec, m.o.Root) {
		return
	}
	if s, err := m.server(ctx, spec); err == nil {
		s.open(from, name)
	}
}

// server returns a running server, and starts it if need be.
func (m *Servers) server(ctx context.Context, spec Spec) (*server, error) {
	for {
		m.mu.Lock()
		at := m.slots[spec.Name]
		if at == nil {
			at = &slot{spec: spec}
			m.slots[spec.Name] = at
		}
		if at.running != nil && at.running.conn.cause() == nil {
			defer m.mu.Unlock()
			return at.running, nil
		}
		wait := time.Until(at.until)
		switch {
		case m.ctx.Err() != nil:
			defer m.mu.Unlock()
			return nil, errStopped
		case at.running != nil: // it is ending
			over := at.running.over
			m.mu.Unlock()
			select {
			case <-over:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			continue
		case at.starting == nil && at.failures >= maxFailures:
			defer m.mu.Unlock()
			return nil, failure(spec, at.err, "it failed too often and is off for this session")
		case at.starting == nil && wait > 0:
			defer m.mu.Unlock()
			return nil, failure(spec, at.err, fmt.Sprintf("the next start is possible in %s", wait.Round(time.Second)+time.Second))
		case at.starting == nil:
			at.starting = make(chan struct{})
			m.owned.Go(func() { m.begin(at) })
		}
		starting := at.starting
		m.mu.Unlock()
		select {
		case <-starting:
			m.mu.Lock()
			err, runs := at.err, at.running != nil
			m.mu.Unlock()
			if !runs && err != nil {
				return nil, failure(spec, err, "")
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("%s is still starting", spec.Name)
		}
	}
}

func failure(spec Spec, err error, more string) error {
	text := fmt.Sprintf("%s does not run: %v", spec.Name, err)
	if errors.Is(err, errStopped) {
		text = spec.Name + " was stopped"
	}
	if more != "" {
		text += "; " + more
	}
	return tool.Codef("lsp.unavailable", "%s", text)
}

// The back-off after failures in a row.
const (
	maxFailures  = 6
	firstBackOff = time.Second
	startTime    = 60 * time.Second // limit of an initialization
	steady       = 5 * time.Minute  // after which a server that fails counts as one that did not
)

// begin starts a server and watches it until it ends.
func (m *Servers) begin(at *slot) {
	var policy *sandbox.Policy
	var err error
	if m.o.Sandbox != nil {
		policy, err = m.o.Sandbox()
	}
	var s *server
	var p *process
	ctx, cancel := context.WithTimeout(m.ctx, startTime)
	defer cancel()
	if err == nil {
		if err = m.o.Limit.take(ctx); err == nil {
			if p, err = start(ctx, at.spec, m.o.Root, policy, m.o.Env); err == nil {
				s, err = connect(ctx, at.spec, m.o.Root, p)
			}
			if err == nil {
				m.o.Limit.enter(s)
			} else {
				m.o.Limit.leave(nil)
			}
		}
	}
	m.mu.Lock()
	at.running, at.err = s, err
	close(at.starting)
	at.starting = nil
	switch {
	case errors.Is(err, errFull):
		at.until = time.Now().Add(m.o.Check)
	case err != nil:
		at.failed()
	}
	m.mu.Unlock()
	if err == nil {
		m.watch(at, s)
	}
}

// failed notes a failure. m.mu is held.
func (s *slot) failed() {
	s.until = time.Now().Add(firstBackOff << s.failures)
	s.failures++
	s.told = false
}

// watch ends a server that is idle, too large or broken, or when all servers end.
func (m *Servers) watch(at *slot, s *server) {
	began := time.Now()
	defer close(s.over)
	tick := time.NewTicker(m.o.Check)
	defer tick.Stop()
	cause := error(nil)
	for cause == nil {
		select {
		case <-m.ctx.Done():
			cause = errStopped
		case <-s.proc.gone:
			s.loops.Wait()
			cause = cmp.Or(s.conn.cause(), errors.New("the server ended"))
		case <-s.conn.closed:
			cause = s.conn.cause()
		case <-tick.C:
			if time.Since(s.lastUse()) > m.o.Idle {
				cause = errStopped
			} else if used := memoryOf(s.proc.cmd.Process.Pid); used > m.o.Memory {
				cause = fmt.Errorf("it used %d MiB of memory, and the limit lsp.memory is %d MiB", used>>20, m.o.Memory>>20)
			}
		}
	}
	if s.conn.cause() == nil && errors.Is(cause, errStopped) {
		s.stop()
	} else {
		s.conn.fail(cause)
		s.kill()
	}
	m.o.Limit.leave(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	if errors.Is(cause, errStopped) {
		at.err, at.failures = nil, 0
	} else {
		if time.Since(began) > steady {
			at.failures = 0
		}
		at.err = s.proc.complain.explain(cause)
		at.failed()
	}
	if at.running == s {
		at.running = nil
	}
}
