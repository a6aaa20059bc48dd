package files

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/tenon-agent/tenon/workspace"
)

// version is the hash of a file's content.
type version [sha256.Size]byte

func (v version) String() string { return hex.EncodeToString(v[:]) }

func parseVersion(text string) (v version, ok bool) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(v) {
		return v, false
	}
	return version(data), true
}

// knowledge is what the model knows of a file.
type knowledge struct {
	version
	whole bool   // every line was shown, or written by the model
	lines int    // of the whole file, when some were shown
	spans []span // lines that were shown, sorted, apart from each other
}

// span is lines from first to last.
type span struct{ first, last int }

// add joins lines to those that are known.
func (k *knowledge) add(s span) {
	if s.first == 0 {
		return
	}
	spans := append(slices.Clone(k.spans), s)
	slices.SortFunc(spans, func(a, b span) int { return a.first - b.first })
	k.spans = spans[:1]
	for _, s := range spans[1:] {
		last := &k.spans[len(k.spans)-1]
		if s.first <= last.last+1 {
			last.last = max(last.last, s.last)
			continue
		}
		k.spans = append(k.spans, s)
	}
	k.whole = k.whole || len(k.spans) == 1 && k.spans[0] == span{1, k.lines}
}

// shown remembers what a read showed: lines of it, or all there is.
func (s *Set) shown(abs string, v version, lines int, part span, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.seen[abs]
	if k.version != v {
		k = knowledge{version: v}
	}
	k.lines, k.whole = lines, k.whole || whole
	k.add(part)
	s.seen[abs] = k
}

// wrote remembers a version that the model made, and returns how to forget it again.
func (s *Set) wrote(abs string, v version, whole bool) (undo func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, had := s.seen[abs]
	s.seen[abs] = knowledge{version: v, whole: whole}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.seen[abs].version != v: // somebody looked meanwhile
		case had:
			s.seen[abs] = before
		default:
			delete(s.seen, abs)
		}
	}
}

func (s *Set) knows(abs string) (knowledge, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.seen[abs]
	return k, ok
}

// fresh returns an error unless v is what the model has seen of the file, at least a part of it.
func (s *Set) fresh(name, abs string, v version) error {
	switch k, ok := s.knows(abs); {
	case !ok:
		return fmt.Errorf("%s exists and was not read yet; read it first, then change it", workspace.Quote(name))
	case k.version != v:
		return fmt.Errorf("%s has changed since it was read; read it again, then change it", workspace.Quote(name))
	}
	return nil
}

// freshWhole returns an error unless the model has seen all of version v.
func (s *Set) freshWhole(name, abs string, v version) error {
	if err := s.fresh(name, abs, v); err != nil {
		return err
	}
	k, _ := s.knows(abs)
	if k.whole {
		return nil
	}
	if len(k.spans) == 1 && k.lines > 0 {
		return fmt.Errorf("%s was read only in part (lines %d-%d of %d); read the rest before all of it is replaced, or change parts of it",
			workspace.Quote(name), k.spans[0].first, k.spans[0].last, k.lines)
	}
	return fmt.Errorf("%s was not read whole; read all of it before it is replaced, or change parts of it", workspace.Quote(name))
}

// Recall gives back what the model knew when a session goes on in another process: the details of a successful result of the tool
// with this name, as they were recorded, in the order of the calls. Details that are of no tool of a set, or cannot be read,
// are ignored.
func (s *Set) Recall(tool string, details json.RawMessage) {
	if tool == nameRead {
		var shown Shown
		if json.Unmarshal(details, &shown) != nil {
			return
		}
		if v, ok := parseVersion(shown.Hash); ok {
			part := span{shown.First, shown.Last}
			if shown.Unit != "" || shown.Cut {
				part = span{}
			}
			s.shown(s.recalled(shown.Path), v, shown.Lines, part, shown.Whole)
		}
		return
	}
	switch tool {
	case nameWrite, nameEdit, nameMultiEdit, namePatch, nameDelete:
		var changes []Change
		if json.Unmarshal(details, &changes) != nil {
			changes = make([]Change, 1)
			if json.Unmarshal(details, &changes[0]) != nil {
				return
			}
		}
		for _, c := range changes {
			s.recallChange(c)
		}
	}
}

func (s *Set) recallChange(c Change) {
	for _, gone := range []string{c.From, c.Path} {
		if gone != "" {
			s.mu.Lock()
			delete(s.seen, s.recalled(gone))
			s.mu.Unlock()
		}
	}
	if v, ok := parseVersion(c.Hash); ok {
		s.wrote(s.recalled(c.Path), v, c.Whole)
	}
}

// recalled is the absolute path that details name.
func (s *Set) recalled(name string) string {
	abs, err := s.ws.Resolve(name)
	if err != nil {
		return ""
	}
	return abs
}

// current is the version of a file as it is now; ok is false when there is none.
func (s *Set) current(name string) (v version, ok bool, err error) {
	f, err := s.ws.OpenFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return v, false, err
	}
	return version(hash.Sum(nil)), true, nil
}
