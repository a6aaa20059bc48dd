package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// A command that starts one process after the other reaches its own limit, and the result names it. The helper and all processes outside
// live on. Without the limit there would be 600 waiting processes.
func TestManyProcesses(t *testing.T) {
	g := newGround(t)
	const most = 301 // the kernel keeps the first 300 numbers of a namespace, and for root only these numbers are bounded
	g.policy.Limits.Processes = most
	got := g.run(`exec sh -c 'i=0; while [ $i -lt 600 ]; do sleep 1000 & i=$((i+1)); echo $i >count; done'`)
	text, err := os.ReadFile(g.work + "/count")
	if err != nil {
		t.Fatal(err, got)
	}
	started, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || got.closed != nil {
		t.Fatal(err, got)
	}
	if os.Getenv("WAY") == "bubblewrap" && os.Geteuid() == 0 {
		return // what bounds root there is nothing
	}
	if started >= most || got.exit == 0 || strings.Contains(got.out, "goroutine") {
		t.Errorf("%d were started: %v", started, got)
	}
	named(t, got, "at most 301 processes")
}

func TestTooMuchMemory(t *testing.T) {
	g := newGround(t)
	g.policy.Limits.Memory = 64 << 20
	got := g.run(`x=$(head -c 200000000 /dev/zero | tr '\0' x); echo "has ${#x}"`)
	if got.closed != nil || got.exit == 0 || strings.Contains(got.out, "has 2") {
		t.Error(got)
	}
	named(t, got, "at most 64 MiB")
}

// If the memory of the machine runs out, the kernel ends a command before the programs of the person. The command cannot change that.
func TestTheKernelEndsACommandFirst(t *testing.T) {
	g := newGround(t)
	if got := g.run(`echo 0 2>/dev/null >/proc/self/oom_score_adj; cat /proc/self/oom_score_adj`); got.out != "1000\n" || got.closed != nil {
		t.Error(got)
	}
}

// The memory of all processes and the temporary files have one limit.
func TestMemoryOfAllProcesses(t *testing.T) {
	if sandbox.Look().Groups == "" {
		t.Skip("this user may make no control groups with limits for memory here")
	}
	g := newGround(t)
	g.policy.Limits.Together = 64 << 20
	got := g.run(`head -c 40000000 /dev/zero >/tmp/x; x=$(head -c 40000000 /dev/zero | tr '\0' x); echo "has ${#x}"`)
	if got.closed != nil || got.exit == 0 || strings.Contains(got.out, "has") {
		t.Error(got)
	}
	named(t, got, "at most 64 MiB of memory together")
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(sandbox.Look().Groups), "tenon-*")); len(left) > 0 {
		t.Error(left, err)
	}
}

// Processes enter a control group by a file that was opened before. The group goes with its command, or, if Tenon was killed, with the next one.
func TestControlGroups(t *testing.T) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	parent := ""
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); fields[2] == "cgroup2" {
			parent = fields[1]
		}
	}
	if parent == "" || unix.Access(parent, unix.W_OK) != nil {
		t.Skip("this user may make no control groups here")
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(parent, "tenon-"+strconv.Itoa(gone.Process.Pid)+"-1")
	if err := os.Mkdir(left, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, procs, remove, err := sandbox.MakeGroup(parent, [][2]string{{"cgroup.max.depth", "3"}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "echo 0 >&3; cat /proc/self/cgroup")
	cmd.ExtraFiles = []*os.File{procs}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "/"+filepath.Base(dir)+"\n") {
		t.Errorf("%s, %v", out, err)
	}
	if remove() {
		t.Error("its memory came to a limit")
	}
	for _, dir := range []string{left, dir} {
		if _, err := os.Stat(dir); err == nil {
			t.Error(dir, "stayed")
		}
	}
	if _, _, _, err := sandbox.MakeGroup(parent, [][2]string{{"memory.strange", "3"}}); err == nil {
		t.Error("a group has a limit that does not exist")
	}
	if left, err := filepath.Glob(filepath.Join(parent, "tenon-*")); len(left) > 0 {
		t.Error(left, err)
	}
}

// named fails the test unless the result names the limit.
func named(t *testing.T, got ran, limit string) {
	t.Helper()
	for _, b := range got.blocked {
		if b.What == sandbox.System && strings.Contains(b.Why, limit) {
			return
		}
	}
	t.Errorf("no word of %q: %v", limit, got)
}
