package sessions

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// openApp opens a new data directory.
func openApp(t *testing.T, data string) *app.App {
	t.Helper()
	a, err := app.Open(func(name string) string { return map[string]string{"TENON_DATA_DIR": data}[name] }, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// Between the choice of what is pruned and its end people are asked, and other processes do not wait.
func TestPruneSparesWhatWasUsedMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		trash     bool
		meanwhile func(context.Context, index.Store, session.SessionID) error
		changed   bool
	}{
		"nothing":                 {false, func(context.Context, index.Store, session.SessionID) error { return nil }, false},
		"nothing, from the trash": {true, func(context.Context, index.Store, session.SessionID) error { return nil }, false},
		"restored": {true, func(ctx context.Context, s index.Store, id session.SessionID) error {
			return s.Restore(ctx, id)
		}, true},
		"restored and deleted again": {true, func(ctx context.Context, s index.Store, id session.SessionID) error {
			return errors.Join(s.Restore(ctx, id), s.Delete(ctx, id))
		}, true},
		"written": {false, func(ctx context.Context, s index.Store, id session.SessionID) error {
			_, err := s.Annotate(ctx, id, session.Note{Text: "in use"})
			return err
		}, true},
		"purged": {true, func(ctx context.Context, s index.Store, id session.SessionID) error {
			return s.Purge(ctx, id)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			a := openApp(t, t.TempDir())
			id, err := a.Store.Create(ctx, session.Created{Dir: "/work"})
			if err == nil && c.trash {
				err = a.Store.Delete(ctx, id)
			}
			if err != nil {
				t.Fatal(err)
			}
			o := pruning{trash: c.trash}
			chosen, err := o.choose(ctx, a)
			if err != nil || len(chosen) != 1 {
				t.Fatalf("chosen are %+v (%v)", chosen, err)
			}
			if err := c.meanwhile(ctx, a.Store, id); err != nil {
				t.Fatal(err)
			}
			one := chosen[0]
			if err := o.remove(ctx, a, &one); err != nil || one.Changed != c.changed || one.Done == c.changed {
				t.Errorf("pruned %+v (%v), want changed %v", one, err, c.changed)
			}
		})
	}
}

// An imported session has only old entries, but it counts from the import.
func TestPruneCountsFromTheImport(t *testing.T) {
	ctx, old := t.Context(), time.Now().Add(-100*24*time.Hour)
	for name, c := range map[string]struct {
		at   time.Time
		want int
	}{
		"imported just now":  {time.Now(), 0},
		"imported long ago":  {old, 1},
		"at an unknown time": {time.Time{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := openApp(t, t.TempDir())
			root := session.Created{Dir: "/work", Imported: session.Import{Program: "pi", ID: "x", At: c.at}}
			_, err := a.Store.Import(ctx, func(yield func(session.Event, error) bool) {
				yield(session.Event{ID: "s", Time: old, Body: root}, nil)
			})
			if err != nil {
				t.Fatal(err)
			}
			chosen, err := (pruning{older: 90 * 24 * time.Hour}).choose(ctx, a)
			if err != nil || len(chosen) != c.want {
				t.Errorf("chosen are %+v (%v), want %d", chosen, err, c.want)
			}
		})
	}
}

// damaged is a program's data with one session, whose entries are damaged.
func damaged(t *testing.T) (*app.App, session.SessionID) {
	t.Helper()
	ctx, data := t.Context(), t.TempDir()
	a := openApp(t, data)
	id, err := a.Store.Create(ctx, session.Created{Dir: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(data, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `UPDATE entries SET body = 'no JSON'`); err != nil {
		t.Fatal(err)
	}
	return a, id
}

// One damaged session does not keep the others from being counted.
func TestStatsOutlivesADamagedSession(t *testing.T) {
	ctx := t.Context()
	a, id := damaged(t)
	account, err := ledger.Open(ctx, a.Store, ledger.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if got := account.Damaged(); len(got) != 1 || got[0] != id {
		t.Errorf("damaged are %v, want %s", got, id)
	}
	if _, err := account.Total(ctx); err != nil {
		t.Error(err)
	}
}

// A person must be able to delete a damaged session.
func TestPruneChoosesWhatIsDamaged(t *testing.T) {
	ctx := t.Context()
	a, id := damaged(t)
	if _, err := sizeOf(ctx, a, id); !errors.Is(err, session.ErrCorrupt) {
		t.Fatalf("its size: %v", err)
	}
	if chosen, err := (pruning{}).choose(ctx, a); err != nil || len(chosen) != 1 {
		t.Errorf("chosen are %+v (%v)", chosen, err)
	}
}
