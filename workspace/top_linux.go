package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// top is the tree that a walk goes through, opened for that: the kernel takes a whole path in one call and refuses every link in
// it, where os.Root takes one call for each of its directories. Methods of nil work.
type top struct {
	tree
	dir  *os.File
	conn syscall.RawConn
}

func openTop(t tree) (*top, error) {
	dir, err := t.root.Open(".")
	if err != nil {
		return nil, err
	}
	conn, err := dir.SyscallConn()
	if err != nil {
		dir.Close()
		return nil, err
	}
	return &top{t, dir, conn}, nil
}

func (t *top) close() { t.dir.Close() }

// open opens a path below the top, through no link. The error is errors.ErrUnsupported where the kernel cannot do that, and when
// the walk is over.
func (t *top) open(rel string, flags uint64) (fd int, err error) {
	if t == nil {
		return -1, errors.ErrUnsupported
	}
	how := unix.OpenHow{Flags: flags | unix.O_RDONLY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	if e := t.conn.Control(func(dir uintptr) {
		for {
			if fd, err = unix.Openat2(int(dir), rel, &how); err != unix.EINTR {
				return
			}
		}
	}); e != nil {
		return -1, errors.ErrUnsupported
	}
	switch err {
	case nil:
		return fd, nil
	case unix.ENOSYS, unix.EPERM, unix.EAGAIN:
		return -1, errors.ErrUnsupported
	}
	return -1, &fs.PathError{Op: "open", Path: rel, Err: err}
}

func (t *top) openDir(rel string) (*os.File, error) {
	if rel == "" {
		rel = "."
	}
	fd, err := t.open(rel, unix.O_DIRECTORY)
	if errors.Is(err, errors.ErrUnsupported) {
		return t.tree.openDir(rel)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Join(t.tree.dir, rel)), nil
}

// openFile opens what was a regular file. Another process may have put a pipe in its place: it does not block, and is seen.
func (t *top) openFile(rel string) (io.ReadCloser, int64, error) {
	if filepath.IsAbs(rel) {
		return nil, 0, errors.ErrUnsupported // it lies in another tree
	}
	fd, err := t.open(rel, unix.O_NONBLOCK)
	if err != nil {
		return nil, 0, err
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		unix.Close(fd)
		return nil, 0, &fs.PathError{Op: "stat", Path: rel, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		unix.Close(fd)
		return nil, 0, &SpecialError{rel, "special file"}
	}
	return &plainFile{fd: fd, left: stat.Size, rel: rel}, stat.Size, nil
}

// plainFile is a regular file that is read from its start to its end, and has nothing else that an os.File has.
type plainFile struct {
	fd   int
	left int64 // bytes, as far as its size says
	rel  string
}

func (f *plainFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, &fs.PathError{Op: "read", Path: f.rel, Err: err}
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		// Less than there was room for, and just what was left: that saves asking once more.
		if f.left -= int64(n); f.left == 0 && n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
}

func (f *plainFile) Close() error {
	fd := f.fd
	if f.fd = -1; fd < 0 {
		return fs.ErrClosed
	}
	return unix.Close(fd)
}
