package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"github.com/tenon-agent/tenon/session"
)

// Backup writes a copy of all sessions at one moment to a new file. Other processes may write meanwhile.
func (s *Store) Backup(ctx context.Context, file string) error {
	if err := s.ended(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("cannot write the backup: %s: %w", file, fs.ErrExist)
	}
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".part-*") // only its owner can read it
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	if err := part.Close(); err != nil {
		return err
	}
	db := connect(s.path, pragmas("busy_timeout(20000)")) // the readers cannot write to any file
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, part.Name())
	if err = errors.Join(err, db.Close()); err != nil {
		return s.fail("back up", err)
	}
	copied, err := os.OpenFile(part.Name(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(copied.Sync(), copied.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), file)
}

// restorer is a connection of the driver.
type restorer interface {
	NewRestore(from string) (*sqlite.Backup, error)
}

// Restore replaces all sessions in the database at path by those of a backup, in one transaction. It refuses while another
// process holds a lease. It first renames a damaged database, and returns the new name.
func Restore(ctx context.Context, path, backup string) (aside string, err error) {
	from, err := filepath.Abs(backup)
	if err == nil {
		err = restorable(ctx, from)
	}
	if err != nil {
		return "", err
	}
	s, err := Open(path)
	if errors.Is(err, session.ErrCorrupt) {
		if aside, err = putAside(path); err == nil {
			s, err = Open(path)
		}
	}
	if err != nil {
		return aside, err
	}
	return aside, errors.Join(s.restore(ctx, from), s.Close())
}

func (s *Store) restore(ctx context.Context, from string) error {
	if !s.owner.alone() {
		return fmt.Errorf("cannot restore %s: another process has a session open; end it and try again", filepath.Base(s.path))
	}
	resume, err := s.Pause(ctx)
	if err != nil {
		return err
	}
	defer resume()
	err = s.lane.patiently(ctx, func() error {
		return s.lane.conn.Raw(func(c any) error { return copyFrom(c, from) })
	})
	if err != nil {
		return s.fail("restore", err)
	}
	if err := s.index.remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.heads.renew(s.reader)
}

// copyFrom copies a database into that of a connection.
func copyFrom(c any, from string) error {
	r, ok := c.(restorer)
	if !ok {
		return driver.ErrBadConn
	}
	b, err := r.NewRestore(readOnly(from))
	if err != nil {
		return err
	}
	_, err = b.Step(-1)
	return errors.Join(err, b.Finish())
}

func readOnly(path string) string {
	slash := filepath.ToSlash(path)
	if slash[0] != '/' { // such as C:/
		slash = "/" + slash
	}
	u := url.URL{Scheme: "file", Path: slash, RawQuery: "mode=ro"}
	return u.String()
}

// restorable returns an error if a backup cannot be restored.
func restorable(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	db := connect(path, url.Values{"mode": {"ro"}})
	defer db.Close()
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	id, err := identify(c)
	if err != nil {
		return (&file{path: path}).fail("read", err)
	}
	if empty, err := id.check(path); err != nil || empty {
		return errors.Join(err, fmt.Errorf("%s is no backup of sessions", path))
	}
	var said string
	if err := c.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&said); err != nil || said != "ok" {
		return fmt.Errorf("cannot restore %s: %w: %s %w", path, session.ErrCorrupt, said, err)
	}
	return nil
}

// putAside renames a damaged database and its other files.
func putAside(path string) (aside string, err error) {
	aside = fmt.Sprintf("%s.damaged-%s", path, time.Now().UTC().Format("20060102-150405"))
	for _, suffix := range []string{"", "-wal", "-shm", ".owners/" + headsName} {
		to := aside + suffix
		if suffix[:min(1, len(suffix))] == "." {
			to = aside + "-" + headsName
		}
		if e := os.Rename(path+suffix, to); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return aside, err
}

// alone reports whether no other living store ever had a lease.
func (o *owner) alone() bool {
	files, _ := filepath.Glob(filepath.Join(escape(o.dir), "*"+lockSuffix))
	for _, path := range files {
		if path != o.file(o.name) && !o.dead(path) {
			return false
		}
	}
	return true
}

// renew writes the slots of all sessions again. The caller has the lane.
func (h *heads) renew(s *reader) error {
	if err := errors.Join(h.close(), os.RemoveAll(h.path)); err != nil {
		return err
	}
	rows, err := s.readers.Query(selectRow + `WHERE kept = 0`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r stored
		if err := r.scan(rows); err != nil {
			return err
		}
		head := headOf(&r)
		head.synced = head.seq
		h.keep(head, true)
	}
	return rows.Err()
}
