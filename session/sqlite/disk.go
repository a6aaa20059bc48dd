package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/tenon-agent/tenon/session"
)

// disk syncs the write-ahead log. If SQLite synced within COMMIT, appends without a sync would wait for the disk too. SQLite has synced the
// pages that a checkpoint moved out of the log since the commit.
type disk struct {
	path string // of the log

	mu      sync.Mutex
	over    sync.Cond
	log     *os.File
	file    os.FileInfo // of log
	begun   int64       // syncs
	ended   int64
	failed  int64 // the last that failed, and why
	why     error
	running bool
}

func (d *disk) init(path string) {
	d.path = path + "-wal"
	d.over.L = &d.mu
}

// sync returns when all earlier commits are on the disk. Callers that wait together share a sync.
func (d *disk) sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	mine := d.begun + 1 // one that runs already may have begun before the commit
	for d.ended < mine {
		if d.running {
			d.over.Wait()
			continue
		}
		d.begun++
		d.running = true
		d.mu.Unlock()
		err := d.flush()
		d.mu.Lock()
		d.running = false
		if d.ended = d.begun; err != nil {
			d.failed, d.why = d.ended, err
		}
		d.over.Broadcast()
	}
	if d.failed >= mine {
		return d.why
	}
	return nil
}

// flush syncs the log. One goroutine at a time calls it.
func (d *disk) flush() error {
	if d.log == nil {
		log, err := os.OpenFile(d.path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(d.path)); err != nil {
			_ = log.Close()
			return err
		}
		if d.file, err = log.Stat(); err != nil {
			_ = log.Close()
			return err
		}
		d.log = log
	}
	if err := sameAs(d.file, d.path); err != nil {
		return err
	}
	return syncFile(d.log)
}

// syncDir makes the names of new files durable.
func syncDir(path string) error {
	if runtime.GOOS == "windows" { // where a directory cannot be synced
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// sameAs returns an error if another file, or none, is at the path of a file that is open.
func sameAs(was os.FileInfo, path string) error {
	if now, err := os.Stat(path); err != nil || !os.SameFile(was, now) {
		return fmt.Errorf("session: %s: %w: end this process and start again", path, session.ErrReplaced)
	}
	return nil
}

// replaced returns an error if the database is no longer the file that was opened.
func (s *file) replaced() error {
	if s.info == nil {
		return nil
	}
	return sameAs(s.info, s.path)
}

func (d *disk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log == nil {
		return nil
	}
	return d.log.Close()
}
