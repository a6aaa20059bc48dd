package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Command is a command line for the shell. The zero value of each field but Line is its default.
type Command struct {
	Line    string            // what the shell reads
	Dir     string            // where it runs, in the workspace; default: the root
	Env     []string          // "NAME=value", beyond the environment of this process
	Capture int               // bytes of output in memory; default 256 KiB
	Spill   int               // bytes of output from which all of it goes to a file too; default: Capture
	MaxFile int64             // bytes at which that file ends; default 64 MiB
	Grace   time.Duration     // between the request to end and the kill, after ctx ended; default 3 s
	Report  func(text []byte) // gets the output as it comes, from one goroutine; it must not keep the slice
}

// Finished is what came of a command.
type Finished struct {
	Output

	ExitCode   int    // -1 when a signal ended it
	Signal     string // the name of that signal
	Background bool   // it left processes running; Close ends them
	Lost       error  // why the file of the output is missing or short
}

// Run runs a command and waits for it. The shell is bash, or sh where there is no bash; on Windows PowerShell, or cmd where there
// is none. It runs in a session of its own: nothing to read, no terminal, no pager, no editor; what it writes goes to one pipe.
//
// When ctx ends, its whole process group is asked to end and, after the grace, killed; Run then returns what was captured and
// the cause of ctx. On Windows there is no asking. When the shell is gone but something in the background still holds the pipe,
// Run returns what was written so far; that process runs until Close on Unix, and is ended at once on Windows. A process that
// leaves the session of the shell is not followed.
//
// A command that fails is no error; it has an exit code.
func (w *Workspace) Run(ctx context.Context, c Command) (Finished, error) {
	if ctx.Err() != nil {
		return Finished{}, context.Cause(ctx)
	}
	dir, err := w.commandDir(c.Dir)
	if err != nil {
		return Finished{}, err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return Finished{}, fmt.Errorf("workspace: %w", err)
	}
	capture := cmp.Or(c.Capture, 256<<10)
	r := running{
		cmd:       shell(c.Line),
		reader:    reader,
		report:    c.Report,
		collector: newCollector(&w.outputs, capture, cmp.Or(c.Spill, capture), cmp.Or(c.MaxFile, 64<<20)),
		started:   make(chan error, 1),
		exited:    make(chan struct{}),
		read:      make(chan struct{}),
	}
	r.cmd.Dir = dir
	r.cmd.Env = environment(dir, c.Env)
	r.cmd.Stdout, r.cmd.Stderr = writer, writer
	go r.process()
	err = <-r.started
	writer.Close()
	if err != nil {
		reader.Close()
		return Finished{}, fmt.Errorf("workspace: the shell does not start: %w", err)
	}
	w.jobs.begin(&r)
	go r.collect()
	err = r.wait(ctx, cmp.Or(c.Grace, 3*time.Second))
	done := Finished{Output: r.collector.output(), Lost: r.collector.failure()}
	done.ExitCode, done.Signal = exitStatus(r.cmd.ProcessState)
	if err != nil {
		w.jobs.forget(&r)
		r.reader.Close()
		return done, err // what was killed may take a moment to be gone
	}
	done.Background = w.jobs.add(&r)
	return done, nil
}

func (w *Workspace) commandDir(name string) (string, error) {
	p, err := w.place(cmp.Or(name, "."))
	if err != nil {
		return "", err
	}
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return "", w.tell(name, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", name)
	}
	return p.abs, nil
}

// running is a command that was started. Two goroutines serve it: process starts it and waits for it, collect reads its output.
type running struct {
	cmd       *exec.Cmd
	group     group
	reader    *os.File
	eof       bool // all writers are gone; set before read is closed
	report    func([]byte)
	collector *collector

	started chan error
	exited  chan struct{}
	read    chan struct{}
}

// process starts the command and waits for it on one thread: where the system kills a child when its parent dies, the parent is
// the thread that started it.
func (r *running) process() {
	defer close(r.exited)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.cmd.SysProcAttr = attributes()
	err := r.cmd.Start()
	if err == nil {
		r.group = newGroup(r.cmd.Process)
	}
	r.started <- err
	if err == nil {
		_ = r.cmd.Wait() // ProcessState says it all
	}
}

// collect reads until all writers are gone or, after interrupt, until the pipe is empty.
func (r *running) collect() {
	defer close(r.read)
	buf := make([]byte, 32<<10)
	for {
		n, err := r.reader.Read(buf)
		r.take(buf[:n])
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			r.eof = drain(r.reader, buf, r.take)
			return
		case err != nil:
			r.eof = errors.Is(err, io.EOF)
			return
		}
	}
}

func (r *running) take(data []byte) {
	if len(data) == 0 {
		return
	}
	r.collector.write(data)
	if r.report != nil {
		r.report(data)
	}
}

// wait returns when the command is done, or ended because ctx did, and its output is collected.
func (r *running) wait(ctx context.Context, grace time.Duration) error {
	select {
	case <-r.exited:
		r.group.leaderGone()
		interrupt(r.reader)
		<-r.read
		return nil
	case <-ctx.Done():
	}
	r.group.terminate()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	exited, read := r.exited, r.read
	for exited != nil || read != nil {
		select {
		case <-exited:
			exited = nil
		case <-read:
			read = nil // and no process of the group can tell any more
		case <-timer.C:
			r.group.kill()
			<-r.exited
			exited, read = nil, nil
		}
	}
	r.group.kill()
	interrupt(r.reader)
	<-r.read
	return context.Cause(ctx)
}

// jobs is the commands that run, and what others left running.
type jobs struct {
	mu   sync.Mutex
	now  []*running
	list []*running
	done sync.WaitGroup
}

// begin notes a command that was started, until add or forget.
func (j *jobs) begin(r *running) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = append(j.now, r)
}

func (j *jobs) forget(r *running) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = slices.DeleteFunc(j.now, func(other *running) bool { return other == r })
}

// kill ends all of it without asking.
func (j *jobs) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.prune()
	for _, r := range slices.Concat(j.now, j.list) {
		r.group.kill()
	}
}

// add keeps a command whose group lives on, and reports whether it does. Its further output goes nowhere: a closed pipe would
// end it. Otherwise the pipe is closed.
func (j *jobs) add(r *running) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = slices.DeleteFunc(j.now, func(other *running) bool { return other == r })
	j.prune()
	if !r.group.alive() {
		r.reader.Close()
		return false
	}
	r.collector, r.report = nil, nil
	j.list = append(j.list, r)
	j.done.Go(func() {
		_, _ = io.Copy(io.Discard, r.reader)
		r.reader.Close()
	})
	return true
}

// prune forgets groups that have ended, so that their numbers are never used for others.
func (j *jobs) prune() {
	kept := j.list[:0]
	for _, r := range j.list {
		if r.group.alive() {
			kept = append(kept, r)
		}
	}
	clear(j.list[len(kept):])
	j.list = kept
}

func (j *jobs) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.prune()
	for _, r := range j.list {
		r.group.kill()
		interrupt(r.reader)
	}
	j.list = nil
	j.done.Wait()
}

// environment is that of this process, without what would wait for a person.
func environment(dir string, more []string) []string {
	env := append(os.Environ(),
		"PWD="+dir,
		"TERM=dumb", "NO_COLOR=1",
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
		"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_MERGE_AUTOEDIT=no",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive",
	)
	return append(env, more...)
}

// shellPath is the first of the names that is installed, and the last otherwise.
func shellPath(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	return names[len(names)-1]
}
