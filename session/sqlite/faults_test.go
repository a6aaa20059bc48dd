package sqlite

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/storetest"
)

// The store is whole after a full disk, a disk that cannot be written, and a sync that fails.
func TestFaults(t *testing.T) {
	t.Parallel()
	storetest.RunFaults(t, func(t *testing.T) (index.Store, []storetest.Fault) {
		s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
		faults := []storetest.Fault{
			{Name: "full disk", Want: session.ErrFull, Inject: func() func() {
				var pages int
				if err := s.row(`SELECT page_count FROM pragma_page_count`, nil, &pages); err != nil {
					t.Fatal(err)
				}
				limitPages(t, s, pages)
				return func() { limitPages(t, s, 1<<30) }
			}},
			{Name: "failing sync", Inject: func() func() {
				if err := s.disk.sync(); err != nil { // opens the log
					t.Fatal(err)
				}
				_ = s.disk.log.Close()
				return func() { s.disk.log = nil }
			}},
		}
		if runtime.GOOS == "linux" {
			faults = append(faults, storetest.Fault{Name: "disk that cannot be written", Want: session.ErrIO, Inject: func() func() {
				return refuseWrites(t, s.path+"-wal")
			}})
		}
		return s, faults
	})
}

func limitPages(t *testing.T, s *Store, pages int) {
	t.Helper()
	var now int
	if err := s.lane.row(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &now); err != nil {
		t.Fatal(err)
	}
}
