package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// Compact gives the space of what was purged back to the system, and takes its words out of the index of searches. It returns by how many
// bytes the files are smaller. It moves a megabyte at a time, and others write between. A file that was made before versions did so is
// written anew, once, if nobody holds a lease in it. It may be interrupted; what was moved stays moved.
func (s *Store) Compact(ctx context.Context) (freed int64, err error) {
	if err := s.ended(ctx); err != nil {
		return 0, err
	}
	if s.unwritable != nil {
		return 0, s.unwritable
	}
	before := s.onDisk()
	err = s.fail("make smaller", s.lane.shrink(ctx, s.owner.alone))
	if _, none := os.Stat(s.index.path); none == nil {
		err = errors.Join(err, s.indexFail(s.index.use(ctx, func() error { return s.compactIndex(ctx) })))
	}
	return max(0, before-s.onDisk()), err
}

// onDisk is the size of all files.
func (s *Store) onDisk() (size int64) {
	for _, path := range []string{s.path, s.index.path} {
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(path + suffix); err == nil {
				size += info.Size()
			}
		}
	}
	return size
}

// compactIndex takes what is of purged sessions out of the index. What is not yet in it can wait for the next search.
func (s *Store) compactIndex(ctx context.Context) error {
	_, gone, err := s.behind()
	if err != nil {
		return err
	}
	if err := s.index.forgetAll(ctx, gone); err != nil {
		return err
	}
	if err := s.index.tidy(ctx); err != nil {
		return err
	}
	return s.index.lane.shrinkInTurn(ctx) // who searches meanwhile waits
}

// shrink takes the turn for each step.
func (l *lane) shrink(ctx context.Context, alone func() bool) error {
	for left := math.MaxInt; left > 0; {
		if err := l.take(ctx); err != nil {
			return err
		}
		var err error
		left, err = l.shrinkStep(ctx, left, alone)
		l.turn <- struct{}{}
		if err != nil {
			return err
		}
	}
	return nil
}

// shrinkInTurn is shrink for who has the turn.
func (l *lane) shrinkInTurn(ctx context.Context) (err error) {
	for left := math.MaxInt; left > 0 && err == nil; {
		left, err = l.shrinkStep(ctx, left, func() bool { return true })
	}
	return err
}

// stepPages is how many pages are moved at once.
const stepPages = 256

// The values of PRAGMA auto_vacuum.
const (
	neverShrinks = 0
	shrinksAsked = 2
)

// shrinkStep moves some pages from the end of the file to free ones before, and returns how many are still free: as many as were left
// before or more when others free them as well, which is for them to go on with. The last step puts the log into the file, and cuts both.
func (l *lane) shrinkStep(ctx context.Context, before int, alone func() bool) (left int, err error) {
	var pages, free, mode int
	err = l.patiently(ctx, func() error {
		return l.row(`SELECT page_count, freelist_count, auto_vacuum FROM pragma_page_count, pragma_freelist_count, pragma_auto_vacuum`,
			nil, &pages, &free, &mode)
	})
	switch {
	case err != nil:
		return 0, err
	case free == 0, free >= before, mode == neverShrinks && free < pages/16: // for so little it is not written anew
		return 0, l.patiently(ctx, l.checkpoint)
	case mode == neverShrinks && !alone():
		return 0, errors.New("another process writes sessions, and this file, which an earlier version made, must be written anew for it")
	case mode == neverShrinks:
		return free, l.patiently(ctx, func() error { return l.writeAnew(ctx) })
	}
	return free, l.patiently(ctx, func() error { return l.moveSome(ctx, stepPages) })
}

// checkpoint puts the log into the file, as far as nobody still reads the file as it was, and empties it.
func (l *lane) checkpoint() error {
	var busy, pages, moved int
	err := l.row(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &pages, &moved)
	if isBusy(err) {
		return nil
	}
	return err
}

// moveSome is a transaction of its own.
func (l *lane) moveSome(ctx context.Context, pages int) error {
	rows, err := l.conn.QueryContext(ctx, fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() { // a row for each page
		continue
	}
	return rows.Err()
}

// writeAnew writes a file anew, in a form that can be made smaller step by step. A copy of it lies in a temporary file meanwhile.
func (l *lane) writeAnew(ctx context.Context) error {
	if _, err := l.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA temp_store = FILE; PRAGMA auto_vacuum = %d`, shrinksAsked)); err != nil {
		return err
	}
	_, err := l.conn.ExecContext(ctx, `VACUUM`)
	_, back := l.conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA temp_store = MEMORY`)
	return errors.Join(err, back)
}

// alone reports whether no other store that lives ever had a lease.
func (o *owner) alone() bool {
	files, _ := filepath.Glob(filepath.Join(escape(o.dir), "*"+lockSuffix))
	for _, path := range files {
		if path != o.file(o.name) && !o.dead(path) {
			return false
		}
	}
	return true
}
