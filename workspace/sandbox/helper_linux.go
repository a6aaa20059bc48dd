package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	helperName = "tenon-sandbox" // its first argument
	helperMark = "TENON_SANDBOX_HELPER"
	notRun     = 126 // exit code of a helper that could not put up the walls
)

// Main must be called first in main, and in TestMain of tests that run commands. In a process that was started as the helper it confines
// itself, runs the command, and never returns; in any other process it returns at once. To start a program under the helper's name gains
// nothing: the helper has no rights of its own and only drops some.
func Main() {
	n := len(os.Args)
	started := n == 2 && os.Args[0] == helperName
	borrowed := n == 3 && os.Args[1] == helperName && strings.HasPrefix(os.Args[0], "/proc/self/fd/") // bubblewrap knows no other first argument
	if !started && !borrowed {
		return
	}
	if started && os.Args[1] == keeperName {
		unix.Exit(keep(3))
	}
	runtime.LockOSThread()        // what confines does so by thread, and the command is started by this one
	unix.Exit(help(os.Args[n-1])) // unlike os.Exit it does not wait for the race detector, a second in each helper
}

// wallError says which wall could not be put up.
type wallError struct {
	wall string
	err  error
}

func (e *wallError) Error() string { return e.wall + ": " + e.err.Error() }

func wall(name string, err error) error {
	if err == nil {
		return nil
	}
	return &wallError{name, err}
}

// help runs the command behind the walls and returns its exit code.
func help(number string) int {
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		return fail(nil, wall("the policy", fmt.Errorf("%q is no file", number)))
	}
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fail(nil, wall("files of this process", err))
	}
	l, s, err := read(fd)
	if err != nil {
		return fail(nil, wall("the policy", err))
	}
	// If memory runs out, the kernel is to end a command before the programs of the person. This comes
	// before the next step, after which the files of this process in /proc belong to root.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	// No process inside may look into this one, which has more rights.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fail(l, wall("helper", err))
	}
	// A signal to the group is for the command; this process ends with it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGTSTP, unix.SIGUSR1, unix.SIGUSR2)
	if s.Bubblewrap != "" {
		if err := s.verify(); err != nil {
			return fail(l, wall("bubblewrap", err))
		}
		l.answer(answer{Inside: true})
	}
	if s.Group {
		_, _ = unix.Write(fd+2, []byte("0")) // some machines refuse even that; then the limits of each process remain
	}
	spare()
	pid, err := s.start(fd + 1)
	if err != nil {
		return fail(l, err)
	}
	if pid == 0 {
		return 0
	}
	go follow(fd + 1)
	return s.wait(pid, l)
}

// start puts up the walls, nearest last, and starts the command behind them.
func (s *spec) start(control int) (pid int, err error) {
	if s.Level == Namespaces {
		if s.Bubblewrap == "" {
			if err := s.mounts(); err != nil {
				return 0, err
			}
		}
		if err := s.network(control); err != nil {
			return 0, err
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, wall("processes", err)
	}
	if err := os.Chdir(s.Dir); err != nil {
		return 0, wall("working directory", err)
	}
	if err := s.Limits.set(); err != nil {
		return 0, wall("limits", err)
	}
	if err := dropPrivileges(); err != nil {
		return 0, wall("privileges", err)
	}
	if err := s.landlock(); err != nil {
		return 0, wall("Landlock", err)
	}
	if err := s.seccomp(); err != nil {
		return 0, wall("seccomp", err)
	}
	if len(s.Args) == 0 {
		return 0, nil // it was a trial
	}
	files := []uintptr{0, 1, 2}
	for i := range s.Extra {
		files = append(files, uintptr(3+i))
	}
	attr := &syscall.ProcAttr{Env: s.Env, Files: files}
	if s.Level != Namespaces {
		attr.Sys = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	pid, err = syscall.ForkExec(s.Path, s.Args, attr)
	if err != nil {
		return 0, wall("", &os.PathError{Op: "exec", Path: s.Path, Err: err})
	}
	return pid, nil
}

// follow ends this process, and with it all others inside, when the one that started it is gone.
func follow(control int) {
	buf := make([]byte, 1)
	for {
		if n, err := unix.Read(control, buf); n <= 0 && !errors.Is(err, unix.EINTR) {
			unix.Exit(notRun)
		}
	}
}

// wait reaps whatever ends, until the command does.
func (s *spec) wait(pid int, l *letter) int {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fail(l, wall("processes", err))
		case got != pid:
			continue
		}
		code, t := status.ExitStatus(), answer{Left: !settle(), Inside: s.Bubblewrap != ""}
		if s.Level != Namespaces {
			sweep()
		}
		if status.Signaled() {
			t.Signal = int(status.Signal())
			code = 128 + t.Signal
		}
		if t != (answer{}) {
			l.answer(t)
		}
		return code
	}
}

// settling is how long what a command left behind may take to end by itself.
const settling = 200 * time.Millisecond

// settle waits for what still has something to write, such as the tee of a process substitution, and reports whether nothing is left.
func settle() bool {
	if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); errors.Is(err, unix.ECHILD) {
		return true
	}
	alone := make(chan struct{})
	go func() {
		defer close(alone)
		for {
			if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
		}
	}()
	select {
	case <-alone:
		return true
	case <-time.After(settling):
		return false // they end with this process
	}
}

// fail reports the reason why the command did not run.
func fail(l *letter, err error) int {
	t := answer{Why: err.Error()}
	if e, ok := errors.AsType[*wallError](err); ok {
		t = answer{Wall: e.wall, Why: e.err.Error()}
	}
	if t.Wall == "" {
		fmt.Fprintln(os.Stderr, t.Why)
		if l != nil {
			l.answer(t)
		}
		if errors.Is(err, os.ErrNotExist) {
			return 127
		}
		return notRun
	}
	fmt.Fprintf(os.Stderr, "the sandbox could not be put up: %v\n", err)
	if l != nil {
		l.answer(t)
	}
	return notRun
}

// sweep kills what is left of the command: its processes become children of this one as their parents end.
func sweep() {
	for range 1000 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
		if err != nil || len(text) == 0 {
			return
		}
		var pid int
		for _, c := range append(text, ' ') {
			if c != ' ' {
				pid = pid*10 + int(c-'0')
				continue
			}
			if pid > 0 {
				_ = unix.Kill(pid, unix.SIGKILL)
				_, _ = unix.Wait4(pid, nil, 0, nil)
			}
			pid = 0
		}
	}
}

// set bounds this process and what it starts.
func (l Limits) set() error {
	bounds := []struct {
		what int
		most int64
	}{
		{unix.RLIMIT_CORE, 1}, // which, unlike 0, also keeps a program of the machine from being fed with it
		{unix.RLIMIT_NPROC, int64(l.Processes)},
		{unix.RLIMIT_DATA, l.Memory},
		{unix.RLIMIT_FSIZE, l.FileSize},
		{unix.RLIMIT_NOFILE, int64(l.Files)},
	}
	for _, b := range bounds {
		if b.most == 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(b.what, &now); err != nil {
			return err
		}
		most := min(uint64(b.most), now.Max)
		if err := unix.Setrlimit(b.what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}
