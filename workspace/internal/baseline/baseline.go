// Package baseline keeps on disk what the files of a directory were before commands, until it is known what the commands changed: the
// contents, a log of facts about the files, and the sessions with commands under way. If the process dies, the next one finds it.
package baseline

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/tenon-agent/tenon/workspace/contents"
)

// Baseline is one directory, which belongs to this process, or to a process that has died. It is safe for concurrent use.
type Baseline struct {
	dir  string
	lock *flock.Flock // exclusive for the owner, shared for readers

	mu    sync.Mutex
	file  *os.File
	out   *bufio.Writer // nil: it is only read
	end   int64
	where map[sum]span
	log   *logFile
}

type sum = [sha256.Size]byte

// span is the place of a content in the file.
type span struct{ offset, size int64 }

const (
	lockName     = "lock"
	contentsName = "contents"
	logName      = "log"
	namePrefix   = "tenon-baseline-"
	headerSize   = sha256.Size + 8 // of a content: its hash and size

	maxFile  = 16 << 20  // bytes of one content
	maxTotal = 512 << 20 // bytes of all
)

// Create makes a baseline in a directory, which it makes too. An empty parent is the directory of the system for temporary files.
func Create(parent string) (_ *Baseline, err error) {
	parent = cmp.Or(parent, os.TempDir())
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	b := &Baseline{dir: filepath.Join(parent, namePrefix+rand.Text()), where: map[sum]span{}}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return nil, err
	}
	b.lock = flock.New(filepath.Join(b.dir, lockName), flock.SetPermissions(0o600))
	err = b.lock.Lock()
	if err == nil {
		b.file, err = os.OpenFile(filepath.Join(b.dir, contentsName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, b.Close(false))
	}
	b.out = bufio.NewWriterSize(b.file, 1<<20)
	return b, nil
}

// Close releases the baseline. With keep it stays on disk for a later process.
func (b *Baseline) Close(keep bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var err error
	if keep && b.out != nil {
		err = b.out.Flush()
	}
	if b.log != nil {
		err = errors.Join(err, b.log.f.Close())
	}
	if b.file != nil {
		err = errors.Join(err, b.file.Close())
	}
	err = errors.Join(err, b.lock.Close())
	if !keep {
		err = errors.Join(err, os.RemoveAll(b.dir))
	}
	return err
}

// Put keeps a content. It reads into buffer and returns it for the next call. A content is not durable, and after the death of the process
// it is there only if Flush returned. A nil Baseline keeps nothing, and returns the hash.
func (b *Baseline) Put(r io.Reader, buffer []byte) (contents.Kept, []byte, error) {
	data, err := readUpTo(r, buffer, maxFile+1)
	if err != nil {
		return contents.Kept{}, data, err
	}
	if len(data) > maxFile {
		h := sha256.New()
		h.Write(data)
		n, err := io.Copy(struct{ io.Writer }{h}, r) // the struct hides methods, so that Copy takes a small buffer
		return contents.Kept{
			Hash: hex.EncodeToString(h.Sum(nil)), Size: int64(len(data)) + n, Lost: fmt.Sprintf("it is larger than %d MiB", maxFile>>20),
		}, data, err
	}
	hash := sha256.Sum256(data)
	kept := contents.Kept{Hash: hex.EncodeToString(hash[:]), Size: int64(len(data))}
	if b != nil {
		kept.Lost = b.add(hash, data)
	}
	return kept, data, nil
}

// add writes a content, or returns the reason why it did not.
func (b *Baseline) add(hash sum, data []byte) (lost string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.where[hash]; ok {
		return ""
	}
	if b.end+int64(len(data)) > maxTotal {
		return fmt.Sprintf("the files have more than %d MiB", maxTotal>>20)
	}
	header := binary.BigEndian.AppendUint64(append(make([]byte, 0, headerSize), hash[:]...), uint64(len(data)))
	_, err := b.out.Write(header)
	if err == nil {
		_, err = b.out.Write(data)
	}
	if err != nil {
		return fmt.Sprintf("it could not be written: %v", err)
	}
	b.where[hash] = span{b.end + headerSize, int64(len(data))}
	b.end += headerSize + int64(len(data))
	return ""
}

// Flush writes the contents.
func (b *Baseline) Flush() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Flush()
}

// Has reports whether there is a content.
func (b *Baseline) Has(hash string) bool {
	_, ok := b.find(hash)
	return ok
}

func (b *Baseline) find(hash string) (at span, ok bool) {
	var h sum
	if n, err := hex.Decode(h[:], []byte(hash)[:min(len(hash), 2*len(h))]); err != nil || n != len(h) {
		return at, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok = b.where[h]
	return at, ok
}

// Open returns a reader of a content that fails at its first Read if there is none. It holds nothing open.
func (b *Baseline) Open(hash string) io.Reader { return &lazy{b: b, hash: hash} }

// lazy is a content that is found when it is read.
type lazy struct {
	b    *Baseline
	hash string
	r    io.Reader
	sum  hash.Hash
}

// Read implements [io.Reader]. At the end it compares the hash.
func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil {
		at, ok := l.b.find(l.hash)
		if !ok {
			return 0, contents.ErrNotKept
		}
		l.r, l.sum = io.NewSectionReader(l.b.file, at.offset, at.size), sha256.New()
	}
	n, err := l.r.Read(p)
	l.sum.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(l.sum.Sum(nil)) != l.hash {
		return n, &contents.DamagedError{Hash: l.hash}
	}
	return n, err
}

// Mark notes that a session has commands under way, for [Left].
func (b *Baseline) Mark(session string) error {
	return os.WriteFile(filepath.Join(b.dir, mark(session)), nil, 0o600)
}

// mark returns the name of a file that stands for a session.
func mark(session string) string {
	h := sha256.Sum256([]byte(session))
	return "session-" + hex.EncodeToString(h[:8])
}

// Left reports whether a process that died left commands of a session under way in a baseline below parent.
func Left(parent, session string) bool {
	return len(left(parent, session)) > 0
}

func left(parent, session string) []string {
	found, _ := filepath.Glob(filepath.Join(quoteGlob(parent), namePrefix+"*", mark(session))) // fails for a wrong pattern only
	return found
}

func quoteGlob(name string) string {
	if filepath.Separator == '\\' {
		return name // there are no escapes
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// Each calls f with each baseline below parent that a dead process left with commands of a session. If f returns nil, the session is done
// with it, and the last session removes it.
func Each(parent, session string, f func(*Baseline) error) error {
	var all error
	for _, name := range left(parent, session) {
		if err := one(filepath.Dir(name), f); err != nil && !errors.Is(err, errAlive) {
			all = errors.Join(all, err)
		} else if err == nil {
			all = errors.Join(all, done(name))
		}
	}
	return all
}

var errAlive = errors.New("the process lives")

func one(dir string, f func(*Baseline) error) error {
	b := &Baseline{dir: dir, where: map[sum]span{}, lock: flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))}
	switch free, err := b.lock.TryRLock(); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !free:
		return errAlive
	}
	err := b.index()
	if err == nil {
		err = f(b)
	}
	return errors.Join(err, b.Close(true))
}

// done removes the mark of a session, and with the last mark the baseline.
func done(mark string) error {
	if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dir := filepath.Dir(mark)
	if more, _ := filepath.Glob(filepath.Join(quoteGlob(dir), "session-*")); len(more) > 0 {
		return nil
	}
	return os.RemoveAll(dir)
}

// Forget drops what dead processes left of a session.
func Forget(parent, session string) error {
	return Each(parent, session, func(*Baseline) error { return nil })
}

// index finds the contents of a baseline. A content that is not whole ends it.
func (b *Baseline) index() (err error) {
	b.file, err = os.Open(filepath.Join(b.dir, contentsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the process died very early
	}
	if err != nil {
		return err
	}
	info, err := b.file.Stat()
	if err != nil {
		return err
	}
	for header := make([]byte, headerSize); ; {
		if _, err := b.file.ReadAt(header, b.end); err != nil {
			return nil // the end
		}
		size := int64(binary.BigEndian.Uint64(header[sha256.Size:]))
		if size < 0 || size > maxFile || b.end+headerSize+size > info.Size() {
			return nil
		}
		b.where[sum(header)] = span{b.end + headerSize, size}
		b.end += headerSize + size
	}
}

// readUpTo reads until the end or a limit.
func readUpTo(r io.Reader, data []byte, limit int64) ([]byte, error) {
	data = data[:0]
	for {
		if int64(len(data)) >= limit {
			return data, nil
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		free := data[len(data):cap(data)]
		n, err := r.Read(free[:min(int64(len(free)), limit-int64(len(data)))])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
}
