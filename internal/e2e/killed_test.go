package e2e_test

import (
	"os"
	"strconv"
	"sync/atomic"

	"modernc.org/sqlite"
)

// What tells the program that it is to die, in tests alone: at which write of the store, and of which file it must see before it counts.
const (
	dieAtVar    = "TENON_TEST_DIE_AT"
	dieAfterVar = "TENON_TEST_DIE_AFTER"
)

// dieWhenTold lets the process kill itself before a write to a database: of a row, or of all that was written in a transaction.
func dieWhenTold() {
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
