package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tenon-agent/tenon/session"
)

// fail adds the action, the file and advice to an error. It does not change errors that have them, and errors of a context.
func (s *file) fail(what string, err error) error {
	err = withCause(s.path, err)
	advice, cause := classify(err)
	switch {
	case err == nil:
		return nil
	case isBusy(err):
		return fmt.Errorf("session: cannot %s %s: %w", what, filepath.Base(s.path), s.owner.holder(s.path))
	case errors.Is(err, session.ErrCorrupt):
		return err // it says where
	case cause != nil:
		return fmt.Errorf("session: %s %s: %w: %s (%w)", what, s.path, cause, advice, err)
	case advice != "":
		return fmt.Errorf("session: %s %s: %s (%w)", what, s.path, advice, err)
	default:
		return err
	}
}

// classify returns advice about err, and the error of package session that it is; nil: none.
func classify(err error) (advice string, cause error) {
	const (
		free    = "free some disk space and try again"
		check   = "check the disk, and the limits of the process (ulimit -f)"
		permit  = "check the permissions of the file and its directory"
		restore = "Tenon did not change the file; restore a backup, or move the file away to start without it"
	)
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch code := e.Code(); {
		case code&0xff == sqlite3.SQLITE_FULL, isFull(err):
			return free, session.ErrFull
		case code&0xff == sqlite3.SQLITE_CORRUPT, code&0xff == sqlite3.SQLITE_NOTADB,
			code == sqlite3.SQLITE_IOERR_SHORT_READ,
			code&0xff == sqlite3.SQLITE_ERROR && lacksOurs(e.Error()):
			return restore, session.ErrCorrupt
		case code&0xff == sqlite3.SQLITE_CANTOPEN && noMoreFiles():
			return "too many files are open; raise the limit (ulimit -n)", nil
		case code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_CANTOPEN, code&0xff == sqlite3.SQLITE_PERM:
			return permit, session.ErrUnwritable
		case code&0xff == sqlite3.SQLITE_TOOBIG:
			return "an entry or blob is larger than a gigabyte", nil
		case code&0xff == sqlite3.SQLITE_IOERR:
			return check, session.ErrIO
		default:
			return "the database failed", nil
		}
	}
	switch {
	case isFull(err):
		return free, session.ErrFull
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EFBIG):
		return check, session.ErrIO
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.ENOTDIR):
		return permit, session.ErrUnwritable
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, errClosed):
		return "the store was closed", nil
	case err == nil:
		return "", nil
	case errors.Is(err, session.ErrCorrupt):
		return restore, session.ErrCorrupt
	case err.Error() == "sql: database is closed": // an error without a name, as the next
		return "the store was closed meanwhile", errClosed
	case strings.Contains(err.Error(), "sql: Scan error on column"): // a value that no column of ours has
		return restore, session.ErrCorrupt
	}
	return "", nil
}

func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// withCause adds the cause that SQLite hides if it cannot extend its file of shared memory: it writes a file of the same size next to the
// database.
func withCause(path string, err error) error {
	if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code() != sqlite3.SQLITE_IOERR_SHMSIZE || isFull(err) {
		return err
	}
	f, cause := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if cause == nil {
		_, cause = f.Write(make([]byte, 32<<10))
		cause = errors.Join(cause, f.Close())
		_ = os.Remove(f.Name())
	}
	if cause == nil {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// noMoreFiles reports whether the process or the system can open no further file. SQLite does not report this.
func noMoreFiles() bool {
	f, err := os.Open(os.DevNull)
	if err == nil {
		_ = f.Close()
	}
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// lacksOurs reports whether SQLite misses a table or a column that all our files have.
func lacksOurs(message string) bool {
	return strings.Contains(message, "no such ") || strings.Contains(message, "has no column named ")
}

// journalError is an error of the journal while the index is in use. It is no reason to make the index again.
type journalError struct{ error }

func (e journalError) Unwrap() error { return e.error }

// ofJournal marks an error as one of the journal.
func (s *file) ofJournal(err error) error {
	if err == nil {
		return nil
	}
	return journalError{s.fail("read", err)}
}

// errClosed is the error of a closed store.
var errClosed = fmt.Errorf("use of a closed store: %w", fs.ErrClosed)

func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

func noSession(id session.SessionID) error {
	return fmt.Errorf("session %s: %w", id, session.ErrNotFound)
}

func noEntry(id session.SessionID, entry session.ID) error {
	return fmt.Errorf("session %s, entry %q: %w", id, entry, session.ErrNotFound)
}

// damaged returns the error of an entry that is missing or does not decode.
func (s *file) damaged(id session.SessionID, seq int64, err error) error {
	return fmt.Errorf("session: %s: session %s, entry %d: %w: %w", s.path, id, seq, session.ErrCorrupt, err)
}

// ended returns an error if the store or the context ended.
func (s *file) ended(ctx context.Context) error {
	if s.closed.Load() {
		return s.fail("use", errClosed)
	}
	return cmp.Or(ctx.Err(), s.asIs.same())
}
