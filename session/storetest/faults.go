package storetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Fault is one way in which the storage of a store fails.
type Fault struct {
	Name   string               // such as "full disk"
	Want   error                // every failed write wraps this error; nil: any error
	Inject func() (lift func()) // makes writes fail until lift is called
}

// RunFaults tests a store whose storage fails at every kind of write. Each call of open returns a new, empty store and its faults, always in
// the same order. A write may succeed if the fault does not concern it. A write that fails leaves all of its entries or none, and it
// succeeds after the fault.
func RunFaults(t *testing.T, open func(t *testing.T) (index.Store, []Fault)) {
	probe, faults := open(t)
	if err := probe.Close(); err != nil {
		t.Fatal(err)
	}
	for i, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			failed := 0
			for _, w := range faultyWrites {
				t.Run(w.name, func(t *testing.T) {
					s, faults := open(t)
					t.Cleanup(func() { _ = s.Close() })
					if testFault(t, s, faults[i], w) {
						failed++
					}
				})
			}
			if failed == 0 {
				t.Errorf("no write failed")
			}
		})
	}
}

// faultyWrite is a kind of write, and the number of entries that it appends to the session of the writer.
type faultyWrite struct {
	name    string
	entries int
	do      func(ctx context.Context, s index.Store, w session.Writer) error
}

var faultyWrites = []faultyWrite{
	{"append", 2, func(ctx context.Context, _ index.Store, w session.Writer) error {
		_, err := w.Append(ctx, session.Stamp{}, user("small"), answer(strings.Repeat("large ", 4000)))
		return err
	}},
	{"append that is synced", 2, func(ctx context.Context, _ index.Store, w session.Writer) error {
		_, err := w.Append(ctx, session.Stamp{}, answer("the end"), session.RunEnded{Reason: session.ReasonDone})
		return err
	}},
	{"annotate", 1, func(ctx context.Context, s index.Store, w session.Writer) error {
		_, err := s.Annotate(ctx, w.Session(), session.Note{Text: strings.Repeat("note ", 4000)})
		return err
	}},
	{"create", 0, func(ctx context.Context, s index.Store, _ session.Writer) error {
		_, err := s.Create(ctx, session.Created{Dir: strings.Repeat("/deep", 4000)})
		return err
	}},
	{"fork", 0, func(ctx context.Context, s index.Store, w session.Writer) error {
		_, err := s.Create(ctx, session.Created{From: session.Origin{Session: w.Session()}, Fork: true})
		return err
	}},
	{"import", 0, func(ctx context.Context, s index.Store, _ session.Writer) error {
		_, err := s.Import(ctx, each(session.Event{Body: session.Created{}}, session.Event{Body: answer(strings.Repeat("old ", 4000))}))
		return err
	}},
	{"blob", 0, func(ctx context.Context, s index.Store, w session.Writer) error {
		_, err := s.PutBlob(ctx, w.Session(), []byte(strings.Repeat("data ", 4000)))
		return err
	}},
	{"delete", 0, func(ctx context.Context, s index.Store, _ session.Writer) error {
		id, err := s.Create(ctx, session.Created{})
		return errors.Join(err, s.Delete(ctx, id))
	}},
	{"purge", 0, func(ctx context.Context, s index.Store, _ session.Writer) error {
		id, err := s.Create(ctx, session.Created{})
		return errors.Join(err, s.Purge(ctx, id))
	}},
}

// testFault does a write with a fault and without, and reports whether it failed with it.
func testFault(t *testing.T, s index.Store, f Fault, write faultyWrite) (failed bool) {
	id, w := start(t, s)
	add(t, w, user("before"))
	before := read(t, s, id)

	lift := f.Inject()
	err := write.do(t.Context(), s, w)
	lift()

	if err != nil && f.Want != nil && !errors.Is(err, f.Want) {
		t.Errorf("the error is %v, want %v", err, f.Want)
	}
	after := read(t, s, id)
	same(t, "entries before the fault", after[:len(before)], before)
	if n := len(after) - len(before); n != write.entries && (n != 0 || err == nil) {
		t.Errorf("%d of %d entries are there, error %v", n, write.entries, err)
	}
	for i, e := range after {
		if e.Seq != int64(i+1) {
			t.Errorf("entry %d has number %d", i+1, e.Seq)
		}
	}
	if err := write.do(t.Context(), s, w); err != nil {
		t.Errorf("after the fault: %v", err)
	}
	if n := len(read(t, s, id)) - len(after); n != write.entries {
		t.Errorf("after the fault %d entries were appended, want %d", n, write.entries)
	}
	if found := all(t, s.Check(t.Context(), false)); len(found) > 0 {
		t.Errorf("the check finds %+v", found)
	}
	return err != nil
}

// each yields events without errors.
func each(events ...session.Event) func(yield func(session.Event, error) bool) {
	return func(yield func(session.Event, error) bool) {
		for e := range slices.Values(events) {
			if !yield(e, nil) {
				return
			}
		}
	}
}
