package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
)

// Compact returns the space of purged sessions to the system, and removes their words from the search index. It returns the number of freed
// bytes. It moves a megabyte at a time, and other processes write in between. After an interruption it continues.
func (s *Store) Compact(ctx context.Context) (freed int64, err error) {
	if err := s.ended(ctx); err != nil {
		return 0, err
	}
	if s.unwritable != nil {
		return 0, s.unwritable
	}
	before := s.onDisk()
	err = s.fail("make smaller", s.lane.shrink(ctx))
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

// compactIndex removes purged sessions from the index. It does not add new entries.
func (s *searcher) compactIndex(ctx context.Context) error {
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
	return s.index.lane.shrinkInTurn(ctx) // searches wait
}

// shrink takes the turn for each step.
func (l *lane) shrink(ctx context.Context) error {
	for left := math.MaxInt; left > 0; {
		if err := l.take(ctx); err != nil {
			return err
		}
		var err error
		left, err = l.shrinkStep(ctx, left)
		l.turn <- struct{}{}
		if err != nil {
			return err
		}
	}
	return nil
}

// shrinkInTurn is shrink for a caller that has the turn.
func (l *lane) shrinkInTurn(ctx context.Context) (err error) {
	for left := math.MaxInt; left > 0 && err == nil; {
		left, err = l.shrinkStep(ctx, left)
	}
	return err
}

// stepPages is the number of pages to move at once.
const stepPages = 256

// shrinksAsked is the value of PRAGMA auto_vacuum for files that shrink on request.
const shrinksAsked = 2

// shrinkStep moves some pages from the end of the file to free ones, and returns the number of pages that were free before. If it is not
// smaller than in the previous step, another process shrinks the file too, and this one stops. The last step truncates the file and its log.
func (l *lane) shrinkStep(ctx context.Context, before int) (left int, err error) {
	var free int
	err = l.patiently(ctx, func() error { return l.row(`PRAGMA freelist_count`, nil, &free) })
	if err != nil {
		return 0, err
	}
	if free == 0 || free >= before {
		return 0, l.patiently(ctx, l.checkpoint)
	}
	return free, l.patiently(ctx, func() error { return l.moveSome(ctx, stepPages) })
}

// checkpoint moves the log into the file, as far as no reader needs the old state, and truncates the log.
func (l *lane) checkpoint() error {
	var busy, pages, moved int
	err := l.row(`PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &pages, &moved)
	if isBusy(err) {
		return nil
	}
	return err
}

// moveSome moves pages in a transaction of its own.
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
