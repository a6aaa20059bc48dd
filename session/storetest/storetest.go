// Package storetest is the conformance suite of [index.Store]:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) index.Store { return mystore.Open(t.TempDir()) })
//	}
//
// Also run it with the race detector. [RunShared] is for stores on files, and [RunFaults] for stores whose storage can fail.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Run runs the suite. Each call of open returns a new, empty store; the suite closes it. The tests run in parallel.
func Run(t *testing.T, open func(t *testing.T) index.Store) {
	for _, part := range []struct {
		name string
		test func(*testing.T, index.Store)
	}{
		{"entries are numbered without gaps and read back as they were appended", testOrder},
		{"an append is kept whole or not at all", testAllOrNothing},
		{"an append that expects another newest entry is refused", testExpect},
		{"every kind of entry is kept", testKinds},
		{"kinds of a newer version are kept byte for byte", testOpaque},
		{"large bodies are kept", testLarge},
		{"entries form a tree that heads bend", testTree},
		{"backward starts from any entry on a branch", testLeaves},
		{"entries aside of branches need no lease", testAnnotations},
		{"a lease has one holder", testLease},
		{"a lease that was taken over fences its old holder", testTakeOver},
		{"a writer may be closed twice", testWriterClose},
		{"watch yields new entries", testWatch},
		{"watch sees every one of many concurrent appends", testWatchConcurrent},
		{"watch ends with its context, the session or the store", testWatchEnds},
		{"summaries follow the entries", testSummary},
		{"lists are the last changed first, and can be narrowed", testList},
		{"blobs are kept once, by their hash", testBlobs},
		{"spent sums the usage of all sessions", testSpent},
		{"a fork continues from an entry of another session", testFork},
		{"a fork does not change with the other session", testForkOfTheLiving},
		{"forks of forks", testForks},
		{"a fork that is not possible is refused", testForkRefused},
		{"a deleted session is in the trash, and can be restored", testTrash},
		{"a purged session is gone", testPurge},
		{"entries that forks need outlive their session", testPurgeForked},
		{"a search finds texts", testSearch},
		{"any text is a valid query", testSearchAnything},
		{"a search can be narrowed", testSearchNarrowed},
		{"the best hits come first", testSearchRanks},
		{"a search finds new entries", testSearchFollows},
		{"usage is summed in groups", testUsage},
		{"the check finds no problem", testCheck},
		{"unknown sessions are not found", testNotFound},
		{"an import is kept whole or not at all", testImport},
		{"an import that does not fit is refused", testImportRefused},
		{"an imported entry stays a claim", testClaims},
		{"claims are not spent", testClaimsSpend},
		{"an ended context ends everything", testCancelled},
		{"a closed store says so", testClosed},
		{"everything may be done at once", testConcurrent},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close the store: %v", err)
				}
			})
			part.test(t, s)
		})
	}
}

// ---- Helpers of the tests.

func user(text string) session.Body {
	return session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
}

func answer(text string) session.Body { return session.Message{Message: llm.AssistantText(text)} }

func create(t *testing.T, s index.Store) session.SessionID {
	t.Helper()
	id, err := s.Create(t.Context(), session.Created{Dir: "/work"})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return id
}

func openWriter(t *testing.T, s index.Store, id session.SessionID) session.Writer {
	t.Helper()
	w, err := s.Open(t.Context(), id, session.Lease{Owner: t.Name()})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// start creates a session and opens it.
func start(t *testing.T, s index.Store) (session.SessionID, session.Writer) {
	t.Helper()
	id := create(t, s)
	return id, openWriter(t, s, id)
}

func add(t *testing.T, w session.Writer, bodies ...session.Body) []session.Event {
	t.Helper()
	events, err := w.Append(t.Context(), session.Stamp{}, bodies...)
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	if len(events) != len(bodies) {
		t.Fatalf("append of %d bodies returned %d events", len(bodies), len(events))
	}
	return events
}

func annotate(t *testing.T, s index.Store, id session.SessionID, bodies ...session.Body) []session.Event {
	t.Helper()
	events, err := s.Annotate(t.Context(), id, bodies...)
	if err != nil {
		t.Fatalf("annotate: %v", err)
	}
	return events
}

func all[T any](t *testing.T, seq iter.Seq2[T, error]) []T {
	t.Helper()
	var list []T
	for one, err := range seq {
		if err != nil {
			t.Fatalf("after %d: %v", len(list), err)
		}
		list = append(list, one)
	}
	return list
}

// failure is the error that a sequence ends with; it must be the last thing.
func failure[T any](t *testing.T, seq iter.Seq2[T, error]) error {
	t.Helper()
	var last error
	for _, err := range seq {
		if last != nil {
			t.Fatalf("the sequence went on after %v", last)
		}
		last = err
	}
	return last
}

func read(t *testing.T, s index.Store, id session.SessionID) []session.Event {
	t.Helper()
	return all(t, s.Read(t.Context(), id, 0))
}

// same fails the test unless two lists of events are the same in JSON, which is how they are kept.
func same(t *testing.T, what string, got, want []session.Event) {
	t.Helper()
	g, w := texts(t, got), texts(t, want)
	if !slices.Equal(g, w) {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, strings.Join(g, "\n     "), strings.Join(w, "\n     "))
	}
}

func texts(t *testing.T, events []session.Event) []string {
	t.Helper()
	list := make([]string, len(events))
	for i, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = string(data)
	}
	return list
}

func isErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want one that is %q", what, err, want)
	}
}

func summary(t *testing.T, s index.Store, id session.SessionID) index.Summary {
	t.Helper()
	list := all(t, s.List(t.Context(), index.Query{Prefix: string(id)}))
	if len(list) != 1 {
		t.Fatalf("%d summaries of session %s", len(list), id)
	}
	return list[0]
}

// aside are the entries aside of every branch.
func aside(ctx context.Context, s index.Store, id session.SessionID) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range s.Read(ctx, id, 0) {
			if (err != nil || !e.OnBranch()) && !yield(e, err) {
				return
			}
		}
	}
}

// follow watches a session in a goroutine that the test waits for. Entries come from the first channel, and the error that
// ended the watch from the second.
func follow(t *testing.T, ctx context.Context, s index.Store, id session.SessionID, after int64) (<-chan session.Event, <-chan error) {
	t.Helper()
	events, end := make(chan session.Event), make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for e, err := range s.Watch(ctx, id, after) {
			if err != nil {
				end <- err
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
			}
		}
		end <- nil
	}()
	return events, end
}

func next(t *testing.T, events <-chan session.Event, end <-chan error) session.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case err := <-end:
		t.Fatalf("the watch ended: %v", err)
	}
	return session.Event{}
}
