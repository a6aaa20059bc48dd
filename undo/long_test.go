//go:build unix

package undo_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
)

// What an undo takes of memory grows with the session, and not with its square.
func TestALongSession(t *testing.T) {
	b := newBench(t)
	b.begin("change one file again and again")
	const entries = 5000
	bodies := make([]session.Body, entries)
	for i := range bodies {
		bodies[i] = session.FilesChanged{Cause: session.ByTool, Files: []session.FileChange{{
			Path: b.dir + "/f", After: &session.FileState{Hash: "0", Size: int64(i)},
		}}}
	}
	b.append(bodies...)
	b.end()
	h := b.history()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p, err := h.Undo("", undo.Files)
	runtime.ReadMemStats(&after)
	if _, nothing := errors.AsType[*undo.NothingError](err); !nothing {
		t.Errorf("%+v, %v: the file is not there, and was not", p, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 5000*entries {
		t.Errorf("%d entries took %d bytes", entries, took)
	}
}
