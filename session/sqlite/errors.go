package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tenon-agent/tenon/session"
)

// fail says what was done to which file when err came, and what can be done about it. Errors that already say so, and those
// of a context, stay as they are.
func (s *Store) fail(what string, err error) error {
	advice, cause := classify(err)
	switch {
	case err == nil:
		return nil
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

// classify returns what to do about err, and which of the errors of package session it is: nil for none of them.
func classify(err error) (advice string, cause error) {
	const (
		free    = "free some disk space and try again"
		permit  = "check who may write the file and its directory"
		restore = "the file was left as it is; move it away to begin anew, or put back a copy"
	)
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch code := e.Code(); {
		case code&0xff == sqlite3.SQLITE_FULL, code == sqlite3.SQLITE_IOERR_SHMSIZE:
			return free, session.ErrFull
		case code&0xff == sqlite3.SQLITE_CORRUPT, code&0xff == sqlite3.SQLITE_NOTADB,
			code == sqlite3.SQLITE_IOERR_SHORT_READ,
			code&0xff == sqlite3.SQLITE_ERROR && lacksOurs(e.Error()):
			return restore, session.ErrCorrupt
		case code&0xff == sqlite3.SQLITE_READONLY, code&0xff == sqlite3.SQLITE_CANTOPEN, code&0xff == sqlite3.SQLITE_PERM:
			return permit, session.ErrUnwritable
		case code&0xff == sqlite3.SQLITE_BUSY:
			return "another process keeps it locked; end that process or try again", nil
		case code&0xff == sqlite3.SQLITE_TOOBIG:
			return "an entry or blob is larger than a gigabyte", nil
		default:
			return "the database failed", nil
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return free, session.ErrFull
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

// lacksOurs reports whether SQLite says that a table or a column is not there, which every file that we made has.
func lacksOurs(message string) bool {
	return strings.Contains(message, "no such ") || strings.Contains(message, "has no column named ")
}

// journalError is what went wrong with the journal while the index was in use: it is no reason to make the index anew.
type journalError struct{ error }

func (e journalError) Unwrap() error { return e.error }

// ofJournal marks an error as one of the journal.
func (s *Store) ofJournal(err error) error {
	if err == nil {
		return nil
	}
	return journalError{s.fail("read", err)}
}

// errClosed is what a closed store answers.
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

// damaged is about an entry that is missing or does not decode.
func (s *Store) damaged(id session.SessionID, seq int64, err error) error {
	return fmt.Errorf("session: %s: session %s, entry %d: %w: %w", s.path, id, seq, session.ErrCorrupt, err)
}

// ended reports why nothing more should be done, if so.
func (s *Store) ended(ctx context.Context) error {
	if s.closed.Load() {
		return s.fail("use", errClosed)
	}
	return cmp.Or(ctx.Err(), s.asIs.same())
}
