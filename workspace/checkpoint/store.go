package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// Options bound a [Store]. The zero value of each field is its default.
type Options struct {
	MaxFile  int64 // bytes of one content; default 16 MiB
	MaxTotal int64 // bytes on disk, about; default 512 MiB
}

const (
	defaultMaxFile  = 16 << 20
	defaultMaxTotal = 512 << 20
)

// ErrNotKept says that a store does not have a content.
var ErrNotKept = errors.New("the content is not kept")

// DamagedError says that a content is kept, but is no longer what it was.
type DamagedError struct {
	Hash string
	File string // that it is in
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the content %.12s in %s is damaged", e.Hash, e.File)
}

// Store is contents in a directory. It is safe for concurrent use, also by several processes.
type Store struct {
	dir      string
	root     *os.Root     // nil until there is a directory
	lock     *flock.Flock // shared while the directory is open
	maxFile  int64
	maxTotal int64

	mu    sync.Mutex
	files map[string]int64 // packs that are known, and their size
	where map[sum]location // of each content
	ended bool             // the store is closed
	size  int64            // of all packs and of what is being written
	wrote map[string]bool  // packs that are not durable yet
}

type sum [sha256.Size]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

func parseSum(text string) (s sum, ok bool) {
	n, err := hex.Decode(s[:], []byte(text[:min(len(text), 2*len(s))]))
	return s, err == nil && n == len(s) && len(text) == 2*len(s)
}

// Open opens the store in a directory. If there is none it is made for the first content that is kept, for its owner alone. The caller
// closes the store.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{dir: dir, maxFile: o.MaxFile, maxTotal: o.MaxTotal, files: map[string]int64{}, where: map[sum]location{}, wrote: map[string]bool{}}
	if s.maxFile <= 0 {
		s.maxFile = defaultMaxFile
	}
	if s.maxTotal <= 0 {
		s.maxTotal = defaultMaxTotal
	}
	if err := s.enter(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	return s, nil
}

// enter opens the directory, unless it is open. mu is held, or nobody has s yet.
func (s *Store) enter() (err error) {
	if s.ended {
		return fs.ErrClosed
	}
	if s.root != nil {
		return nil
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return err
	}
	s.lock = flock.New(s.path(lockName), flock.SetPermissions(0o600))
	if err = s.lock.RLock(); err == nil {
		err = s.look()
	}
	if err != nil {
		err = errors.Join(err, s.lock.Close(), s.root.Close())
		s.root = nil
	}
	return err
}

// settle is enter for who has something to keep: it makes the directory.
func (s *Store) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil || s.ended {
		return s.enter()
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return s.enter()
}

const lockName = "lock"

func (s *Store) path(name string) string { return s.dir + string(os.PathSeparator) + name }

// Close lets go of the directory. What was kept stays.
func (s *Store) Close() error {
	s.ended = true
	if s.root == nil {
		return nil
	}
	return errors.Join(s.Sync(), s.lock.Close(), s.root.Close())
}

// look takes up the packs that are new since the last look, also those of other processes. mu is held, or nobody has s yet.
func (s *Store) look() error {
	d, err := s.root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, packSuffix) {
			continue
		}
		there[name] = true
		if _, known := s.files[name]; known {
			continue
		}
		if err := s.index(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for name := range s.files {
		if !there[name] {
			s.forget(name)
		}
	}
	return nil
}

func (s *Store) forget(name string) {
	s.size -= s.files[name]
	delete(s.files, name)
	for hash, at := range s.where {
		if at.file == name {
			delete(s.where, hash)
		}
	}
}

// Kept is what became of a content that was put into a store.
type Kept struct {
	Hash string // SHA-256 in hex
	Size int64
	Lost string // why the store does not have it; empty when it has
}

// Put keeps what r has, and returns when it is durable. What may not be kept is read to its end too, for its hash; that is no error.
func (s *Store) Put(r io.Reader) (Kept, error) {
	data, kept, err := s.read(r, nil)
	if err != nil || kept.Lost != "" {
		return kept, err
	}
	hash, _ := parseSum(kept.Hash)
	if s.has(hash) {
		return kept, nil
	}
	body, method := deflate(data)
	if !s.reserve(int64(len(body)), s.maxTotal) {
		kept.Lost = s.full()
		return kept, nil
	}
	p, err := s.create()
	if err == nil {
		err = p.add(entry{hash: hash, method: method, size: kept.Size, stored: int64(len(body))}, body)
		err = s.finish(p, kept.Hash+packSuffix, err)
	}
	s.reserve(-int64(len(body)), 0)
	if err != nil {
		return kept, fmt.Errorf("checkpoints: %w", err)
	}
	return kept, s.Sync()
}

// read reads a content into a buffer, as far as it may be kept, and hashes all of it.
func (s *Store) read(r io.Reader, buffer []byte) ([]byte, Kept, error) {
	data, err := readUpTo(r, buffer, s.maxFile+1)
	if err != nil {
		return data, Kept{}, err
	}
	if int64(len(data)) <= s.maxFile {
		hash := sum(sha256.Sum256(data))
		return data, Kept{Hash: hash.String(), Size: int64(len(data))}, nil
	}
	h := sha256.New()
	h.Write(data)
	n, err := io.Copy(onlyHash{h}, r)
	return data, Kept{
		Hash: hex.EncodeToString(h.Sum(nil)), Size: int64(len(data)) + n,
		Lost: fmt.Sprintf("it is larger than %s", bytesInWords(s.maxFile)),
	}, err
}

// onlyHash hides what else a hash can do, so that io.Copy takes a buffer of a fixed size.
type onlyHash struct{ h hash.Hash }

func (o onlyHash) Write(p []byte) (int, error) { return o.h.Write(p) }

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

func (s *Store) full() string {
	return fmt.Sprintf("the session has kept %s already", bytesInWords(s.maxTotal))
}

func bytesInWords(n int64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if n < 10<<10 || n%1024 != 0 && n < 10<<20 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n /= 1024
	}
	return fmt.Sprintf("%d GiB", n)
}

// reserve takes room for what will be written, if there is some; a negative number gives it back.
func (s *Store) reserve(n, limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.size+n > limit {
		return false
	}
	s.size += n
	return true
}

// Empty reports whether nothing was ever kept: there is no directory then.
func (s *Store) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.root == nil
}

// Has reports whether the store has a content, by its hash.
func (s *Store) Has(hash string) bool {
	h, ok := parseSum(hash)
	return ok && s.has(h)
}

func (s *Store) has(hash sum) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.where[hash]
	return ok
}

// Get returns a content by its hash, and has made sure that it is the one. The error is [ErrNotKept] or a [*DamagedError], or what the
// system says.
func (s *Store) Get(hash string) ([]byte, error) {
	h, ok := parseSum(hash)
	if !ok {
		return nil, fmt.Errorf("checkpoints: %q is no hash", hash)
	}
	data, err := s.get(h)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotKept) {
		// Another process may have added it, or put it elsewhere.
		if err = s.lookAgain(); err == nil {
			data, err = s.get(h)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	return data, nil
}

// lookAgain looks for what came since, be it the directory.
func (s *Store) lookAgain() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil {
		return s.look()
	}
	if err := s.enter(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) get(h sum) ([]byte, error) {
	s.mu.Lock()
	at, ok := s.where[h]
	s.mu.Unlock()
	if !ok {
		return nil, ErrNotKept
	}
	f, err := s.root.Open(at.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := at.read(f)
	if err != nil || sum(sha256.Sum256(data)) != h {
		return nil, &DamagedError{h.String(), s.path(at.file)}
	}
	return data, nil
}
