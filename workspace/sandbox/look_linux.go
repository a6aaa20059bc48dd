package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Look finds out what this machine can do, by trying it: it starts the helper once. Nothing is kept. It takes some
// milliseconds, or up to five seconds on a machine that does not answer. Where that is refused namespaces, it tries bubblewrap.
// The program must call [Main].
func Look() Report {
	var name unix.Utsname
	r := Report{System: "linux", Landlock: landlockVersion(), Groups: lookGroups()}
	if unix.Uname(&name) == nil {
		r.System += " " + unix.ByteSliceToString(name.Release[:])
	}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	r.Seccomp = err == nil && mode >= 0
	err = probe(Report{Namespaces: true, Seccomp: true})
	if r.Namespaces = err == nil; err != nil {
		r.Trouble = err.Error()
		r.borrow()
	}
	return r
}

// borrow finds out whether bubblewrap can do for us what we may not.
func (r *Report) borrow() {
	path, err := findBubblewrap(bubblewrapPlaces())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.Bubblewrap = err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{}
	out, _ := cmd.Output()
	version, _, _ := strings.Cut(strings.TrimPrefix(string(out), "bubblewrap "), "\n")
	r.Bubblewrap = strings.TrimSpace(path + " " + version)
	if err := probe(Report{Namespaces: true, Borrowed: true, Seccomp: true}); err != nil {
		r.Bubblewrap += ", which does not work: " + err.Error()
		return
	}
	r.Namespaces, r.Borrowed = true, true
}

// probe runs a command that does nothing behind all walls of such a machine.
func probe(r Report) error {
	if os.Getenv(helperMark) != "" {
		return errors.New("this program was started as the sandbox's helper and did not call sandbox.Main first")
	}
	p := &Policy{}
	p.once.Do(func() { p.machine = r })
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args, cmd.Env, cmd.Dir = nil, []string{}, "/" // the helper itself is enough
	c, err := p.Wrap(cmd)
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stderr = &said
	err = cmd.Run()
	closed := c.Close()
	if text := strings.TrimSpace(said.String()); text != "" && closed != nil && r.Borrowed {
		return fmt.Errorf("%w: %.1000s", closed, text)
	}
	return cmp.Or(closed, err)
}
