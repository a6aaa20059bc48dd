package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// spec is the message to the helper: the walls, and the command to run inside them. All paths are absolute, without links, and
// exist.
type spec struct {
	view
	Open   bool             // the network of this machine
	Shared bool             // the network is there already
	Proxy  bool             // a proxy waits for the socket on which it listens
	Port   int              // where it listens inside
	Relays []netip.AddrPort // where it listens for servers of this machine that may be reached
	Limits Limits
	Group  bool // a control group waits for the helper

	Bubblewrap string              // the program that makes the namespaces, if this one may not
	Seen       map[string]identity // with it: the file at each path
	Outer      map[string]string   // with it: the namespaces outside, by name

	Path  string
	Args  []string
	Env   []string
	Dir   string
	Extra int // files of the command beyond the three
}

// view is the files that the command sees.
type view struct {
	Level   Level
	Writes  []string // trees that may be written
	Plain   []string // those in which no links, pipes and sockets can be made
	Shows   []show   // trees that a cover would hide
	Pins    []string // directories that must not be renamed
	Keeps   []string // trees inside Writes that are read only
	Hides   []string // trees and files that cannot be read
	Empties []string // files that read as empty ones
	Homes   []string // directories of which only the rest of the view shows
	Files   []file   // files in Homes
	Views   []View
	Temp    string   // on disk; empty: temporary files are in memory
	Temps   []string // its other names, by which alone it shows; none: it is one of Writes
	Caches  string   // it exists; empty: caches are in Temp, too
	Layers  []layer
}

// show is a tree and the path at which it shows.
type show struct{ Path, From string }

// file is a file that exists in the view only.
type file struct{ Path, Text string }

// answer is the answer of the helper if the command did not run, a signal ended it, or it left processes running.
type answer struct {
	Wall   string
	Why    string
	Signal int
	Left   bool
	Inside bool // the helper came to stand inside of what bubblewrap made
}

// letter is a file in memory with a spec, and room for the answer after it.
type letter struct {
	file *os.File
	size int64
}

func write(s *spec) (*letter, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("sandbox", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for the policy: %w", err)
	}
	l := &letter{file: os.NewFile(uintptr(fd), "sandbox"), size: int64(len(text))}
	if _, err := l.file.WriteAt(text, 0); err != nil {
		return nil, err
	}
	return l, nil
}

// read returns the spec in the file with that number.
func read(fd int) (*letter, *spec, error) {
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return nil, nil, err
	}
	text := make([]byte, info.Size)
	l := &letter{file: os.NewFile(uintptr(fd), "sandbox"), size: info.Size}
	if _, err := l.file.ReadAt(text, 0); err != nil {
		return nil, nil, err
	}
	s := &spec{}
	return l, s, json.Unmarshal(text, s)
}

func (l *letter) answer(t answer) {
	if text, err := json.Marshal(t); err == nil {
		_, _ = l.file.WriteAt(text, l.size)
	}
}

// heard returns the answer, which is zero when there is none.
func (l *letter) heard() (t answer) {
	info, err := l.file.Stat()
	if err != nil || info.Size() <= l.size {
		return t
	}
	text := make([]byte, min(info.Size()-l.size, 64<<10))
	if _, err := l.file.ReadAt(text, l.size); err == nil {
		_ = json.NewDecoder(bytes.NewReader(text)).Decode(&t) // behind it may be the rest of a longer one
	}
	return t
}
