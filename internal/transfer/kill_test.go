package transfer_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// killing is a store whose process dies in the middle of an import.
type killing struct {
	session.Store
	after int // entries
}

func (k killing) Import(ctx context.Context, entries iter.Seq2[session.Event, error]) (session.SessionID, error) {
	n := 0
	return k.Store.Import(ctx, func(yield func(session.Event, error) bool) {
		for e, err := range entries {
			if n++; n > k.after {
				p, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = p.Kill()
				}
				panic(err) // it is not reached, or the test fails
			}
			if !yield(e, err) {
				return
			}
		}
	})
}

// TestKilled imports in a process that is killed, at the beginning, in the middle and before the last entry: nothing of it is to be
// seen, and the next import works.
func TestKilled(t *testing.T) {
	const (
		dataVar, fileVar = "TENON_TEST_KILL_DATA", "TENON_TEST_KILL_FILE"
		entries          = 401
	)
	if data := os.Getenv(dataVar); data != "" {
		store, err := sqlite.Open(data)
		if err != nil {
			t.Fatal(err)
		}
		var after int
		for _, c := range os.Getenv("TENON_TEST_KILL_AFTER") {
			after = 10*after + int(c-'0')
		}
		_, err = transfer.Import(context.Background(), killing{store, after}, open(t, "", os.Getenv(fileVar)), transfer.Options{})
		t.Fatalf("it lives: %v", err)
	}
	file := endless(t, entries-1, 9000)
	data := filepath.Join(t.TempDir(), "sessions.db")
	for _, after := range []string{"0", "1", "200", "400"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), dataVar+"="+data, fileVar+"="+file, "TENON_TEST_KILL_AFTER="+after)
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("the process was not killed after %s entries:\n%s", after, out)
		}
		store, err := sqlite.Open(data)
		if err != nil {
			t.Fatalf("after a kill: %v\n%s", err, out)
		}
		if n := sessionsIn(t, store); n != 0 {
			t.Errorf("killed after %s entries: %d sessions are to be seen\n%s", after, n, out)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	store, err := sqlite.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if r := imported(t, store, "", file); r.Messages != entries-1 {
		t.Errorf("after the kills: %+v", r)
	}
}
