package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// OpenToRead opens the database at path as [Open] does, and where that fails because the place cannot be written or is full, to be read
// alone: what would write fails with the error of Open. When another process writes such a file meanwhile, it waits, or what reads fails
// and says so; nothing wrong is read. What a process that died left in the log beside the file is read, too, or the error says why not.
func OpenToRead(path string) (*Store, error) {
	s, err := Open(path)
	if !errors.Is(err, session.ErrUnwritable) && !errors.Is(err, session.ErrFull) {
		return s, err
	}
	unwritable := err
	if path, err = filepath.Abs(path); err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, unwritable
	}
	if s, err = openToRead(path, unwritable); err == nil {
		return s, nil
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil, fmt.Errorf("%w; it cannot be read here either, because its last entries are in %s: copy both to a place that can be written",
			unwritable, log.Name())
	}
	asIs, err := lookAt(path)
	if err != nil {
		return nil, unwritable
	}
	if s, err = openToRead(path, unwritable, asIs); err != nil {
		return nil, unwritable
	}
	return s, nil
}

// openToRead opens a file that cannot be written. Without asIs it is a single connection that locks others out and keeps in memory what
// connections share in a file otherwise: on a full disk that file cannot be made. With it, SQLite takes the file for one that nobody
// changes, and locks nothing.
func openToRead(path string, unwritable error, asIs ...*snapshot) (*Store, error) {
	s := &Store{path: path, unwritable: unwritable}
	s.owner.init(s.path + ".owners")
	s.watch.init(s.owner.dir)
	s.lane.init(s.path)
	s.index.init(s.path)
	params := pragmas("locking_mode(EXCLUSIVE)", "query_only(1)", "busy_timeout(20000)")
	if len(asIs) > 0 {
		s.asIs = asIs[0]
		params.Set("immutable", "1")
	}
	s.readers = connect(path, params)
	s.readers.SetMaxOpenConns(1)
	id, err := s.readIdentity()
	if err == nil && (id.application != applicationID || id.version != len(migrations)) {
		err = errors.New("it would have to be brought up to date before")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) readIdentity() (id identity, err error) {
	c, err := s.readers.Conn(context.Background())
	if err != nil {
		return id, err
	}
	defer c.Close()
	return identify(c)
}

// snapshot is how a file was that is read without locks.
type snapshot struct {
	path string
	size int64
	time time.Time
}

// lookAt takes down how a file is now.
func lookAt(path string) (*snapshot, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &snapshot{path, info.Size(), info.ModTime()}, nil
}

// same returns an error when somebody wrote the file since. Who does so has made a log beside it before, or changes the file.
func (p *snapshot) same() error {
	if p == nil {
		return nil
	}
	now, err := lookAt(p.path)
	if err != nil {
		return err
	}
	if log, err := os.Stat(p.path + "-wal"); err == nil && log.Size() > 0 || !errors.Is(err, fs.ErrNotExist) && err != nil || *now != *p {
		return fmt.Errorf("session: read %s: another process began to write it: try again", p.path)
	}
	return nil
}

// unindexed reports whether an error of the index says that it cannot be brought up to date where it lies. What it is for can be found
// out without it, slowly.
func unindexed(err error) bool {
	if _, ours := errors.AsType[journalError](err); ours {
		return false
	}
	_, cause := classify(err)
	return errors.Is(cause, session.ErrUnwritable) || errors.Is(cause, session.ErrFull)
}

// whole is a store of which damaged entries are passed over, as the index does it: Check tells of them.
type whole struct{ *Store }

// Read implements [search.Journals].
func (s whole) Read(ctx context.Context, id session.SessionID, after int64, _ ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		key, _, _, err := s.find(ctx, id)
		for err == nil {
			var records []record
			if records, err = s.records(key, after, 1<<seqBits-1); err != nil || len(records) == 0 {
				break
			}
			for _, r := range records {
				after = r.Seq
				if err = s.ended(ctx); err != nil {
					break
				}
				if r.broken == nil && !yield(r.Event, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(session.Event{}, s.fail("read", err))
		}
	}
}

// scan is search without the index.
func (s *Store) scan(ctx context.Context, q session.SearchQuery) (hits []session.Hit, err error) {
	for h, err := range search.Scan(ctx, whole{s}, q) {
		if err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// countCalls adds the calls of tools, without the index.
func (s *Store) countCalls(ctx context.Context, ids map[int64]session.SessionID, sum *session.Tally) error {
	for _, id := range ids {
		var run session.RunID
		agent := ""
		for e, err := range (whole{s}).Read(ctx, id, 0) {
			if errors.Is(err, session.ErrNotFound) { // purged meanwhile
				break
			}
			if err != nil {
				return err
			}
			if b, ok := e.Body.(session.RunStarted); ok && e.Run != "" {
				run, agent = e.Run, session.AgentOf(b)
			}
			if row, ok := session.RowOf(e, true); ok && row.Calls > 0 {
				if row.Session = id; e.Run == run {
					row.Agent = agent
				}
				sum.Add(row)
			}
		}
	}
	return nil
}
