//go:build unix

package workspace_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// escapes are ways in which a process may try to live longer than its command. Each writes the number of that process to a pipe named
// pid.
var escapes = map[string]string{
	"in the background":                `sh -c 'echo $$ >pid; exec sleep 1000' &`,
	"in the background, quietly":       `sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 &`,
	"writing in the background":        `sh -c 'echo $$ >pid; while :; do echo noise; done' &`,
	"deaf":                             `(trap '' TERM HUP INT; sh -c 'echo $$ >pid; exec sleep 1000') >/dev/null 2>&1 &`,
	"nohup":                            `nohup sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 &`,
	"a group of its own":               `set -m; sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 &`,
	"a group and an environment":       `set -m; env -i sh -c 'echo $$ >pid; exec /bin/sleep 1000' >/dev/null 2>&1 &`,
	"a session of its own":             `setsid sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 &`,
	"a session, holding the output":    `setsid sh -c 'echo $$ >pid; exec sleep 1000' &`,
	"a double fork":                    `(setsid sh -c 'sh -c "echo \$\$ >pid; exec sleep 1000" &' >/dev/null 2>&1 &)`,
	"a double fork, all of it renamed": `(setsid bash -c 'exec -a kthreadd bash -c "echo \$\$ >pid; while :; do sleep 1000; done" &' >/dev/null 2>&1 &)`,
}

// linuxOnly are those that need /proc, or setsid.
func possible(name string) bool {
	return runtime.GOOS == "linux" || !strings.Contains(name, "session") && !strings.Contains(name, "fork") && !strings.Contains(name, "group")
}

// confinements are the ways in which commands run.
func confinements(t *testing.T, dir string) map[string]*sandbox.Policy {
	ways := map[string]*sandbox.Policy{"unconfined": nil}
	if sandbox.Look().Level() == sandbox.Namespaces {
		ways["confined"] = &sandbox.Policy{Writable: []string{dir}}
	}
	return ways
}

func openConfined(t testing.TB, dir string, p *sandbox.Policy) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(dir, workspace.Options{Sandbox: p})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// sleepers returns the processes that hold a directory as their working directory, as the system knows them: their numbers
// in a namespace say nothing.
func inside(t testing.TB, dir string) (pids []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == dir {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// empty waits until no process is in a directory any more.
func empty(t testing.TB, dir string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(inside(t, dir)) > 0; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("processes %v still run", inside(t, dir))
		}
	}
}

func TestNothingOutlivesItsCommand(t *testing.T) {
	for name, line := range escapes {
		if !possible(name) {
			continue
		}
		dir := t.TempDir()
		for way, policy := range confinements(t, dir) {
			t.Run(name+", "+way, func(t *testing.T) {
				w := openConfined(t, dir, policy)
				// The shell ends when the other one lives.
				done := run(t, w, "rm -f pid; mkfifo pid; "+line+"\nread -r pid <pid; echo $pid ready")
				pid, err := strconv.Atoi(strings.Fields(done.Head + done.Tail + " none")[0])
				if name != "writing in the background" && (err != nil || pid == 0) {
					t.Fatalf("%+v", done)
				}
				if policy == nil {
					if name != "writing in the background" {
						gone(t, pid)
					}
				}
				if !done.Left {
					t.Error("it does not say that something was left")
				}
				if runtime.GOOS == "linux" {
					empty(t, w.Dir())
				}
			})
		}
	}
}

func TestCancelEndsThoseWhoLeft(t *testing.T) {
	for name, line := range escapes {
		if !possible(name) {
			continue
		}
		dir := t.TempDir()
		for way, policy := range confinements(t, dir) {
			t.Run(name+", "+way, func(t *testing.T) {
				w := openConfined(t, dir, policy)
				cancelled(t, w, "rm -f pid; mkfifo pid; "+line+"\nread -r pid <pid; echo $pid ready; sleep 1000", time.Millisecond)
				if runtime.GOOS == "linux" {
					empty(t, w.Dir())
				}
			})
		}
	}
}

// The later output of a process substitution is not lost.
func TestTheEndOfTheOutputIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	for way, policy := range confinements(t, dir) {
		done := run(t, openConfined(t, dir, policy), `seq 1 1000 > >(cat; echo end)`)
		if !strings.HasSuffix(done.Head, "1000\nend\n") || done.Left {
			t.Errorf("%s: %.20q … %q, left %t", way, done.Head, done.Head[max(0, len(done.Head)-20):], done.Left)
		}
	}
}

// However this process dies, nothing that it started lives on.
func TestNothingOutlivesThisProcess(t *testing.T) {
	if dir := os.Getenv("WORKSPACE_PARENT"); dir != "" {
		var policy *sandbox.Policy
		if os.Getenv("WORKSPACE_CONFINED") != "" {
			policy = &sandbox.Policy{Writable: []string{dir}}
		}
		w := openConfined(t, dir, policy)
		line := "rm -f pid; mkfifo pid\n"
		for _, name := range slices.Sorted(func(yield func(string) bool) {
			for name := range escapes {
				if possible(name) && !yield(name) {
					return
				}
			}
		}) {
			line += escapes[name] + "\nread -r pid <pid\n"
		}
		job, err := w.Start(t.Context(), workspace.Command{Line: line + "touch ready; sleep 1000"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = job.Wait(t.Context())
		t.Fatal("it was not killed", err)
	}
	if runtime.GOOS != "linux" {
		t.Skip("what runs in a directory is read from /proc")
	}
	dir := t.TempDir()
	for way, policy := range confinements(t, dir) {
		t.Run(way, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			parent := exec.Command(os.Args[0], "-test.run=^TestNothingOutlivesThisProcess$")
			parent.Env = append(os.Environ(), "WORKSPACE_PARENT="+dir)
			if policy != nil {
				parent.Env = append(parent.Env, "WORKSPACE_CONFINED=1")
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
				if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("the command did not start")
				}
			}
			if n := len(inside(t, dir)); n < len(escapes) {
				t.Errorf("%d processes run, fewer than %d", n, len(escapes))
			}
			_ = parent.Process.Kill()
			_ = parent.Wait()
			empty(t, dir)
		})
	}
}

// If the guard process was killed, commands still run.
func TestTheGuardMayDie(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the guard is found in /proc")
	}
	w := open(t, t.TempDir())
	run(t, w, "true")
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, line := range lines {
		text, err := os.ReadFile(line)
		if err != nil || !strings.Contains(string(text), "tenon-guard") {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(line), "status"))
		if !strings.Contains(string(status), "PPid:\t"+strconv.Itoa(os.Getpid())+"\n") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(line)))
		if err := syscall.Kill(pid, syscall.SIGKILL); err == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("there is no guard")
	}
	for range 3 {
		if done := run(t, w, "echo yes"); done.Head != "yes\n" {
			t.Errorf("%+v", done)
		}
	}
}

func TestConfined(t *testing.T) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		t.Skip("no sandbox here")
	}
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "x")
	w := openConfined(t, dir, &sandbox.Policy{Writable: []string{dir}})
	done := run(t, w, "echo here >file && cat file; echo there >/etc/tenon-test; exit 3")
	if !strings.HasPrefix(done.Head, "here\n") || done.ExitCode != 3 || len(done.Blocked) != 1 || done.Blocked[0].Path != "/etc/tenon-test" {
		t.Errorf("%+v", done)
	}
	if done := run(t, w, "kill -TERM $$"); done.Signal != syscall.SIGTERM.String() || done.ExitCode != -1 {
		t.Errorf("%+v", done)
	}
	done, err := w.Run(t.Context(), workspace.Command{Line: "echo there >" + outside, Unconfined: true})
	if _, missing := os.Stat(outside); err != nil || missing != nil || done.Blocked != nil {
		t.Errorf("%+v, %v, %v", done, err, missing)
	}
}

func TestWhatCannotBeConfinedDoesNotRun(t *testing.T) {
	dir := t.TempDir()
	w := openConfined(t, dir, &sandbox.Policy{Writable: []string{dir}, Network: sandbox.Network{Hosts: []string{"not a host"}}})
	if _, err := w.Run(t.Context(), workspace.Command{Line: "touch ran"}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Error("it ran")
	}
}
