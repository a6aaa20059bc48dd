// Package index lists, searches, counts and checks sessions. A store is a [session.Log] and an [Index].
//
// [Over] is an index of any log. It keeps a summary of each session in memory and reads only new entries. Stores with many sessions on disk
// have an index of their own.
package index

import (
	"context"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// Index has the views of all sessions that can be computed from a log. Implementations are safe for concurrent use.
type Index interface {
	// List yields summaries of sessions, the last changed first. It reads only entries that are new to it.
	List(ctx context.Context, q Query) iter.Seq2[Summary, error]

	// Delete moves a session to the trash. Lists and searches do not show it, and it cannot be opened, but it can be read. If the session
	// has a living writer, the error is a *session.LockedError.
	Delete(ctx context.Context, id session.SessionID) error

	// Restore moves a session out of the trash. It does nothing if the session is not there.
	Restore(ctx context.Context, id session.SessionID) error

	// Search finds words in all sessions that are not in the trash, the best hits first.
	Search(ctx context.Context, q search.Request) iter.Seq2[search.Hit, error]

	// Index updates the search index. Search does it too, so this saves time later. After an interruption it continues.
	Index(ctx context.Context) error

	// Usage sums the usage of sessions in groups. Sessions in the trash count, purged ones do not.
	Usage(ctx context.Context, q UsageQuery) iter.Seq2[UsageRow, error]

	// Spent is the usage of all answers, summaries and titles in all sessions since a time, to the microsecond, without imported entries.
	// Sessions in the trash count, purged ones do not.
	Spent(ctx context.Context, since time.Time) (llm.Usage, error)

	// Check yields the problems of a store. It compares all computed data with the entries, and checks entries and blobs for gaps and
	// damage. With repair it fixes the problems that it can fix, and removes nothing from a journal. It reads the whole store.
	Check(ctx context.Context, repair bool) iter.Seq2[Problem, error]
}

// Store is a log with its index.
type Store interface {
	session.Log
	Index
}
