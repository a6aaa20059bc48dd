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
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// OpenToRead opens the database at path as [Open] does. If the file cannot be written, or the disk is full or fails, it opens the file only
// for reading: writes fail with the error of Open. If another process writes such a file meanwhile, it waits, or reads fail; a read never
// returns wrong data. Entries of a dead process in the log are read too, or the error says why not.
func OpenToRead(path string) (*Store, error) {
	s, err := Open(path)
	if !readable(err) {
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

// openToRead opens a file that cannot be written. Without asIs it is a single exclusive connection without shared memory, because the file of
// the shared memory cannot be made. With asIs, SQLite assumes that the file does not change, and locks nothing.
func openToRead(path string, unwritable error, asIs ...*snapshot) (*Store, error) {
	s := newStore(path)
	s.unwritable = unwritable
	params := pragmas("locking_mode(EXCLUSIVE)", "query_only(1)", "busy_timeout(20000)")
	if len(asIs) > 0 {
		s.asIs = asIs[0]
		params.Set("immutable", "1")
	}
	s.init(params, 1)
	id, err := s.readIdentity()
	if err == nil && (id.application != applicationID || id.version != schemaVersion) {
		err = errors.New("it would have to be brought up to date before")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *reader) readIdentity() (id identity, err error) {
	c, err := s.readers.Conn(context.Background())
	if err != nil {
		return id, err
	}
	defer c.Close()
	return identify(c)
}

// snapshot is the state of a file that is read without locks.
type snapshot struct {
	path string
	size int64
	time time.Time
}

// lookAt returns the current state of a file.
func lookAt(path string) (*snapshot, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &snapshot{path, info.Size(), info.ModTime()}, nil
}

// same returns an error if another process wrote the file since. A writer first makes a log next to the file, or changes the file.
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

// unindexed reports whether the index cannot be updated where it is. Searches then read all entries.
func unindexed(err error) bool {
	if _, ours := errors.AsType[journalError](err); ours {
		return false
	}
	_, cause := classify(err)
	return readable(cause)
}

// readable reports whether a file that cannot be used for this reason may be readable.
func readable(cause error) bool {
	return errors.Is(cause, session.ErrUnwritable) || errors.Is(cause, session.ErrFull) || errors.Is(cause, session.ErrIO)
}

// whole is a store whose Read skips damaged entries, as the index does. Check reports them.
type whole struct{ *reader }

// Read implements [index.Journals].
func (s whole) Read(ctx context.Context, id session.SessionID, after int64, _ ...string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		found, err := s.find(ctx, id)
		for err == nil {
			var records []record
			if records, err = s.records(found.key, after, 1<<seqBits-1); err != nil || len(records) == 0 {
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
func (s *searcher) scan(ctx context.Context, q search.Request) (hits []search.Hit, err error) {
	for h, err := range index.Scan(ctx, whole{s.reader}, q) {
		if err != nil {
			return nil, err
		}
		hits = append(hits, h)
	}
	return hits, nil
}

// countCalls adds the calls of tools, without the index.
func (s *searcher) countCalls(ctx context.Context, ids map[int64]session.SessionID, sum *index.Tally) error {
	for _, id := range ids {
		var run session.RunID
		agent := ""
		for e, err := range (whole{s.reader}).Read(ctx, id, 0) {
			if errors.Is(err, session.ErrNotFound) { // purged meanwhile
				break
			}
			if err != nil {
				return err
			}
			if b, ok := e.Body.(session.RunStarted); ok && e.Run != "" {
				run, agent = e.Run, index.AgentOf(b)
			}
			if row, ok := index.RowOf(e, true); ok && row.Calls > 0 {
				if row.Session = id; e.Run == run {
					row.Agent = agent
				}
				sum.Add(row)
			}
		}
	}
	return nil
}
