package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/session"
)

// wordIndex is the search index, a second database next to the journal. Appends do not change it; searches and counts of calls update it
// first. It can be removed at any time. The store makes it again if it is missing, damaged or of an older version.
//
// The index of words is that of FTS5, without texts (content=”): snippets come from the journal. Its tokenizer splits at spaces only, because
// package search makes the words.
type wordIndex struct {
	path string
	lane lane
	open bool // the file was checked; guarded by the lane
}

// indexVersion grows with every change of the schema below and of the words of package search.
const indexVersion = 1

// indexID marks the file: "TenS" in ASCII.
const indexID = 0x54656e53

const indexSchema = `
	CREATE VIRTUAL TABLE said USING fts5(
		about,    -- s and the key of the session
		words, parts, thinking,
		content = '', contentless_delete = 1, tokenize = 'ascii');
	CREATE TABLE docs (
		doc    INTEGER PRIMARY KEY, -- rowid in said; they grow with the time, nearly
		place  INTEGER NOT NULL,    -- of the entry
		time   INTEGER NOT NULL,
		weight REAL NOT NULL
	);
	CREATE TABLE calls (
		place  INTEGER PRIMARY KEY,
		time   INTEGER NOT NULL,
		tool   TEXT NOT NULL,
		agent  TEXT NOT NULL,
		failed INTEGER NOT NULL,
		bytes  INTEGER NOT NULL
	);
	CREATE TABLE done ( -- the last entry of each session in the index
		key   INTEGER PRIMARY KEY,
		id    TEXT NOT NULL,
		seq   INTEGER NOT NULL,
		run   TEXT NOT NULL, -- the last that began, and its agent
		agent TEXT NOT NULL
	);
	CREATE TABLE waste (docs INTEGER NOT NULL); -- removed ones with words in the file
	INSERT INTO waste VALUES (0);
	-- The words of a whole transaction are sorted in memory.
	INSERT INTO said (said, rank) VALUES ('hashsize', 16777216);
	`

func (x *wordIndex) init(journal string) {
	ext := filepath.Ext(journal)
	x.path = strings.TrimSuffix(journal, ext) + "-search" + ext
	x.lane.init(x.path)
}

// use runs f with exclusive use of the index. If the file is damaged, use makes it again and repeats f.
func (x *wordIndex) use(ctx context.Context, f func() error) error {
	if err := x.lane.take(ctx); err != nil {
		return err
	}
	defer func() { x.lane.turn <- struct{}{} }()
	err := x.ready(ctx)
	if err == nil {
		err = f()
	}
	if _, ours := errors.AsType[journalError](err); ours {
		return err
	}
	if _, cause := classify(err); !errors.Is(cause, session.ErrCorrupt) {
		return err
	}
	if err := x.remove(); err != nil {
		return err
	}
	if err := x.ready(ctx); err != nil {
		return err
	}
	return f()
}

// ready opens the file, and makes it if it does not exist or is of an older version.
func (x *wordIndex) ready(ctx context.Context) error {
	if x.lane.closed {
		return errClosed
	}
	if _, err := os.Stat(x.path); x.open && err == nil {
		return nil
	}
	for range 2 {
		if err := x.letGo(); err != nil { // the file that is open may have been removed
			return err
		}
		if err := create(x.path); err != nil {
			return err
		}
		older, err := x.prepare(ctx)
		if err != nil || !older {
			x.open = err == nil
			return err
		}
		if err := x.remove(); err != nil {
			return err
		}
	}
	return fmt.Errorf("session: %s cannot be made again: remove it, and its -wal and -shm files", x.path)
}

// prepare makes the tables in an empty file, and says whether the file is of an older version.
func (x *wordIndex) prepare(ctx context.Context) (older bool, err error) {
	l := &x.lane
	err = l.patiently(ctx, func() error {
		id, err := identify(l.conn)
		switch {
		case err != nil:
			return err
		case id == identity{}:
		case id.application != indexID:
			return fmt.Errorf("session: %s is the SQLite database of another program: move it away", x.path)
		case id.version > indexVersion:
			return fmt.Errorf("session: %s: %w: update Tenon", x.path, session.ErrNewer)
		default:
			older = id.version < indexVersion
			return nil
		}
		var mode string
		if err := l.exec(fmt.Sprintf("PRAGMA auto_vacuum = %d", shrinksAsked)); err != nil {
			return err
		}
		if err := l.row("PRAGMA journal_mode = WAL", nil, &mode); err != nil {
			return err
		}
		if err := l.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		if id, err = identify(l.conn); err == nil && id == (identity{}) { // no other process was faster
			_, err = l.conn.ExecContext(context.Background(),
				indexSchema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", indexID, indexVersion))
		}
		if err == nil {
			err = l.exec("COMMIT")
		}
		if err != nil {
			_ = l.exec("ROLLBACK")
		}
		return err
	})
	return older, err
}

// letGo closes the connection.
func (x *wordIndex) letGo() error {
	l := &x.lane
	var errs []error
	for text, stmt := range l.stmts {
		errs = append(errs, stmt.Close())
		delete(l.stmts, text)
	}
	if l.conn != nil {
		errs = append(errs, l.conn.Close(), l.db.Close())
		l.conn = nil
		l.db = lanePool(x.path)
	}
	x.open = false
	return errors.Join(errs...)
}

// remove removes the file. Another process that has it open notices at its next use.
func (x *wordIndex) remove() error {
	err := x.letGo()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if gone := os.Remove(x.path + suffix); !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// write runs f in a transaction.
func (x *wordIndex) write(ctx context.Context, f func() error) error {
	l := &x.lane
	if err := l.patiently(ctx, func() error { return l.exec("BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = l.exec("COMMIT")
	}
	if err != nil {
		_ = l.exec("ROLLBACK")
	}
	return err
}
