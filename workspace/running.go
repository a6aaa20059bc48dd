package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// settling is how long what a command left behind may take to end by itself, such as the tee of a process substitution, when it
// still holds the output.
const settling = 500 * time.Millisecond

// running is a command that was started. Two goroutines serve it: process starts it and waits for it, collect reads its output.
type running struct {
	cmd       *exec.Cmd
	family    family
	guard     *guard            // nil when the system sees to the end of the family
	confined  *sandbox.Confined // nil: it is not
	grace     time.Duration
	reader    *os.File
	report    func([]byte)
	collector *collector
	out       io.WriteCloser                          // removes secrets, and passes the output to collector and report; nil: there is nothing to remove
	tracked   func(context.Context) ([]string, error) // reports its changes
	note      string                                  // the changes that cannot be followed
	disarmed  func(context.Context) ([]sandbox.Blocked, error)

	started chan error
	ended   chan struct{} // the shell has, but is still known to the system by its number
	release chan struct{} // the number is not needed any more
	exited  chan struct{}
	read    chan struct{}
	left    bool // something lived longer than the shell; set when wait has returned

	mu     sync.Mutex
	runs   bool // family is known
	doomed bool // it is to be killed as soon as it runs
	over   bool // nothing of it runs, and its number may be that of another
}

func newRunning(cmd *exec.Cmd, c Command, collector *collector, clean func(io.Writer) io.WriteCloser) *running {
	r := &running{
		cmd:       cmd,
		grace:     cmp.Or(c.Grace, 3*time.Second),
		report:    c.Report,
		collector: collector,
		started:   make(chan error, 1),
		ended:     make(chan struct{}),
		release:   make(chan struct{}),
		exited:    make(chan struct{}),
		read:      make(chan struct{}),
	}
	if c.Input != nil {
		cmd.Stdin, cmd.WaitDelay = bytes.NewReader(c.Input), settling
	}
	if c.Errors != nil {
		cmd.Stderr, cmd.WaitDelay = c.Errors, settling
	}
	if clean != nil {
		r.out = clean(taker(r.take))
	}
	return r
}

// taker is a function that takes output.
type taker func([]byte)

// Write implements [io.Writer].
func (t taker) Write(data []byte) (int, error) {
	t(data)
	return len(data), nil
}

func (r *running) start(mark string, contained bool) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	r.reader = reader
	r.cmd.Stdout = writer
	if r.cmd.Stderr == nil {
		r.cmd.Stderr = writer
	}
	go r.process(mark, contained)
	err = <-r.started
	writer.Close()
	if err != nil {
		reader.Close()
		return err
	}
	go r.collect()
	return nil
}

// process starts the command and waits for it on one thread: where the system kills a child when its parent dies, the parent is
// the thread that started it.
func (r *running) process(mark string, contained bool) {
	defer close(r.exited)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := (*exec.Cmd).Start
	if r.confined != nil {
		start = r.confined.Start
	}
	err := start(r.cmd)
	if err == nil {
		r.guard.watch(r.cmd.Process.Pid)
		r.born(newFamily(r.cmd.Process, mark, contained))
	}
	r.started <- err
	if err != nil {
		return
	}
	if awaitEnd(r.cmd.Process) {
		close(r.ended)
		<-r.release
		_ = r.cmd.Wait() // ProcessState says it all
		return
	}
	_ = r.cmd.Wait()
	close(r.ended)
	<-r.release
}

func (r *running) born(f family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.family, r.runs = f, true
	if r.doomed {
		r.family.kill()
	}
}

// collect reads until all writers are gone or, after interrupt, until the pipe is empty.
func (r *running) collect() {
	defer close(r.read)
	take := r.take
	if r.out != nil {
		take = func(data []byte) { _, _ = r.out.Write(data) }
		defer r.out.Close()
	}
	buf := make([]byte, 32<<10)
	for {
		n, err := r.reader.Read(buf)
		take(buf[:n])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			drain(r.reader, buf, take)
			return
		case err != nil:
			return
		}
	}
}

func (r *running) take(data []byte) {
	if len(data) == 0 {
		return
	}
	_, _ = r.collector.Write(data)
	if r.report != nil {
		r.report(data)
	}
}

// wait returns when the command is done, or ended because ctx did; nothing of it runs then, and its output is collected.
func (r *running) wait(ctx context.Context) error {
	var err error
	select {
	case <-r.ended:
		r.settle(ctx)
		r.left = r.kill()
	case <-ctx.Done():
		err = context.Cause(ctx)
		r.end()
	}
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.guard.forget(r.cmd.Process.Pid)
	close(r.release)
	<-r.exited
	r.family.close()
	interrupt(r.reader)
	<-r.read
	r.reader.Close()
	return err
}

// settle waits for the end of the output, but not long.
func (r *running) settle(ctx context.Context) {
	timer := time.NewTimer(settling)
	defer timer.Stop()
	select {
	case <-r.read:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// kill ends all of it without asking, and reports whether there was anything but the shell. It may be called at any time, also before
// the start.
func (r *running) kill() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.runs {
		r.doomed = true
		return false
	}
	return !r.over && r.family.kill()
}

// end asks the command to end, and kills what of it does not within the grace.
func (r *running) end() {
	r.family.terminate()
	timer := time.NewTimer(r.grace)
	defer timer.Stop()
	ended, read := r.ended, r.read
	for ended != nil || read != nil {
		select {
		case <-ended:
			ended = nil
			r.family.terminateRest()
		case <-read:
			read = nil // and no process of the family can tell any more
		case <-timer.C:
			r.kill()
			<-r.ended
			ended, read = nil, nil
		}
	}
	r.kill()
}

// unwrap takes the walls away, after the command.
func (r *running) unwrap() error {
	if r.confined == nil {
		return nil
	}
	return r.confined.Close()
}
