package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Store keeps sessions. Implementations are safe for concurrent use, and those that keep files, also by several
// processes; they pass the suite in session/storetest.
//
// Errors: [ErrNotFound], [ErrExists], [ErrFull], [ErrCorrupt], [ErrUnwritable] and [ErrNewer] are wrapped with what, where and what to
// do; [*LockedError] and [*FencedError] are about the lease.
type Store interface {
	// Create makes a session whose first entry is c. With c.Fork it goes on from c.From, an entry that the other session's
	// branches reach (ErrNotFound when there is none; an empty c.From.Entry is the end of its current branch): what the other
	// session had when that entry was written is inherited, whoever writes it meanwhile and whatever becomes of it later.
	// A fork reads nothing and copies nothing.
	Create(ctx context.Context, c Created) (SessionID, error)

	// Import makes a session of entries that were written elsewhere, whole or not at all. The first is a Created, and its ID that
	// of the session: one that is there already is ErrExists. Of each entry ID, Run, Turn, Time and Body are kept; an ID or a Time
	// that is missing is made. Seq and Parent are given as Append gives them. An error of the sequence is returned, and nothing is
	// kept. The origin of a fork must be there. While it runs no other entry can be written: the sequence must not wait for the
	// store, and should not wait for long.
	Import(ctx context.Context, entries iter.Seq2[Event, error]) (SessionID, error)

	// Open takes the lease of a session. While a living writer has it, the error is a *LockedError, unless l.TakeOver is
	// set; the lease of a writer whose process died is free at once. A session in the trash is ErrNotFound.
	Open(ctx context.Context, id SessionID, l Lease) (Writer, error)

	// Read yields the session's own entries after sequence number after, in order, up to the last one there is. What a fork
	// inherited is not among them: Backward leads there. With kinds, as Body.Kind names them, it yields entries of these alone: the
	// others are passed over, whole or damaged, and cost next to nothing.
	Read(ctx context.Context, id SessionID, after int64, kinds ...string) iter.Seq2[Event, error]

	// Watch is Read that goes on: it yields further entries as any process appends them, until ctx ends (with its error)
	// or the session is purged (ErrNotFound).
	Watch(ctx context.Context, id SessionID, after int64) iter.Seq2[Event, error]

	// Backward yields the branch that ends at entry leaf, newest first, down to the root. An empty leaf is the end of the
	// current branch: the newest entry that is on a branch. A leaf that is no entry of the session, or hangs on no branch,
	// is ErrNotFound. It costs as much as is read, not as much as there is. In a fork the Created is followed by the entry
	// that it goes on from, and so down to the root of the first session; leaf may be an inherited entry. Inherited entries
	// have the sequence numbers of the session that they were written in.
	Backward(ctx context.Context, id SessionID, leaf ID) iter.Seq2[Event, error]

	// Annotations yields the entries that hang on no branch, in order; with kinds, those of these alone. A fork inherits none.
	Annotations(ctx context.Context, id SessionID, kinds ...string) iter.Seq2[Event, error]

	// Annotate appends entries that hang on no branch ([OnBranch]). It needs no lease.
	Annotate(ctx context.Context, id SessionID, bodies ...Body) ([]Event, error)

	// List yields summaries of sessions, the last changed first. It reads no entries.
	List(ctx context.Context, q Query) iter.Seq2[Summary, error]

	// Delete moves a session to the trash: it is in no list and no search, and nobody may write it, but it can be read. What
	// is there already stays. A living writer's session is a *LockedError.
	Delete(ctx context.Context, id SessionID) error

	// Restore brings a session back from the trash. One that is not there stays as it is.
	Restore(ctx context.Context, id SessionID) error

	// Purge removes a session for ever, in the trash or not, with the blobs that no other session uses. What forks inherited
	// from it stays, for them alone, until the last of them is purged. A living writer's session is a *LockedError.
	Purge(ctx context.Context, id SessionID) error

	// Search finds what was said in all sessions but those in the trash, the best hits first.
	Search(ctx context.Context, q SearchQuery) iter.Seq2[Hit, error]

	// Index brings what Search reads up to date with the journal. Search does it too, so this saves time then. It may be
	// interrupted and goes on where it was.
	Index(ctx context.Context) error

	// Usage sums what was consumed, in groups. Sessions in the trash count, purged ones do not.
	Usage(ctx context.Context, q UsageQuery) iter.Seq2[UsageRow, error]

	// Check yields what is wrong with the store: everything that was computed from entries is computed anew and compared, and
	// entries and blobs are checked for gaps and damage. With repair it puts right what it can; nothing is ever removed
	// from the journal for it. It takes as long as reading everything does.
	Check(ctx context.Context, repair bool) iter.Seq2[Problem, error]

	// PutBlob keeps data for a session and returns its name: the SHA-256 in lower-case hexadecimal.
	PutBlob(ctx context.Context, id SessionID, data []byte) (hash string, err error)

	// Blob returns what PutBlob kept. An unknown hash is ErrNotFound.
	Blob(ctx context.Context, hash string) ([]byte, error)

	// Spent is the usage of all answers, summaries and titles in all sessions since a time, to the microsecond. Sessions in the trash
	// count, purged ones do not.
	Spent(ctx context.Context, since time.Time) (llm.Usage, error)

	// Close lets go of what the store holds. Writers must be closed before.
	Close() error
}

// Writer appends to one session. It is safe for concurrent use.
type Writer interface {
	// Session is the session that it writes.
	Session() SessionID

	// Append makes entries of bodies, in order and all or none: they are durable when it returns. Each goes on from the one
	// before it on the branch, a Head from its To (ErrNotFound when the session has no such entry on a branch). No bodies
	// are no entries and no error. [Check] says which bodies are refused. After the lease was lost the error is a
	// *FencedError, for ever.
	Append(ctx context.Context, at Stamp, bodies ...Body) ([]Event, error)

	// Import appends entries that were written elsewhere, all or none, as [Store.Import] keeps them: with their own IDs and times.
	// An ID that the session has already is ErrExists. The sequence must not wait for the store.
	Import(ctx context.Context, entries iter.Seq2[Event, error]) error

	// Close gives the lease back. It may be called twice.
	Close() error
}

// Lease is a request for the right to write.
type Lease struct {
	Owner    string // who asks, for the person who finds the session locked, such as "tenon run, pid 4711 on laptop"
	TakeOver bool   // take the lease from a living writer, which then gets a *FencedError
}

// Stamp is what the entries of one Append have in common.
type Stamp struct {
	Run  RunID
	Turn int
}

// The errors of stores.
var (
	// ErrNotFound: there is no such session, entry or blob.
	ErrNotFound = errors.New("not found")
	// ErrExists: there is one with this ID.
	ErrExists = errors.New("exists already")
	// ErrFull: the disk or a quota is full. Nothing of the append was kept.
	ErrFull = errors.New("no space left")
	// ErrCorrupt: what is stored is not what was written.
	ErrCorrupt = errors.New("damaged")
	// ErrUnwritable: the store cannot be written, by permission or because the medium is read-only.
	ErrUnwritable = errors.New("not writable")
	// ErrNewer: a newer version of Tenon wrote the store in a form that this one does not know.
	ErrNewer = errors.New("written by a newer version")
)

// InTrash is the error of a session that cannot be written because it is in the trash: an ErrNotFound. Stores return it.
func InTrash(id SessionID) error {
	return fmt.Errorf("session %s: %w: it is in the trash; restore it first", id, ErrNotFound)
}

// LockedError says that a living writer has the lease.
type LockedError struct {
	Session SessionID
	Owner   string
	Since   time.Time
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("session %s is being written by %s since %s", e.Session, e.Owner, e.Since.Local().Format(time.DateTime))
}

// FencedError says that another writer took the lease: this one can append no more.
type FencedError struct {
	Session SessionID
	Owner   string // who has it now, when known
}

func (e *FencedError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("session %s is no longer ours to write", e.Session)
	}
	return fmt.Sprintf("session %s was taken over by %s", e.Session, e.Owner)
}

// Check returns an error when bodies cannot be appended: none may be nil or passing; an [Opaque] needs a kind that is
// really unknown, and JSON; when annotation is set, none may be on a branch, nor a [Deleted], which is for Store.Delete and
// Store.Restore to write. Stores call it before they write.
func Check(annotation bool, bodies ...Body) error {
	for _, b := range bodies {
		switch {
		case b == nil:
			return errors.New("session: append of a nil body")
		case !validOpaque(b):
			return fmt.Errorf("session: opaque body of kind %q: the kind must be unknown and the body JSON", b.Kind())
		case Passing(b):
			return fmt.Errorf("session: %s is a passing moment, not an entry", b.Kind())
		case annotation && isDeleted(b):
			return errors.New("session: deleted is no annotation to make: use the store's Delete or Restore")
		case annotation && OnBranch(b):
			return fmt.Errorf("session: %s belongs on a branch: append it with a Writer", b.Kind())
		}
	}
	return nil
}

// CheckRoot returns an error when e cannot be the first entry of an import. Stores call it.
func CheckRoot(e Event) error {
	if _, ok := e.Body.(Created); !ok {
		return errors.New("session: import: the first entry must be a created")
	}
	return nil
}

func isDeleted(b Body) bool {
	_, ok := b.(Deleted)
	return ok
}

// validOpaque reports whether b, if it is an Opaque, will be read back as the same.
func validOpaque(b Body) bool {
	o, ok := b.(Opaque)
	if !ok {
		return true
	}
	_, known := decoders[o.Name]
	return !known && o.Name != "" && json.Valid(o.JSON)
}
