package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// The patience with a server that is to end.
const (
	closeGrace = time.Second // after the end of its input
	termGrace  = time.Second // after the request to end
)

// process is a server on this machine: its output is read and its input written. Close ends it with all that it started.
type process struct {
	cmd     *exec.Cmd
	in, out *os.File
	noise   *os.File // its standard error
	exited  chan struct{}
	logged  chan struct{}
	done    func() error // releases the sandbox; may be nil
	log     *journal
	once    sync.Once
}

// start starts a server. confine may be nil.
func start(cmd *exec.Cmd, confine func(*exec.Cmd) (start func(*exec.Cmd) error, done func() error, err error), log *journal) (_ *process, err error) {
	cmd.SysProcAttr = attributes()
	p := &process{cmd: cmd, exited: make(chan struct{}), logged: make(chan struct{}), log: log}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		if err != nil {
			for _, f := range []*os.File{p.in, p.out} {
				if f != nil {
					f.Close()
				}
			}
			if p.done != nil {
				err = errors.Join(err, p.done())
			}
		}
	}()
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.in, theirs = in, append(theirs, stdin)
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.out, theirs = out, append(theirs, stdout)
	noise, stderr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs = append(theirs, stderr)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	begin := (*exec.Cmd).Start
	if confine != nil {
		if begin, p.done, err = confine(cmd); err != nil {
			noise.Close()
			return nil, err
		}
	}
	started := make(chan error, 1)
	go p.live(begin, started)
	if err := <-started; err != nil {
		noise.Close()
		return nil, err
	}
	p.noise = noise
	go p.listen(noise)
	return p, nil
}

// live starts the process and waits for it, on one thread: the system ends the process with the thread that started it.
func (p *process) live(begin func(*exec.Cmd) error, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := begin(p.cmd)
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the state says it
	p.log.add("ended: %v", p.cmd.ProcessState)
	close(p.exited)
}

// listen writes what the server says to its log, until all of it has ended. It reads on when the log is full.
func (p *process) listen(noise *os.File) {
	defer close(p.logged)
	defer noise.Close()
	in := bufio.NewReaderSize(noise, maxLogLine)
	written := 0
	for {
		line, _, err := in.ReadLine()
		if err != nil {
			return
		}
		if written += len(line); written <= maxLog {
			p.log.add("stderr: %s", line)
		}
	}
}

func (p *process) Read(b []byte) (int, error) { return p.out.Read(b) }

func (p *process) Write(b []byte) (int, error) { return p.in.Write(b) }

// Close ends the input, asks the processes to end, and kills them. It takes at most some seconds.
func (p *process) Close() error {
	var err error
	p.once.Do(func() {
		_ = p.in.Close()
		if !p.ends(closeGrace) {
			terminate(p.cmd.Process)
			p.ends(termGrace)
		}
		kill(p.cmd.Process) // also those that the server left
		<-p.exited
		_ = p.out.Close()
		_ = p.noise.SetReadDeadline(time.Now().Add(termGrace / 10)) // a process that left the group can hold the pipe
		<-p.logged
		if p.done != nil {
			err = p.done()
		}
	})
	if err != nil {
		return fmt.Errorf("cannot release the sandbox of an MCP server: %w", err)
	}
	return nil
}

func (p *process) ends(within time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(within):
		return false
	}
}
