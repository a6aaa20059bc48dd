package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenon-agent/tenon/session"
)

// Store is a [session.Store] in an SQLite file. It is safe for concurrent use, by any number of processes.
type Store struct {
	path    string  // absolute, without links
	lane    lane    // the one connection that writes
	readers *sql.DB // those that read while another goroutine has the lane
	queries queries // prepared, for readers
	owner   owner   // our proof of life, and that of others
	watch   hub     // those who wait for entries
	index   index   // for Search, beside the journal
	closed  atomic.Bool

	unwritable error     // what a write says: the file can only be read; nil: it can be written
	asIs       *snapshot // how the file is that is read without locks; nil: there are locks
}

var _ session.Store = (*Store)(nil)

// Open opens the database at path, and makes it and its directory when they are not there. The error says which of
// [session.ErrUnwritable], [session.ErrFull], [session.ErrCorrupt] and [session.ErrNewer] it is, if it is one of them. The
// caller closes the store, after its writers.
func Open(path string) (*Store, error) {
	s := &Store{path: path}
	if err := s.locate(); err != nil {
		return nil, s.fail("open", err)
	}
	s.owner.init(s.path + ".owners")
	s.watch.init(s.owner.dir)
	s.lane.init(s.path)
	s.index.init(s.path)
	s.readers = connect(s.path, pragmas("query_only(1)", "busy_timeout(20000)"))
	s.readers.SetMaxOpenConns(maxReaders)
	s.readers.SetMaxIdleConns(maxReaders)
	if err := s.prepare(); err != nil {
		return nil, errors.Join(s.fail("open", err), s.Close())
	}
	return s, nil
}

// maxReaders is how many queries run at once. No query lasts longer than a batch of entries.
const maxReaders = 4

// pragmas are parameters of connections. What a query sorts stays in memory: on a full disk there is no other place.
func pragmas(list ...string) url.Values {
	return url.Values{"_pragma": append(list, "temp_store(MEMORY)")}
}

// connect returns a pool of connections that open when they are needed.
func connect(path string, params url.Values) *sql.DB {
	slash := filepath.ToSlash(path)
	if !strings.HasPrefix(slash, "/") { // such as C:/
		slash = "/" + slash
	}
	name := url.URL{Scheme: "file", Path: slash, RawQuery: params.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		panic(err) // the driver is imported, and opens nothing yet
	}
	return db
}

// prepare makes sure that the file is ours and its schema the one we know.
func (s *Store) prepare() error {
	id, err := s.lane.identify(context.Background())
	if err != nil {
		return err
	}
	todo, err := id.check(s.path)
	if err != nil || !todo {
		return err
	}
	if err := s.lane.logAhead(context.Background()); err != nil {
		return err
	}
	return s.migrate(context.Background())
}

// locate finds the file, or makes an empty one, and sees to it that it is its owner's alone. The files that SQLite puts
// beside it get the same permissions.
func (s *Store) locate() error {
	path, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path); err == nil {
			info, err = os.Stat(path)
		}
	}
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("session: %s is no regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		_ = os.Chmod(path, 0o600) // of another owner's file the permissions are not ours to change
	}
	s.path, err = filepath.EvalSymlinks(path) // one file, one name: the directory of owners is found by it
	return err
}

// create makes an empty file for its owner alone, whatever the umask, unless there is one. It makes it under another name
// first: to close a database that somebody in this process has open already would drop SQLite's locks on it.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := makeDir(dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // a file system without hard links
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// makeDir makes a directory for its owner alone, whatever the umask, unless there is one.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// Close implements [session.Store]. Who watches is told that the store was closed.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.watch.wakeAll()
	s.queries.close()
	return errors.Join(s.index.lane.close(), s.readers.Close(), s.lane.close(), s.owner.close())
}

// queries are prepared statements of the readers, made when they are first used.
type queries struct {
	mu     sync.Mutex
	byText map[string]*sql.Stmt
}

func (q *queries) get(db *sql.DB, text string) (*sql.Stmt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if stmt := q.byText[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := db.Prepare(text)
	if err != nil {
		return nil, err
	}
	if q.byText == nil {
		q.byText = map[string]*sql.Stmt{}
	}
	q.byText[text] = stmt
	return stmt, nil
}

func (q *queries) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, stmt := range q.byText {
		_ = stmt.Close()
	}
	q.byText = nil
}

// rows are the result of a query. They must be closed, once.
type rows struct {
	*sql.Rows
	asIs *snapshot
	done func()
}

func (r rows) Close() error {
	defer r.done()
	return r.Rows.Close()
}

// Err is what went wrong with what was read up to now.
func (r rows) Err() error { return cmp.Or(r.Rows.Err(), r.asIs.same()) }

// query runs a prepared query: on the lane when nobody has it, for a process that does one thing at a time needs no other connection.
// It takes no context: what reads is short, and a context would cost a goroutine.
func (s *Store) query(text string, args ...any) (rows, error) {
	if done, ok := s.lane.spare(); ok {
		stmt, err := s.lane.stmt(text)
		if err == nil {
			var r *sql.Rows
			if r, err = stmt.Query(args...); err == nil {
				return rows{r, s.asIs, done}, nil
			}
		}
		done()
		if !isBusy(err) { // readers have the patience
			return rows{}, err
		}
	}
	stmt, err := s.queries.get(s.readers, text)
	if err != nil {
		return rows{}, err
	}
	r, err := stmt.Query(args...)
	return rows{r, s.asIs, func() {}}, err
}

// row runs a prepared query for one row, into dest.
func (s *Store) row(text string, args []any, dest ...any) error {
	r, err := s.query(text, args...)
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Next() {
		return cmp.Or(r.Scan(dest...), r.Err())
	}
	if err := r.Err(); err != nil {
		return err
	}
	return sql.ErrNoRows
}
