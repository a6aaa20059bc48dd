package e2e_test

import (
	"os"
	"strconv"
	"sync/atomic"

	"modernc.org/sqlite"
)

// These variables make the test program kill itself: at this write of the store, counted from the moment that this file exists.
const (
	dieAtVar    = "TENON_TEST_DIE_AT"
	dieAfterVar = "TENON_TEST_DIE_AFTER"
)

// dieAtWrite lets the process kill itself before a write to a database, of a row or of a whole transaction, if the environment asks for it.
func dieAtWrite() {
	at, err := strconv.ParseInt(os.Getenv(dieAtVar), 10, 64)
	if err != nil {
		return
	}
	after := os.Getenv(dieAfterVar)
	var writes atomic.Int64
	step := func() {
		if after != "" {
			if _, err := os.Stat(after); err != nil {
				return
			}
		}
		if writes.Add(1) == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {} // it is not for long
		}
	}
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		hooks := conn.(sqlite.HookRegisterer)
		hooks.RegisterPreUpdateHook(func(sqlite.SQLitePreUpdateData) { step() })
		hooks.RegisterCommitHook(func() int32 { step(); return 0 })
		return nil
	})
}
