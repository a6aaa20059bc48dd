package lsp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// process is a server that runs.
type process struct {
	cmd      *exec.Cmd
	in       *os.File      // the server reads what is written here
	out      *os.File      // closed by its reader
	complain tail          // the end of its standard error
	gone     chan struct{} // it ended, and its other files are closed
}

// start starts the program of a server in a directory, confined unless policy is nil. Nothing in the directory or elsewhere can be written but
// temporary files and caches.
func start(ctx context.Context, spec Spec, dir string, policy *sandbox.Policy, inherited []string) (*process, error) {
	path, err := exec.LookPath(spec.Command)
	if err != nil {
		return nil, err
	}
	var own []string
	if spec.Env != nil {
		if own, err = spec.Env(ctx); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(path, spec.Args...)
	cmd.Dir, cmd.SysProcAttr = dir, attributes()
	cmd.Env = append(sandbox.Environment(inherited, nil, nil), own...)
	var confined *sandbox.Confined
	if policy != nil {
		policy = policy.Narrow(nil)
		policy.Network, policy.Loopback, policy.Temp = sandbox.Network{}, nil, ""
		var names []string
		for _, v := range own {
			name, _, _ := strings.Cut(v, "=")
			names = append(names, name)
		}
		if target, err := filepath.EvalSymlinks(path); err == nil { // a program below home is seen with what lies next to it
			policy = policy.Show(filepath.Dir(path), packageOf(target))
		}
		if confined, err = policy.Pass(names...).Wrap(cmd); err != nil {
			return nil, err
		}
	}
	p := &process{cmd: cmd, gone: make(chan struct{})}
	var theirs []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	stdin, in := pipe()
	out, stdout := pipe()
	complaints, stderr := pipe()
	theirs, p.in, p.out = []*os.File{stdin, stdout, stderr}, in, out
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	started := make(chan error, 1)
	if err == nil {
		go p.live(confined, complaints, started)
		err = <-started
	} else if confined != nil {
		err = errors.Join(err, confined.Close())
	}
	for _, f := range theirs {
		f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{in, out, complaints} {
			f.Close()
		}
		return nil, err
	}
	return p, nil
}

// packageOf returns the directory of the package that a program belongs to: that of node_modules, or the directory of the program.
func packageOf(program string) string {
	const modules = string(filepath.Separator) + "node_modules" + string(filepath.Separator)
	if i := strings.LastIndex(program, modules); i >= 0 {
		return program[:i+len(modules)-1]
	}
	return filepath.Dir(program)
}

// live starts the process and waits for it on one thread, because the system ends a child with the thread that started it.
func (p *process) live(confined *sandbox.Confined, complaints *os.File, started chan<- error) {
	defer close(p.gone)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	run := (*exec.Cmd).Start
	if confined != nil {
		run = confined.Start
	}
	err := run(p.cmd)
	if err == nil {
		started <- nil
		var reader sync.WaitGroup
		reader.Go(func() { _, _ = io.Copy(&p.complain, complaints) })
		_ = p.cmd.Wait()
		killGroup(p.cmd.Process)
		p.in.Close()
		drain(p.out)
		drain(complaints)
		reader.Wait()
		complaints.Close()
	}
	if confined != nil {
		if refused := confined.Close(); refused != nil {
			if _, ok := errors.AsType[*sandbox.UnavailableError](refused); ok || err != nil {
				p.complain.set(refused)
			}
		}
	}
	if err != nil {
		started <- err
	}
}

// drain lets the reader of a pipe have what the process wrote before it ended. Another process that has the pipe open cannot delay that for long.
func drain(f *os.File) {
	if f.SetReadDeadline(time.Now().Add(time.Second)) != nil { // on Windows pipes have no deadlines
		f.Close()
	}
}

// kill ends the process with all that it started, and waits for that.
func (p *process) kill() {
	select {
	case <-p.gone:
		return
	default:
	}
	killGroup(p.cmd.Process)
	_ = p.cmd.Process.Kill()
	<-p.gone
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
	err  error
}

const maxTail = 2 << 10

// Write implements [io.Writer].
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, data[max(0, len(data)-maxTail):]...)
	t.text = append([]byte(nil), t.text[max(0, len(t.text)-maxTail):]...)
	return len(data), nil
}

func (t *tail) set(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

// explain adds to the cause of an end what the sandbox or the process itself said last.
func (t *tail) explain(cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	if last := oneLine(lines[len(lines)-1], maxMessage); last != "" {
		return fmt.Errorf("%w: %s", cause, last)
	}
	return cause
}

// installed reports whether the program of a server is on PATH, outside of a directory.
func installed(spec Spec, dir string) bool {
	path, err := exec.LookPath(spec.Command)
	return err == nil && filepath.IsAbs(path) && !paths.Inside(dir, path)
}

// wait waits for the end of the process or of ctx.
func (p *process) wait(ctx context.Context) bool {
	select {
	case <-p.gone:
		return true
	case <-ctx.Done():
		return false
	}
}
