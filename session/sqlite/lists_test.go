package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
)

// Many lists at a time end: a list looks at the journals of sub-agents while it reads the rows, and needs another connection for that.
func TestListsAtTheSameTime(t *testing.T) {
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner, err := s.Create(t.Context(), session.Created{Dir: "/project"})
	for range 20 {
		if err == nil {
			_, err = s.Create(t.Context(), session.Created{Dir: "/project", Parent: session.Origin{Session: owner}, From: session.Origin{Session: owner}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			for range 10 {
				n := 0
				for _, err := range s.List(t.Context(), index.Query{Parent: owner}) {
					if n++; err != nil {
						t.Error(err)
					}
				}
				if n != 20 {
					t.Errorf("%d sessions", n)
				}
			}
		})
	}
	all.Wait()
}
