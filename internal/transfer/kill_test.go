package transfer_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/internal/transfer"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// killing is a store whose process dies in the middle of an import.
type killing struct {
	index.Store
	after int // entries
}

func (k killing) Import(ctx context.Context, entries iter.Seq2[session.Event, error]) (session.SessionID, error) {
	return k.Store.Import(ctx, dying(entries, k.after))
}

// dying is a sequence that kills the process after some entries.
func dying(entries iter.Seq2[session.Event, error], after int) iter.Seq2[session.Event, error] {
	n := 0
	return func(yield func(session.Event, error) bool) {
		for e, err := range entries {
			if n++; n > after {
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
	}
}

// The variables that tell a child of a test what to import, and when to die.
const dataVar, fileVar, afterVar = "TENON_TEST_KILL_DATA", "TENON_TEST_KILL_FILE", "TENON_TEST_KILL_AFTER"

// dieImporting imports as the variables say. It does not return when it is a child of a test.
func dieImporting(t *testing.T) {
	data := os.Getenv(dataVar)
	if data == "" {
		return
	}
	store, err := sqlite.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strconv.Atoi(os.Getenv(afterVar))
	if err != nil {
		t.Fatal(err)
	}
	source := open(t, "", os.Getenv(fileVar))
	_, err = transfer.Import(context.Background(), killing{store, after}, source, transfer.Options{})
	t.Fatalf("it lives: %v", err)
}

// killed runs a test in a process that is killed after some entries, and returns the store that it leaves behind.
func killed(t *testing.T, test, data, file, after string) index.Store {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), dataVar+"="+data, fileVar+"="+file, afterVar+"="+after)
	out, err := cmd.CombinedOutput()
	if err == nil || strings.Contains(string(out), "it lives") {
		t.Fatalf("the process was not killed after %s entries:\n%s", after, out)
	}
	store, err := sqlite.Open(data)
	if err != nil {
		t.Fatalf("after a kill: %v\n%s", err, out)
	}
	return store
}

// An import is killed at the beginning, in the middle and before the last entry: nothing of it is to be seen, and the next import works.
func TestKilled(t *testing.T) {
	dieImporting(t)
	const messages = 400
	file := endless(t, messages, 9000)
	data := filepath.Join(t.TempDir(), "sessions.db")
	for i, after := range []string{"0", "1", "200", "401"} {
		if !sample.Takes(i, 1, 3) {
			continue
		}
		store := killed(t, t.Name(), data, file, after)
		if n := sessionsIn(t, store); n != 0 {
			t.Errorf("killed after %s entries: %d sessions are to be seen", after, n)
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
	if r := imported(t, store, "", file); r.Messages != messages {
		t.Errorf("after the kills: %+v", r)
	}
}
