package workspace

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// maxHashed is the size above which files are compared by size and time only, in bytes.
const maxHashed = 64 << 20

// read reads the contents that a look found and that are not known yet, and keeps them.
func (s *scan) read() error {
	var files []string
	for name, r := range s.differ {
		b := s.before[name]
		same := b != nil && b.stat == r.stat
		switch {
		case same && !b.fresh && (b.known || s.after):
			*r = *b
		case r.stat.mode.IsRegular():
			files = append(files, name)
		case r.stat.mode&fs.ModeSymlink != 0:
			r.readLink(name)
		}
	}
	slices.Sort(files) // neighbours on the disk, mostly
	s.readAll(files)
	err := s.base.Flush()
	if err == nil || !s.after {
		return err
	}
	// The command is done. The next look tries again to keep these contents.
	for _, name := range files {
		s.records[name].known = false
	}
	return nil
}

// readLink records the target of a link. If it fails, the next look tries again.
func (r *record) readLink(name string) {
	began := time.Now()
	target, err := os.Readlink(name)
	if err != nil {
		r.state.Lost = fmt.Sprintf("it could not be read: %v", err)
		return
	}
	r.state.Link, r.known, r.fresh = target, true, r.stat.isFresh(began)
}

func (s *scan) readAll(files []string) {
	const few = 32 // files that a worker takes at once
	var (
		all   sync.WaitGroup
		parts = make(chan []string)
		until = time.Now().Add(s.limits.reading)
	)
	for range min(workers(), (len(files)+few-1)/few) {
		all.Go(func() {
			var buffer []byte
			for part := range parts {
				for _, name := range part {
					r := s.records[name]
					if !s.after && (s.ctx.Err() != nil || time.Now().After(until)) {
						r.state.Lost = fmt.Sprintf("there was more to keep than %v allow", s.limits.reading)
						continue
					}
					buffer = s.readOne(name, r, buffer)
				}
			}
		})
	}
	for part := range slices.Chunk(files, few) {
		parts <- part
	}
	close(parts)
	all.Wait()
}

// readOne records the content of a file. It returns the buffer for the next call.
func (s *scan) readOne(name string, r *record, buffer []byte) []byte {
	began := time.Now()
	r.state.Size = r.stat.size
	if r.stat.size > maxHashed {
		r.state.Lost, r.known = fmt.Sprintf("it is larger than %d MiB", maxHashed>>20), true
		return buffer
	}
	f, err := s.open(name)
	if err != nil {
		r.state.Lost = fmt.Sprintf("it could not be read: %v", err)
		return buffer
	}
	defer f.Close()
	kept, buffer, err := s.base.Put(f, buffer)
	if err != nil {
		r.state.Lost = fmt.Sprintf("it could not be read: %v", err)
		return buffer
	}
	r.state.Hash, r.state.Size, r.state.Lost = kept.Hash, kept.Size, kept.Lost
	r.known, r.fresh = true, r.stat.isFresh(began)
	if cap(buffer) > 4<<20 {
		return nil // the next one will be smaller
	}
	return buffer
}

// isFresh reports whether the last change is so near to a time that the clock of the file system may not show a later change.
func (s stat) isFresh(at time.Time) bool {
	margin := 100 * time.Millisecond
	if s.modified%int64(time.Second) == 0 {
		margin = 2 * time.Second // FAT
	}
	return max(s.modified, s.changed) > at.Add(-margin).UnixNano()
}

// changes returns the differences from the look before.
func (s *scan) changes() []Change {
	var out []Change
	for name, r := range s.differ {
		if b := s.before[name]; b == nil || different(b, r) {
			after := r.state
			after.Lost = "" // the content after a change need not be kept
			out = append(out, Change{Path: name, Before: stateOf(b), After: &after, Done: true})
		}
	}
	for name, b := range s.before {
		if s.whole {
			break
		}
		if s.records[name] == nil {
			out = append(out, Change{Path: name, Before: stateOf(b), Done: true})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func stateOf(r *record) *State {
	if r == nil {
		return nil
	}
	state := r.state
	return &state
}

func different(b, r *record) bool {
	switch {
	case b.stat.mode != r.stat.mode:
		return true
	case r.stat.mode&fs.ModeSymlink != 0 && b.state.Lost == "" && r.state.Lost == "":
		return b.state.Link != r.state.Link
	case !r.stat.mode.IsRegular() && r.stat.mode&fs.ModeSymlink == 0:
		return false
	case b.state.Hash != "" && r.state.Hash != "":
		return b.state.Hash != r.state.Hash
	}
	return b.stat.size != r.stat.size || b.stat.modified != r.stat.modified
}
