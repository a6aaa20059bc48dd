package session

import (
	"context"
	"iter"
)

// Log keeps the journals of sessions. Implementations are safe for concurrent use, and implementations with files also for several
// processes. They pass the suite in session/storetest. Package session/index makes a store of a Log.
//
// Errors: [ErrNotFound], [ErrExists], [ErrFull], [ErrIO], [ErrCorrupt], [ErrUnwritable] and [ErrNewer] are wrapped with what, where and a
// hint. [*LockedError], [*FencedError] and [*StaleError] concern the lease, [*BusyError] the file.
type Log interface {
	// Create makes a session whose first entry is c. With c.Fork the session continues from c.From, an entry that the branches of
	// the other session reach; ErrNotFound if there is none. An empty c.From.Entry is the end of its current branch. A fork inherits
	// the entries of the other session up to that entry, whatever happens to the other session later. It copies nothing.
	Create(ctx context.Context, c Created) (SessionID, error)

	// Import makes a session of entries that were written elsewhere, all or none. The first is a Created (else ErrNoRoot), and its ID is
	// the ID of the session; ErrExists if there is one. Import keeps ID, Run, Turn, Time and Body of each entry, and makes a missing ID
	// or Time. It sets Seq and Parent as Append does, and Imported. If the sequence yields an error, Import returns it and keeps nothing. The origin
	// of a fork must exist. Other writers wait while Import runs: the sequence must not wait for the store.
	Import(ctx context.Context, entries iter.Seq2[Event, error]) (SessionID, error)

	// Open takes the lease of a session. If a living writer holds it, the error is a *LockedError, unless l.TakeOver is
	// set. The lease of a writer whose process died is free at once. A session in the trash is ErrNotFound.
	Open(ctx context.Context, id SessionID, l Lease) (Writer, error)

	// Read yields the session's own entries after number after, in order, up to the newest one. For inherited entries use Backward.
	// With kinds, as Body.Kind names them, it yields only entries of these kinds, and does not read the others, also damaged ones.
	Read(ctx context.Context, id SessionID, after int64, kinds ...string) iter.Seq2[Event, error]

	// Watch is Read that continues: it yields further entries as any process appends them, until ctx ends (with its error)
	// or the session is purged (ErrNotFound).
	Watch(ctx context.Context, id SessionID, after int64) iter.Seq2[Event, error]

	// Backward yields the branch that ends at entry leaf, newest first, down to the root. An empty leaf is the end of the
	// current branch: the newest entry that is on a branch. A leaf that is not an entry on a branch of the session is
	// ErrNotFound. It reads only as far as the caller iterates. In a fork the Created is followed by the entry that the fork
	// continues from, and so on down to the root of the first session; leaf may be an inherited entry. Inherited entries
	// have the sequence numbers of their own session.
	Backward(ctx context.Context, id SessionID, leaf ID) iter.Seq2[Event, error]

	// Annotate appends entries aside of every branch ([OnBranch]). It needs no lease. A [Deleted] moves the session to the trash
	// or back. A session in the trash cannot be opened, but it can be read. If the session has a living writer, the error is a
	// *LockedError.
	Annotate(ctx context.Context, id SessionID, bodies ...Body) ([]Event, error)

	// Sessions yields all sessions, in the trash or not, in any order.
	Sessions(ctx context.Context) iter.Seq2[Listing, error]

	// Purge removes a session permanently, in the trash or not, with the blobs that no other session uses. Entries that forks inherited
	// stay for the forks, until the last of them is purged. If the session has a living writer, the error is a *LockedError.
	Purge(ctx context.Context, id SessionID) error

	// PutBlob keeps data for a session and returns its name: the SHA-256 in lower-case hexadecimal.
	PutBlob(ctx context.Context, id SessionID, data []byte) (hash string, err error)

	// Blob returns data that PutBlob kept. An unknown hash is ErrNotFound.
	Blob(ctx context.Context, hash string) ([]byte, error)

	// Close releases the resources of the log. Close the writers first.
	Close() error
}

// Writer appends to one session. It is safe for concurrent use.
type Writer interface {
	// Session returns the session that it writes.
	Session() SessionID

	// Append makes entries of bodies, in order and all or none: they are durable when it returns. Each continues from the one
	// before it on the branch, a Head from its To (ErrNotFound if the session has no such entry on a branch). Without bodies
	// it appends nothing. Append refuses bodies that [Check] refuses. After the writer lost the lease, every Append is a *FencedError.
	Append(ctx context.Context, at Stamp, bodies ...Body) ([]Event, error)

	// Close releases the lease. It may be called twice.
	Close() error
}

// Lease is a request for the right to write.
type Lease struct {
	Owner    string // for people who find the session locked, such as "tenon run, pid 4711 on laptop"
	TakeOver bool   // take the lease from a living writer, which then gets a *FencedError
}

// Stamp has the common fields of the entries of one Append.
type Stamp struct {
	Run    RunID
	Turn   int
	Expect int64 // if not 0, the expected number of the newest entry; if it differs, Append is a *StaleError
}

// Listing is a session as [Log.Sessions] lists it.
type Listing struct {
	ID    SessionID
	Owner string // holder of the lease; empty if the lease is free
}
