package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"modernc.org/sqlite"

	"github.com/tenon-agent/tenon/session"
)

// lane is the one connection that writes, and that reads while it is free. The goroutine that has the turn uses it.
type lane struct {
	path   string
	db     *sql.DB
	turn   chan struct{} // holds one token
	conn   *sql.Conn     // nil until it is needed
	stmts  map[string]*sql.Stmt
	agents agents                       // of the last runs
	rows   map[session.SessionID]stored // that were changed last
	full   bool                         // SQLite syncs within COMMIT
	synced int64                        // such commits
	closed bool
	slow   func() // is called if another process keeps the database locked for a while; may be nil
}

// patience is the time that a write waits for other processes. Their transactions take milliseconds, unless the disk hangs.
const patience = time.Minute

func (l *lane) init(path string) {
	l.path = path
	l.db = lanePool(path)
	l.turn = make(chan struct{}, 1)
	l.turn <- struct{}{}
	l.stmts = map[string]*sql.Stmt{}
}

// lanePool is the pool of the connection of a lane. SQLite's own wait ignores contexts, so it is short, and patiently repeats it.
func lanePool(path string) *sql.DB {
	return connect(path, pragmas("busy_timeout(200)", "synchronous(NORMAL)"))
}

func (l *lane) close() error {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	l.closed = true
	var errs []error
	for _, stmt := range l.stmts {
		errs = append(errs, stmt.Close())
	}
	if l.conn != nil {
		errs = append(errs, l.conn.Close())
	}
	return errors.Join(append(errs, l.db.Close())...)
}

// connect opens the connection.
func (l *lane) connect(ctx context.Context) (err error) {
	if l.closed {
		return errClosed
	}
	if l.conn == nil {
		l.conn, err = l.db.Conn(context.WithoutCancel(ctx))
	}
	return err
}

// take waits for the turn.
func (l *lane) take(ctx context.Context) error {
	select {
	case <-l.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// spare takes the turn if it is free and the connection is open.
func (l *lane) spare() (done func(), ok bool) {
	select {
	case <-l.turn:
	default:
		return nil, false
	}
	done = func() { l.turn <- struct{}{} }
	if l.conn == nil || l.closed {
		done()
		return nil, false
	}
	return done, true
}

// identify reads the identity of the file.
func (l *lane) identify(ctx context.Context) (id identity, err error) {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	err = l.patiently(ctx, func() error {
		id, err = identify(l.conn)
		return err
	})
	return id, err
}

// txn is a transaction that writes.
type txn struct {
	*lane
	changed session.SessionID // the session that readers should look at again
	wrote   bool              // an entry
	head    *head             // of the session that changed
}

// exec runs a prepared statement, without a context because writes are short.
func (l *lane) exec(text string, args ...any) error {
	_, err := l.update(text, args...)
	return err
}

// update is exec, and returns how many rows the statement changed.
func (l *lane) update(text string, args ...any) (rows int64, err error) {
	stmt, err := l.stmt(text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// syncs sets whether SQLite syncs within COMMIT. It is the fastest sync if no other goroutine appends meanwhile.
func (l *lane) syncs(ctx context.Context, full bool) error {
	if full == l.full {
		return nil
	}
	mode := "PRAGMA synchronous = NORMAL"
	if full {
		mode = "PRAGMA synchronous = FULL"
	}
	err := l.connect(ctx)
	if err == nil {
		err = l.exec(mode)
	}
	l.full = full && err == nil
	return err
}

// row runs a prepared query for one row, into dest.
func (l *lane) row(text string, args []any, dest ...any) error {
	stmt, err := l.stmt(text)
	if err != nil {
		return err
	}
	return stmt.QueryRowContext(context.Background(), args...).Scan(dest...)
}

func (l *lane) stmt(text string) (*sql.Stmt, error) {
	if stmt := l.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := l.conn.PrepareContext(context.Background(), text)
	if err == nil {
		l.stmts[text] = stmt
	}
	return stmt, err
}

// write runs f in an exclusive transaction. It first waits for other goroutines, then for other processes. With sync, the change is on the
// disk when write returns. If f fails, it has no effect.
func (s *committer) write(ctx context.Context, what string, sync bool, f func(*txn) error) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	err := s.lane.take(ctx)
	if err != nil {
		return err
	}
	j := &job{f: f, sync: sync}
	if j.err = s.begin(ctx, false); j.err == nil {
		j.err = s.commit([]*job{j})
	}
	s.lane.turn <- struct{}{}
	return s.fail(what, s.settle(j))
}

// settle syncs the change of a job if that is still to be done, and keeps its head. It returns the error of the job.
func (s *committer) settle(j *job) error {
	err := j.err
	switch {
	case err != nil:
		return err
	case j.sync && !j.synced:
		err = s.sync(j)
	case j.head != nil:
		s.heads.keep(j.head, false)
	}
	if h := j.head; h != nil && h.loose {
		// A purge may have come between the commit and the line before, and has cleared the slot too early. A purge that comes later clears it again
		// after its own commit.
		if _, gone := rowNamed(s, h.id); errors.Is(gone, session.ErrNotFound) {
			s.heads.keep(&head{key: h.key, id: h.id}, false)
		}
	}
	return err
}

// sync waits until the change of a job is on the disk.
func (s *committer) sync(j *job) error {
	err := s.disk.sync()
	if j.head != nil {
		if err == nil {
			j.head.synced = j.head.seq
		}
		s.heads.keep(j.head, false)
	}
	return err
}

// writable returns an error if the store cannot be written.
func (s *file) writable(ctx context.Context) error { return cmp.Or(s.ended(ctx), s.unwritable) }

// begin starts a transaction once no other process writes, and rings the bell with the name of this process. Watchers that hear the ring look
// again a little later, also if this process dies before its second ring. With full, SQLite syncs within COMMIT.
func (s *committer) begin(ctx context.Context, full bool) error {
	if err := s.replaced(); err != nil {
		return err
	}
	if err := s.lane.syncs(ctx, full); err != nil {
		return err
	}
	err := s.lane.patiently(ctx, func() error { return s.lane.exec("BEGIN IMMEDIATE") })
	if err == nil {
		s.owner.ring()
	}
	return err
}

// commit runs jobs in the transaction that begin started, and commits it. A job that fails before it changes anything, such as that of a
// fenced writer, does not affect the others. Any other error rolls back all jobs.
func (s *committer) commit(jobs []*job) error {
	l := &s.lane
	var err error
	for _, j := range jobs {
		t := txn{lane: l}
		j.err = j.f(&t)
		_, broken := errors.AsType[*sqlite.Error](j.err) // it may have ended the transaction
		if broken || j.err != nil && (t.wrote || len(jobs) == 1) {
			err = j.err
			break
		}
		j.changed, j.head = t.changed, t.head
		if j.head != nil && j.head.seq == 0 { // of a purged session: the file must not name its entries once they are gone
			s.heads.keep(j.head, false)
		}
	}
	if err == nil {
		err = l.exec("COMMIT")
	}
	if err != nil {
		_ = l.exec("ROLLBACK") // SQLite may have done so itself
		return err
	}
	if l.full {
		l.synced++
	}
	rang := false
	for _, j := range jobs {
		if j.err != nil || j.changed == "" {
			continue
		}
		if j.synced = l.full; j.synced && j.head != nil {
			j.head.synced = j.head.seq
		}
		if !rang {
			s.owner.ring()
			rang = true
		}
		s.watch.wake(j.changed)
	}
	return nil
}

// logAhead puts a new file in write-ahead mode, once no other process reads or writes it. Before its first page is made it is set to be made
// smaller when that is asked for: see Compact.
func (l *lane) logAhead(ctx context.Context) error {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	return l.patiently(ctx, func() error {
		var mode string
		if err := l.exec(fmt.Sprintf("PRAGMA auto_vacuum = %d", shrinksAsked)); err != nil {
			return err
		}
		err := l.row("PRAGMA journal_mode = WAL", nil, &mode)
		if err == nil && mode != "wal" {
			err = errors.New("its file system does not support SQLite's write-ahead log: choose a local one")
		}
		return err
	})
}

// noticed is the time after which a waiting write reports the process that it waits for.
const noticed = 700 * time.Millisecond

// patiently repeats f while another process keeps the database locked.
func (l *lane) patiently(ctx context.Context, f func() error) error {
	said := false
	for start := time.Now(); ; {
		err := l.connect(ctx)
		if err == nil {
			err = f()
		}
		if err == nil || !isBusy(err) || time.Since(start) > patience {
			return withCause(l.path, err)
		}
		if !said && l.slow != nil && time.Since(start) > noticed {
			said = true
			l.slow()
		}
		pause := time.NewTimer(time.Duration(1+rand.IntN(5)) * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}
