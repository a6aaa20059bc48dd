package transfer_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

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

func (k killing) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	w, err := k.Store.Open(ctx, id, l)
	return killingWriter{w, k.after}, err
}

// killingWriter is a writer whose process dies in the middle of an import.
type killingWriter struct {
	session.Writer
	after int
}

func (k killingWriter) Import(ctx context.Context, entries iter.Seq2[session.Event, error]) error {
	return k.Writer.Import(ctx, dying(entries, k.after))
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
const dataVar, fileVar, afterVar, sessionVar = "TENON_TEST_KILL_DATA", "TENON_TEST_KILL_FILE", "TENON_TEST_KILL_AFTER", "TENON_TEST_KILL_SESSION"

// dieImporting imports, or goes on, as the variables say. It does not return when it is a child of a test.
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
	if id := session.SessionID(os.Getenv(sessionVar)); id != "" {
		_, err = transfer.GoOn(context.Background(), killing{store, after}, id, source, transfer.Options{})
	} else {
		_, err = transfer.Import(context.Background(), killing{store, after}, source, transfer.Options{})
	}
	t.Fatalf("it lives: %v", err)
}

// killed runs a test in a process that is killed after some entries, and returns the store that it leaves behind.
func killed(t *testing.T, test, data, file, after string, id session.SessionID) index.Store {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), dataVar+"="+data, fileVar+"="+file, afterVar+"="+after, sessionVar+"="+string(id))
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
	for _, after := range []string{"0", "1", "200", "402"} {
		store := killed(t, t.Name(), data, file, after, "")
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

// The same for what a session goes on with: it stays as it was until all is there, and can be written.
func TestKilledGoingOn(t *testing.T) {
	dieImporting(t)
	whole, err := os.ReadFile(endless(t, 200, 9000))
	if err != nil {
		t.Fatal(err)
	}
	file, data := write(t, "s.jsonl", string(whole[:len(whole)/2])), filepath.Join(t.TempDir(), "sessions.db")
	store, err := sqlite.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	id := imported(t, store, "", file).Session
	before := string(export(t, store, id))
	if err := errors.Join(store.Close(), os.WriteFile(file, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{"0", "1", "50", "100"} {
		store := killed(t, t.Name(), data, file, after, id)
		if got := string(export(t, store, id)); got != before {
			t.Errorf("killed after %s entries the session is another one", after)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if store, err = sqlite.Open(data); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	other := newStore(t)
	if goOn(t, store, id, file); told(t, store, id) != told(t, other, imported(t, other, "", file).Session) {
		t.Error("after the kills it is not what the source is")
	}
}
