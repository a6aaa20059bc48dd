package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Look finds out what this machine can do, by trying it: it starts the helper once. Nothing is kept. It takes some
// milliseconds, or up to five seconds on a machine that does not answer. The program must call [Main].
func Look() Report {
	var name unix.Utsname
	r := Report{System: "linux", Landlock: landlockVersion()}
	if unix.Uname(&name) == nil {
		r.System += " " + unix.ByteSliceToString(name.Release[:])
	}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	r.Seccomp = err == nil && mode >= 0
	if err := probe(); err != nil {
		r.Trouble = err.Error()
	} else {
		r.Namespaces = true
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if path, err := exec.LookPath("bwrap"); err == nil {
		out, _ := exec.CommandContext(ctx, path, "--version").Output()
		r.Bubblewrap = strings.TrimSpace(path + " " + strings.TrimPrefix(string(out), "bubblewrap "))
	}
	return r
}

// probe runs a command that does nothing behind all walls.
func probe() error {
	if os.Getenv(helperMark) != "" {
		return errors.New("this program was started as the sandbox's helper and did not call sandbox.Main first")
	}
	p := &Policy{}
	p.once.Do(func() { p.machine = Report{Namespaces: true, Seccomp: true} })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = nil, []string{}, "/" // the helper itself is enough
	c, err := p.Wrap(cmd)
	if err != nil {
		return err
	}
	err = cmd.Run()
	if closed := c.Close(); closed != nil {
		return closed
	}
	return err
}
