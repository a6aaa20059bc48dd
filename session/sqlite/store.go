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
	"github.com/tenon-agent/tenon/session/index"
)

// Store is an [index.Store] in an SQLite file. It is safe for concurrent use, by any number of processes.
type Store struct {
	*reader
	*committer
	*searcher
}

// file is the database on disk: its identity, the reasons why it cannot be used, and the stores that have leases in it.
type file struct {
	path   string      // absolute, without links
	info   fs.FileInfo // at the time of Open; nil: the file is only read
	owner  owner
	closed atomic.Bool

	unwritable error     // the error of every write; nil: the file can be written
	asIs       *snapshot // of a file that is read without locks; nil: there are locks
}

// reader reads the journals. Queries run on the lane if it is free, and on connections of their own if it is not.
type reader struct {
	*file
	lane    lane    // the one connection that writes
	readers *sql.DB // the others
	queries queries // prepared, for readers
	heads   heads   // the last entry of each session, apart from the file
	watch   hub     // wakes watchers of sessions

	listing sync.Mutex // of a list, which looks for more while its rows are open: several would wait for each other's connections

	lost   once // a difference between sessions and heads
	billed once // a difference between sessions and spending
}

// once is a check that is made once. It keeps its error.
type once struct {
	sync.Once
	err error
}

func (o *once) check(f func() error) error {
	o.Do(func() { o.err = f() })
	return o.err
}

// committer writes the journals: it has the writers that wait for the lane together, and the state of the disk.
type committer struct {
	*reader
	group  group
	disk   disk
	onWait atomic.Pointer[func(*session.BusyError)]
}

// searcher has the word index, which it updates from the journals.
type searcher struct {
	*reader
	index wordIndex
}

var _ index.Store = (*Store)(nil)

// newStore returns the store of a file that is not yet open.
func newStore(path string) *Store {
	r := &reader{file: &file{path: path}}
	return &Store{r, &committer{reader: r}, &searcher{reader: r}}
}

// init sets everything that depends on the path.
func (s *Store) init(params url.Values, connections int) {
	s.owner.init(s.path + ".owners")
	s.watch.init(s.owner.dir)
	s.heads.init(s.owner.dir)
	s.lane.init(s.path)
	s.disk.init(s.path)
	s.index.init(s.path)
	s.readers = connect(s.path, params)
	s.readers.SetMaxOpenConns(connections)
	s.readers.SetMaxIdleConns(connections)
}

// Open opens the database at path, and creates it and its directory if they do not exist. If the error is [session.ErrUnwritable],
// [session.ErrFull], [session.ErrCorrupt] or [session.ErrNewer], it wraps that error. The caller closes the store, after its writers.
func Open(path string) (*Store, error) {
	s := newStore(path)
	if err := s.locate(); err != nil {
		return nil, s.fail("open", err)
	}
	s.init(pragmas("query_only(1)", "busy_timeout(20000)"), maxReaders)
	s.lane.slow = s.reportHolder
	if err := s.prepare(); err != nil {
		return nil, errors.Join(s.fail("open", err), s.Close())
	}
	return s, nil
}

// maxReaders is the number of queries that run at once. No query lasts longer than a batch of entries.
const maxReaders = 4

// pragmas are parameters of connections. Queries sort in memory, because a full disk has no space for temporary files.
func pragmas(list ...string) url.Values {
	return url.Values{"_pragma": append(list, "temp_store(MEMORY)")}
}

// connect returns a pool of connections, which open on demand.
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

// prepare checks the identity and the schema of the file, and fills an empty file.
func (s *Store) prepare() error {
	id, err := s.lane.identify(context.Background())
	if err != nil {
		return err
	}
	empty, err := id.check(s.path)
	if err == nil && !empty {
		err = s.uncut()
	}
	if err != nil || !empty {
		return err
	}
	if lost := len(s.heads.all()); lost > 0 {
		return fmt.Errorf("session: %s: %w: it is empty, and %s lists %d sessions; restore a backup, or remove that file to start without them",
			s.path, session.ErrCorrupt, s.heads.path, lost)
	}
	if err := s.lane.logAhead(context.Background()); err != nil {
		return err
	}
	return s.fill(context.Background())
}

// uncut returns an error if the file is truncated. This is known only if no log has further pages.
func (s *reader) uncut() error {
	logged := func() bool {
		log, err := os.Stat(s.path + "-wal")
		return err == nil && log.Size() > 0
	}
	if logged() {
		return nil
	}
	var size int64
	err := s.row(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`, nil, &size)
	if err != nil || logged() {
		return err
	}
	if info, err := os.Stat(s.path); err == nil && info.Size() < size {
		return fmt.Errorf("session: %s: %w: it has %d of %d bytes; restore a backup", s.path, session.ErrCorrupt, info.Size(), size)
	}
	return nil
}

// locate finds the file, or makes an empty one, and restricts it to its owner. The other files of SQLite get the same permissions.
func (s *file) locate() error {
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
	s.info = info
	s.path, err = filepath.EvalSymlinks(path) // one file, one name: the directory of owners is found by it
	return err
}

// create makes an empty file that only its owner can read, whatever the umask, unless it exists. It makes the file under another name first:
// to close a database that this process has open would drop SQLite's locks on it.
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

// makeDir makes a directory that only its owner can read, whatever the umask, unless it exists.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// Close implements [index.Store]. Every Watch ends with an error.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	s.watch.wakeAll()
	s.queries.close()
	return errors.Join(s.index.lane.close(), s.readers.Close(), s.lane.close(), s.disk.close(), s.heads.close(), s.owner.close())
}

// queries are prepared statements of the readers.
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

// rows are the result of a query. Close them once.
type rows struct {
	*sql.Rows
	asIs *snapshot
	done func()
}

func (r rows) Close() error {
	defer r.done()
	return r.Rows.Close()
}

// Err returns the error of the rows up to now.
func (r rows) Err() error { return cmp.Or(r.Rows.Err(), r.asIs.same()) }

// query runs a prepared query, on the lane if it is free: a process that does one thing at a time needs no other connection. It takes no
// context, because queries are short and a context would cost a goroutine.
func (s *reader) query(text string, args ...any) (rows, error) {
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
func (s *reader) row(text string, args []any, dest ...any) error {
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
