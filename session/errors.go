package session

import (
	"fmt"
	"time"
)

// The errors of logs. Each has a stable code, such as "session.not_found", as its method Code.
var (
	// ErrNotFound: the session, entry or blob does not exist.
	ErrNotFound error = &coded{"session.not_found", "not found"}
	// ErrExists: a session or an entry with this ID exists.
	ErrExists error = &coded{"session.exists", "exists already"}
	// ErrFull: the disk or a quota is full. The journal is unchanged.
	ErrFull error = &coded{"session.full", "no space left"}
	// ErrIO: the disk failed, or a limit of the process on file sizes was reached.
	ErrIO error = &coded{"session.io", "input or output failed"}
	// ErrCorrupt: the stored bytes differ from the written ones.
	ErrCorrupt error = &coded{"session.corrupt", "damaged"}
	// ErrReplaced: the file of the store was removed or replaced while it was open.
	ErrReplaced error = &coded{"session.replaced", "removed or replaced while it was open"}
	// ErrUnwritable: the store cannot be written, by permission or because the medium is read-only.
	ErrUnwritable error = &coded{"session.unwritable", "not writable"}
	// ErrNoRoot: the first entry of an import is not a [Created].
	ErrNoRoot error = &coded{"session.no_root", "the first entry of an import must be of kind created"}
	// ErrNewer: a newer version of Tenon wrote the store in a form that this one does not know.
	ErrNewer error = &coded{"session.newer", "written by a newer version"}
)

// coded is an error with a stable code.
type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }
func (e *coded) Code() string  { return e.code }

// LockedError says that a living writer holds the lease.
type LockedError struct {
	Session SessionID
	Owner   string
	Since   time.Time
}

func (e *LockedError) Error() string {
	owner := e.Owner
	if owner == "" {
		owner = "another process"
	}
	return fmt.Sprintf("session %s is in use by %s since %s", e.Session, owner, e.Since.Local().Format(time.DateTime))
}

// Code returns "session.locked".
func (e *LockedError) Code() string { return "session.locked" }

// FencedError says that another writer took the lease: this one can append no more.
type FencedError struct {
	Session SessionID
	Owner   string // the new holder, if known
}

func (e *FencedError) Error() string {
	if e.Owner == "" {
		return fmt.Sprintf("session %s: lost the write lock", e.Session)
	}
	return fmt.Sprintf("session %s: %s took over the write lock", e.Session, e.Owner)
}

// Code returns "session.fenced".
func (e *FencedError) Code() string { return "session.fenced" }

// StaleError says that the newest entry of a session is not [Stamp.Expect]. Nothing was appended.
type StaleError struct {
	Session SessionID
	Expect  int64
	Newest  int64
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("session %s: the newest entry is %d, not %d", e.Session, e.Newest, e.Expect)
}

// Code returns "session.stale".
func (e *StaleError) Code() string { return "session.stale" }

// BusyError says that another process holds the lock of the whole store.
type BusyError struct {
	Store   string // the file
	PID     int    // of the holder; 0 if unknown
	Command string // of the holder; empty if unknown
	Since   time.Time
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is locked by another process; end that process or try again", e.Store)
	}
	return fmt.Sprintf("%s is locked by process %d (%s) since %s; let it continue, end it, or try again",
		e.Store, e.PID, e.Command, e.Since.Local().Format(time.DateTime))
}

// Code returns "session.busy".
func (e *BusyError) Code() string { return "session.busy" }
