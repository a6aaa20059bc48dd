package gitdir

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"slices"
)

var errIndex = errors.New("an index of a kind that is not known")

// gitlinks returns the paths of the repositories that an index names as parts of its own, from its worktree and with slashes.
// shared are the names of the files that hold the rest of a split index. bad reports a path that leads out of the worktree, or to a git directory.
// An index does not say how long its names of objects are, and can be made so that it reads well both ways: then it is read both ways.
func gitlinks(data []byte) (paths, shared []string, bad bool, err error) {
	readable := false
	for _, size := range []int{sha1.Size, sha256.Size} {
		p := indexParser{data: data, hash: size}
		some, rest, err := p.parse()
		bad = bad || p.bad
		if err != nil {
			continue
		}
		readable = true
		paths = append(paths, some...)
		if rest != "" {
			shared = append(shared, rest)
		}
	}
	if !readable {
		return nil, nil, bad, errIndex
	}
	return paths, shared, bad, nil
}

// sameEntries reports whether two indexes have the same files with the same contents, whatever they say about times.
func sameEntries(a, b []byte) bool {
	for _, size := range []int{sha1.Size, sha256.Size} {
		one, err1 := (&indexParser{data: a, hash: size}).entries()
		other, err2 := (&indexParser{data: b, hash: size}).entries()
		if err1 == nil && err2 == nil {
			return slices.Equal(one, other)
		}
	}
	return false
}

// entries returns the mode, the object, the flags and the name of each entry.
func (p *indexParser) entries() (all []string, err error) {
	if _, shared, err := p.parse(); err != nil || shared != "" {
		return nil, errors.Join(errIndex, err)
	}
	version, count := binary.BigEndian.Uint32(p.data[4:]), binary.BigEndian.Uint32(p.data[8:])
	at, name := 12, []byte(nil)
	for range count {
		_, next, ok := p.entry(p.data[:len(p.data)-p.hash], at, version, &name)
		if !ok {
			return nil, errIndex
		}
		flags := p.data[at+40+p.hash : at+40+p.hash+2]
		text := string(p.data[at+24:at+28]) + string(p.data[at+40:at+40+p.hash]) + string(flags[0]&0xf0) // not the length of the name
		if flags[0]&0x40 != 0 {
			text += string(p.data[at+40+p.hash+2 : at+40+p.hash+4])
		}
		all = append(all, text+string(name))
		at = next
	}
	return all, nil
}

const gitlink = 0o160000

// Tracked returns the paths that an index names, with slashes and from the root of the worktree. It fails if the index is of an unknown
// kind, or if another file has the rest of it.
func Tracked(index []byte) (paths []string, err error) {
	readable := false
	for _, size := range []int{sha1.Size, sha256.Size} {
		_, shared, err := (&indexParser{data: index, hash: size, each: func(name string) { paths = append(paths, name) }}).parse()
		if err == nil && shared != "" {
			return nil, errIndex
		}
		readable = readable || err == nil
	}
	if !readable {
		return nil, errIndex
	}
	return paths, nil
}

// Read reads a regular file of at most some bytes. It waits for no pipe, and reads no device.
func Read(name string, most int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > most {
		return nil, errors.Join(errIndex, err)
	}
	return readAll(f)
}

type indexParser struct {
	data []byte
	hash int               // bytes of the name of an object
	each func(name string) // is called for each path, if it is not nil
	kept int               // bytes that an entry takes from the name before it
	bad  bool              // a path leads out of the worktree, or to a git directory
}

// outside reports whether a path of an index leads out of the worktree, or to a git directory. Git makes no such index, and does not refuse one: it
// writes these files when a person discards changes.
func outside(name []byte) bool {
	if len(name) == 0 || name[0] != '.' && name[0] != '/' && !bytes.Contains(name, []byte("/.")) {
		return false // nearly all
	}
	for part := range bytes.SplitSeq(name, []byte("/")) {
		if string(part) == ".." || len(part) == 4 && bytes.EqualFold(part, []byte(".git")) {
			return true
		}
	}
	return name[0] == '/'
}

// plainIndex reports whether an index can be read with certainty, and has only paths of files in the worktree.
func plainIndex(data []byte, hash int) bool {
	p := indexParser{data: data, hash: hash}
	_, _, err := p.parse()
	return err == nil && !p.bad
}

func (p *indexParser) parse() (paths []string, shared string, err error) {
	const header = 12
	if len(p.data) < header+p.hash || string(p.data[:4]) != "DIRC" {
		return nil, "", errIndex
	}
	version, count := binary.BigEndian.Uint32(p.data[4:]), binary.BigEndian.Uint32(p.data[8:])
	if version < 2 || version > 4 {
		return nil, "", errIndex
	}
	body := p.data[:len(p.data)-p.hash]
	at, name := header, []byte(nil)
	for range count {
		mode, next, ok := p.entry(body, at, version, &name)
		if !ok {
			return nil, "", errIndex
		}
		if p.bad = p.bad || outside(name); p.each != nil {
			p.each(string(name))
		}
		if at = next; mode == gitlink {
			paths = append(paths, string(name))
		}
	}
	if tail := body[max(at, len(body)-12-p.hash):]; len(tail) == 12+p.hash && string(tail[:4]) == "EOIE" && int(binary.BigEndian.Uint32(tail[8:])) != at {
		return nil, "", errIndex // git begins to read extensions there
	}
	shared, err = p.extensions(body[at:])
	return paths, shared, err
}

// blocks reports whether a table, by which git reads the entries with several threads, has the entries as they follow each other.
func (p *indexParser) blocks(table []byte) bool {
	at, name := 12, []byte(nil)
	for ; len(table) >= 8; table = table[8:] {
		if int(binary.BigEndian.Uint32(table)) != at {
			return false
		}
		for i := range binary.BigEndian.Uint32(table[4:]) {
			_, next, ok := p.entry(p.data[:len(p.data)-p.hash], at, binary.BigEndian.Uint32(p.data[4:]), &name)
			if !ok || i == 0 && p.kept > 0 {
				return false
			}
			at = next
		}
	}
	return len(table) == 0
}

// entry reads one entry. name is that of the one before, and becomes its own.
func (p *indexParser) entry(body []byte, at int, version uint32, name *[]byte) (mode uint32, next int, ok bool) {
	const stat = 40 // bytes of the facts about a file, such as its mode
	fixed := stat + p.hash + 2
	if len(body)-at < fixed {
		return 0, 0, false
	}
	mode = binary.BigEndian.Uint32(body[at+24:])
	flags := binary.BigEndian.Uint16(body[at+stat+p.hash:])
	if flags&0x4000 != 0 {
		if fixed += 2; len(body)-at < fixed {
			return 0, 0, false
		}
	}
	fits := func(size int) bool { return int(flags&0xfff) == min(size, 0xfff) } // git goes by that
	rest := body[at+fixed:]
	if version == 4 {
		drop, n := offset(rest)
		if n == 0 || drop > len(*name) {
			return 0, 0, false
		}
		end := bytes.IndexByte(rest[n:], 0)
		if end < 0 {
			return 0, 0, false
		}
		p.kept = len(*name) - drop
		*name = append((*name)[:p.kept], rest[n:n+end]...)
		return mode, at + fixed + n + end + 1, fits(len(*name))
	}
	end := bytes.IndexByte(rest, 0)
	if end < 0 {
		return 0, 0, false
	}
	*name = append((*name)[:0], rest[:end]...)
	next = at + (fixed+end+8)&^7 // one to eight zeros
	return mode, next, next <= len(body) && fits(end)
}

// offset reads a number as packs have it, and how many bytes it took: none when there is none.
func offset(data []byte) (value, n int) {
	for i, c := range data {
		if i > 4 {
			break
		}
		if i > 0 {
			value++
		}
		value = value<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// extensions goes through what follows the entries. One that must be understood is: the link of a split index, and that
// directories may stand for what is in them, which is not checked out then.
func (p *indexParser) extensions(rest []byte) (shared string, err error) {
	for len(rest) > 0 {
		if len(rest) < 8 {
			return "", errIndex
		}
		name, size := string(rest[:4]), binary.BigEndian.Uint32(rest[4:])
		if rest = rest[8:]; int64(size) > int64(len(rest)) {
			return "", errIndex
		}
		switch data := rest[:size]; {
		case name == "link" && len(data) >= p.hash:
			if id := data[:p.hash]; len(bytes.Trim(id, "\x00")) > 0 {
				shared = "sharedindex." + hex.EncodeToString(id)
			}
		case name == "IEOT" && (len(data) < 4 || !p.blocks(data[4:])):
			return "", errIndex
		case name == "sdir", name[0] >= 'A' && name[0] <= 'Z':
		default:
			return "", errIndex
		}
		rest = rest[size:]
	}
	return shared, nil
}
