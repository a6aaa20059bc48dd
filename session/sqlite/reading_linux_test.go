package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// mounted is a file system in memory that the test may fill and make read-only.
func mounted(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// freeze makes a file system read-only, and thaw writable again.
func freeze(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

func thaw(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
}

// copyOf copies the files of a database that is open, as a process that is killed now leaves them.
func copyOf(t *testing.T, path, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		data, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// looked opens a database that cannot be written: all of it is there, and what would write says why it cannot.
func looked(t *testing.T, path string, id session.SessionID, want any, cause error) {
	t.Helper()
	s, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := everythingOf(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("it says\n%v\nwant\n%v", got, want)
	}
	sound(t, s)
	if _, err := s.Create(t.Context(), session.Created{}); !errors.Is(err, cause) {
		t.Errorf("a session was made: %v", err)
	}
	if _, err := s.Open(t.Context(), id, session.Lease{}); !errors.Is(err, cause) {
		t.Errorf("a session was opened: %v", err)
	}
}

// Everything can be read where nothing can be written, also what a process that was killed left in its log.
func TestReadOnlyMedium(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, source)
	id, _ := lived(t, s)
	want := everythingOf(t, s)
	for name, suffixes := range map[string][]string{"killed": {"", "-wal", "-shm"}, "closed": {""}, "an empty log": {"", "-wal"}} {
		t.Run(name, func(t *testing.T) {
			dir := mounted(t, "8m")
			path := filepath.Join(dir, "sessions.db")
			copyOf(t, source, path, "", "-wal", "-shm")
			if name != "killed" {
				if err := open(t, path).Close(); err != nil {
					t.Fatal(err)
				}
			}
			if name == "an empty log" {
				if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, suffix := range suffixes {
				if _, err := os.Stat(path + suffix); err != nil {
					t.Fatal(err)
				}
			}
			freeze(t, dir)
			looked(t, path, id, want, session.ErrUnwritable)
		})
	}
}

// Entries in a log that cannot be read are not passed over.
func TestReadOnlyMediumWithALogAlone(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "sessions.db")
	lived(t, open(t, source))
	dir := mounted(t, "8m")
	path := filepath.Join(dir, "sessions.db")
	copyOf(t, source, path, "", "-wal")
	freeze(t, dir)
	s, err := OpenToRead(path)
	if err == nil {
		s.Close()
		t.Fatal("it was opened")
	}
	if !errors.Is(err, session.ErrUnwritable) || !strings.Contains(err.Error(), "sessions.db-wal: copy both") {
		t.Error(err)
	}
}

// A reader without locks learns that another process writes now, and reads nothing wrong.
func TestReadOnlyMediumThatIsWrittenElsewhere(t *testing.T) {
	t.Parallel()
	dir := mounted(t, "8m")
	path := filepath.Join(dir, "sessions.db")
	id := filled(t, path)
	freeze(t, dir)
	s, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := everything(t.Context(), s, id); err != nil {
		t.Fatal(err)
	}
	thaw(t, dir)
	other := open(t, path)
	w, err := other.Open(t.Context(), id, session.Lease{})
	if err != nil {
		t.Fatal(err)
	}
	for _, closed := range []bool{false, true} {
		if _, err := w.Append(t.Context(), session.Stamp{}, answer("more")); err != nil && !closed {
			t.Fatal(err)
		}
		if closed {
			if err := errors.Join(w.Close(), other.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := everything(t.Context(), s, id); err == nil || !strings.Contains(err.Error(), "another process began to write it") {
			t.Errorf("closed %v: %v", closed, err)
		}
	}
}

// Entries that were written before the disk was full can be read, even if there is no room for SQLite's own files.
func TestReadOnAFullDisk(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"closed": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "sessions.db")
			s := open(t, source)
			id, _ := lived(t, s)
			want := everythingOf(t, s)
			path := filepath.Join(mounted(t, "1m"), "sessions.db")
			copyOf(t, source, path, "", "-wal")
			if !killed {
				if err := open(t, path).Close(); err != nil {
					t.Fatal(err)
				}
			}
			fill(t, filepath.Join(filepath.Dir(path), "ballast"))
			if other, err := Open(path); err == nil {
				other.Close()
				t.Fatal("there is still room")
			}
			looked(t, path, id, want, session.ErrFull)
		})
	}
}

// fill writes a file until there is no space left.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
