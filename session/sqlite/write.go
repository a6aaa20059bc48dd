package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// lane is the one connection that writes, and reads when there is nothing to write. Who has the turn may use it.
type lane struct {
	db     *sql.DB
	turn   chan struct{} // holds one token
	conn   *sql.Conn     // nil until it is needed
	stmts  map[string]*sql.Stmt
	agents agents // of the last runs
	synced bool   // PRAGMA synchronous is FULL
	closed bool
}

// patience is how long a write waits for other processes. Theirs take milliseconds; this is for a disk that hangs.
const patience = time.Minute

func (l *lane) init(path string) {
	l.db = lanePool(path)
	l.turn = make(chan struct{}, 1)
	l.turn <- struct{}{}
	l.stmts = map[string]*sql.Stmt{}
}

// lanePool is where a lane has its connection from. SQLite's own waiting does not end with a context, so it is kept short and
// write goes around again.
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

// spare takes the turn if that is to be had at once and the connection is open.
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

// identify reads what the file says that it is.
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
}

// exec runs a prepared statement. No context: a write is short, and all or nothing.
func (l *lane) exec(text string, args ...any) error {
	stmt, err := l.stmt(text)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(context.Background(), args...)
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

// write runs f in a transaction that has the database to itself, and waits for its turn before: for other goroutines, then
// for other processes. With sync it is on the disk when write returns. What f did is undone when it fails.
func (s *Store) write(ctx context.Context, what string, sync bool, f func(*txn) error) error {
	if err := s.ended(ctx); err != nil {
		return err
	}
	if s.unwritable != nil {
		return s.unwritable
	}
	l := &s.lane
	if err := l.take(ctx); err != nil {
		return err
	}
	defer func() { l.turn <- struct{}{} }()
	if err := l.begin(ctx, sync); err != nil {
		return s.fail(what, err)
	}
	t := txn{lane: l}
	err := f(&t)
	if err == nil && t.changed != "" {
		// A first ring before the change is there to be seen: those who hear it look again a little later, also when this
		// process dies before the second ring.
		err = s.owner.ring()
	}
	if err == nil {
		err = l.exec("COMMIT")
	}
	if err != nil {
		_ = l.exec("ROLLBACK") // there may be nothing left to undo
		return s.fail(what, err)
	}
	if t.changed != "" {
		_ = s.owner.ring() // the change stands, and the first ring is late but not lost
		s.watch.wake(t.changed)
	}
	return nil
}

// begin starts a transaction once no other process writes.
func (l *lane) begin(ctx context.Context, sync bool) error {
	return l.patiently(ctx, func() error {
		if sync != l.synced {
			mode := "PRAGMA synchronous = NORMAL"
			if sync {
				mode = "PRAGMA synchronous = FULL"
			}
			if err := l.exec(mode); err != nil {
				return err
			}
			l.synced = sync
		}
		return l.exec("BEGIN IMMEDIATE")
	})
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

// patiently does f again as long as another process keeps the database locked.
func (l *lane) patiently(ctx context.Context, f func() error) error {
	for start := time.Now(); ; {
		err := l.connect(ctx)
		if err == nil {
			err = f()
		}
		if err == nil || !isBusy(err) || time.Since(start) > patience {
			return err
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
