package sandbox_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

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
