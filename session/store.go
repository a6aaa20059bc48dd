package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
)

// Store keeps sessions. Implementations are safe for concurrent use, and those that keep files, also by several
// processes; they pass the suite in session/storetest.
//
// Errors: [ErrNotFound], [ErrExists], [ErrFull], [ErrCorrupt], [ErrUnwritable] and [ErrNewer] are wrapped with what, where and what to
// do; [*LockedError] and [*FencedError] are about the lease.
type Store interface {
	// Create makes a session whose first entry is c.
	Create(ctx context.Context, c Created) (SessionID, error)

	// Import makes a session of entries that were written elsewhere, whole or not at all. The first is a Created, and its ID that
	// of the session: one that is there already is ErrExists. Of each entry ID, Run, Turn, Time and Body are kept; an ID or a Time
	// that is missing is made. Seq and Parent are given as Append gives them. An error of the sequence is returned, and nothing is
	// kept. While it runs no other entry can be written: the sequence must not wait for the store, and should not wait for long.
	Import(ctx context.Context, entries iter.Seq2[Event, error]) (SessionID, error)

	// Open takes the lease of a session. While a living writer has it, the error is a *LockedError, unless l.TakeOver is
	// set; the lease of a writer whose process died is free at once.
	Open(ctx context.Context, id SessionID, l Lease) (Writer, error)

	// Read yields the entries after sequence number after, in order, up to the last one there is.
	Read(ctx context.Context, id SessionID, after int64) iter.Seq2[Event, error]

	// Watch is Read that goes on: it yields further entries as any process appends them, until ctx ends (with its error)
	// or the session is deleted (ErrNotFound).
	Watch(ctx context.Context, id SessionID, after int64) iter.Seq2[Event, error]

	// Backward yields the branch that ends at entry leaf, newest first, down to the root. An empty leaf is the end of the
	// current branch: the newest entry that is on a branch. A leaf that is no entry of the session, or hangs on no branch,
	// is ErrNotFound. It costs as much as is read, not as much as there is.
	Backward(ctx context.Context, id SessionID, leaf ID) iter.Seq2[Event, error]

	// Annotations yields the entries that hang on no branch, in order.
	Annotations(ctx context.Context, id SessionID) iter.Seq2[Event, error]

	// Annotate appends entries that hang on no branch ([OnBranch]). It needs no lease.
	Annotate(ctx context.Context, id SessionID, bodies ...Body) ([]Event, error)

	// List yields summaries of sessions, the last changed first. It reads no entries.
	List(ctx context.Context, q Query) iter.Seq2[Summary, error]

	// Delete removes a session, its entries and the blobs that no other session uses. A living writer's session is a
	// *LockedError.
	Delete(ctx context.Context, id SessionID) error

	// PutBlob keeps data for a session and returns its name: the SHA-256 in lower-case hexadecimal.
	PutBlob(ctx context.Context, id SessionID, data []byte) (hash string, err error)

	// Blob returns what PutBlob kept. An unknown hash is ErrNotFound.
	Blob(ctx context.Context, hash string) ([]byte, error)

	// Spent is the usage of all answers in all sessions since a time, to the microsecond. What was deleted no longer counts.
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

// Query selects sessions. The zero value selects all.
type Query struct {
	Prefix string // of the ID
	Dir    string // of Created.Dir, exact
	Limit  int    // 0: all
}

// Summary is what a list shows of a session.
type Summary struct {
	ID       SessionID `json:"id"`
	Title    string    `json:"title"` // the last Title, or the beginning of the first input
	Named    bool      `json:"named"` // a Title gave it
	Dir      string    `json:"dir"`
	Model    string    `json:"model,omitzero"` // "provider/model" of the last answer
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Entries  int64     `json:"entries"`  // the last sequence number
	Messages int       `json:"messages"` // of users and models, on all branches
	Usage    llm.Usage `json:"usage"`    // of all answers, on all branches
	From     Origin    `json:"from,omitzero"`
	Owner    string    `json:"owner,omitzero"` // who holds the lease now
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
// really unknown, and JSON; when annotation is set, none may be on a branch. Stores call it before they write.
func Check(annotation bool, bodies ...Body) error {
	for _, b := range bodies {
		switch {
		case b == nil:
			return errors.New("session: append of a nil body")
		case !validOpaque(b):
			return fmt.Errorf("session: opaque body of kind %q: the kind must be unknown and the body JSON", b.Kind())
		case Passing(b):
			return fmt.Errorf("session: %s is a passing moment, not an entry", b.Kind())
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

// validOpaque reports whether b, if it is an Opaque, will be read back as the same.
func validOpaque(b Body) bool {
	o, ok := b.(Opaque)
	if !ok {
		return true
	}
	_, known := decoders[o.Name]
	return !known && o.Name != "" && json.Valid(o.JSON)
}

// Add brings the summary up to date with a further entry. Stores call it for every entry that they append.
func (s *Summary) Add(e Event) {
	s.Entries, s.Updated = e.Seq, e.Time
	switch b := e.Body.(type) {
	case Created:
		s.Dir, s.Created, s.From = b.Dir, e.Time, b.From
	case Title:
		s.Title, s.Named = b.Title, b.Title != ""
	case Message:
		switch b.Role {
		case llm.RoleUser:
			s.Messages++
			if s.Title == "" {
				s.Title = firstWords(b.Text(), 60)
			}
		case llm.RoleAssistant:
			s.Messages++
			s.Usage = s.Usage.Plus(b.Usage)
			s.Model = b.Model
		}
	}
}

// firstWords returns the beginning of the first line of text with words in it, at most limit runes, cut between words.
func firstWords(text string, limit int) string {
	const look = 4 << 10 // a title needs no more of a long input
	if len(text) > look {
		text = strings.ToValidUTF8(text[:look], "")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	cut := string([]rune(line)[:limit])
	if i := strings.LastIndexByte(cut, ' '); i > limit/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
