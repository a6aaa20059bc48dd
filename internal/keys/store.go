package keys

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zalando/go-keyring"
)

// Default is the name of a key that was given none.
const Default = "default"

// ErrNotFound is returned when there is no key of a name, or none in the place where it should be.
var ErrNotFound = errors.New("no such key")

// Place is where a key is kept.
type Place string

// The places.
const (
	InKeyring Place = "keyring"
	InFile    Place = "file"
)

// Entry is what is known of a key without the key.
type Entry struct {
	Provider string    `json:"provider"`
	Name     string    `json:"name"`
	Place    Place     `json:"place"`
	Added    time.Time `json:"added"`
	Hint     string    `json:"hint,omitzero"` // its last four characters, or nothing when it is short
}

// Options are the settings of a store. The zero value is fit for use, without an environment.
type Options struct {
	Getenv  func(string) string // default: no environment. TENON_KEYRING=off there keeps new keys in the file
	Keyring Keyring             // default [System]
	Timeout time.Duration       // how long the keyring may take for one answer; default 2 s
	Now     func() time.Time    // default [time.Now]
}

// Store keeps keys. It is safe for concurrent use, also by several processes.
type Store struct {
	file   file
	getenv func(string) string
	now    func() time.Time

	mu   sync.Mutex // one question to the keyring at a time: a second one would open a second window
	ring ring
}

// Open returns the store in a configuration directory. It does nothing yet: neither the directory nor the keyring is touched.
// Without a directory it has the keys of the environment, and keeps none.
func Open(dir string, o Options) *Store {
	s := &Store{file: file{dir}, getenv: o.Getenv, now: o.Now}
	if s.getenv == nil {
		s.getenv = func(string) string { return "" }
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.ring = ring{keyring: o.Keyring, timeout: cmp.Or(o.Timeout, 2*time.Second)}
	switch {
	case s.getenv("TENON_KEYRING") == "off":
		s.ring.keyring, s.ring.off = nil, "TENON_KEYRING is off; unset it, or add the key again to keep it in a file"
	case s.ring.keyring == nil:
		s.ring.keyring = System()
	}
	return s
}

// Names returns the names of the keys that a provider has, in the order in which they are to be tried: "$VARIABLE" for each of
// the variables that is set, then those that are kept, in the order in which they were added. It does not ask the keyring.
func (s *Store) Names(provider string, variables ...string) ([]string, error) {
	var names []string
	for _, v := range variables {
		if s.getenv(v) != "" {
			names = append(names, "$"+v)
		}
	}
	doc, err := s.file.load()
	for _, r := range doc.Keys {
		if r.Provider == provider {
			names = append(names, r.Name)
		}
	}
	return names, err
}

// List returns all keys that are kept, in the order in which they were added. It does not ask the keyring.
func (s *Store) List() ([]Entry, error) {
	doc, err := s.file.load()
	entries := make([]Entry, len(doc.Keys))
	for i, r := range doc.Keys {
		entries[i] = r.Entry
	}
	return entries, err
}

// Filed returns the keys that are in the file, to keep them out of what is shown; none when the file cannot be used.
func (s *Store) Filed() []string {
	doc, _ := s.file.load()
	var all []string
	for _, r := range doc.Keys {
		if r.Place == InFile {
			all = append(all, r.Secret)
		}
	}
	return all
}

// Get returns a key by a name that [Store.Names] gave; an empty name is [Default]. Only for a key that is in the keyring the
// keyring is asked, which may take as long as the options say. The error is an [ErrNotFound], an [ErrUnavailable], or says
// what is wrong with the file or the key.
func (s *Store) Get(ctx context.Context, provider, name string) (Key, error) {
	name = cmp.Or(name, Default)
	key, err := s.get(ctx, provider, name)
	if err != nil {
		return Key{}, fmt.Errorf("key %s of %s: %w", name, provider, err)
	}
	return key, nil
}

func (s *Store) get(ctx context.Context, provider, name string) (Key, error) {
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		if s.getenv(variable) == "" {
			return Key{}, fmt.Errorf("%w: the variable is not set", ErrNotFound)
		}
		return New(s.getenv(variable))
	}
	doc, err := s.file.load()
	if err != nil {
		return Key{}, err
	}
	i := doc.index(provider, name)
	if i < 0 {
		return Key{}, ErrNotFound
	}
	if r := doc.Keys[i]; r.Place == InFile {
		return New(r.Secret)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	secret, err := s.ring.get(ctx, user(provider, name))
	if errors.Is(err, keyring.ErrNotFound) {
		return Key{}, fmt.Errorf("%w in the keyring, where it was put: add it again", ErrNotFound)
	}
	if err != nil {
		return Key{}, err
	}
	return New(secret)
}

// Set keeps a key: in the keyring, or in the file when the keyring is off, absent or silent. It replaces a key of the same
// name, which keeps its place in the order. The entry says where the key is. An empty name is [Default].
func (s *Store) Set(ctx context.Context, provider, name string, key Key) (Entry, error) {
	name = cmp.Or(name, Default)
	if !isName(provider) || !isName(name) {
		return Entry{}, fmt.Errorf("keys: %q and %q must be names of 1 to 64 of a-z A-Z 0-9 . _ -", provider, name)
	}
	if key.IsZero() {
		return Entry{}, errors.New("keys: there is no key to keep")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := record{Entry: Entry{Provider: provider, Name: name, Place: InKeyring, Added: s.now().UTC().Truncate(time.Second), Hint: key.Hint()}}
	added := false // to the keyring
	err := s.file.change(ctx, func(doc *document) error {
		i := doc.index(provider, name)
		if i < 0 && len(doc.Keys) >= maxEntries {
			return fmt.Errorf("keys: there are %d keys; delete some", len(doc.Keys))
		}
		err := s.ring.set(ctx, user(provider, name), key.Reveal())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.Place, r.Secret = InFile, key.Reveal()
		}
		if i < 0 {
			added = err == nil
			doc.Keys = append(doc.Keys, r)
			return nil
		}
		if r.Place == InFile && doc.Keys[i].Place == InKeyring {
			_ = s.ring.delete(ctx, user(provider, name)) // the old one; if that cannot be, nobody asks for it any more
		}
		doc.Keys[i] = r
		return nil
	})
	if err != nil {
		if added {
			_ = s.ring.delete(ctx, user(provider, name)) // without its entry nobody could find it, or forget it
		}
		return Entry{}, err
	}
	return r.Entry, nil
}

// Delete removes a key from where it is. The error is an [ErrNotFound], or an [ErrUnavailable] when the key is in a keyring
// that does not answer: then it stays.
func (s *Store) Delete(ctx context.Context, provider, name string) error {
	name = cmp.Or(name, Default)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file.change(ctx, func(doc *document) error {
		i := doc.index(provider, name)
		if i < 0 {
			return fmt.Errorf("key %s of %s: %w", name, provider, ErrNotFound)
		}
		if doc.Keys[i].Place == InKeyring {
			if err := s.ring.delete(ctx, user(provider, name)); err != nil {
				return fmt.Errorf("key %s of %s: %w", name, provider, err)
			}
		}
		doc.Keys = slices.Delete(doc.Keys, i, i+1)
		return nil
	})
}

// index returns the number of a key, or -1.
func (d document) index(provider, name string) int {
	return slices.IndexFunc(d.Keys, func(r record) bool { return r.Provider == provider && r.Name == name })
}

// user is the name of a key in the keyring.
func user(provider, name string) string { return provider + "/" + name }

// isName reports whether s is the name of a provider or a key.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
