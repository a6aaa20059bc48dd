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

// Default is the name of a key without a given name.
const Default = "default"

// ErrNotFound reports that no key has the given name, or that the key is not in its listed place.
var ErrNotFound = errors.New("no such key")

// Place is the storage of a key.
type Place string

// The places.
const (
	InKeyring Place = "keyring"
	InFile    Place = "file"
)

// Entry describes a key without its secret.
type Entry struct {
	Provider string    `json:"provider"`
	Name     string    `json:"name"`
	Place    Place     `json:"place"`
	Added    time.Time `json:"added"`
	Hint     string    `json:"hint,omitzero"` // its last four characters, or nothing if it is short
}

// Options are the settings of a store. The zero value is valid and has no environment.
type Options struct {
	Getenv  func(string) string // default: no environment. With TENON_KEYRING=off, the store puts new keys in the file
	Keyring Keyring             // default [System]
	Timeout time.Duration       // the timeout of one call of the keyring; default 2 s
	Now     func() time.Time    // default [time.Now]
}

// Store stores keys. It is safe for concurrent use, also by several processes.
type Store struct {
	file   file
	getenv func(string) string
	now    func() time.Time

	mu   sync.Mutex // serializes calls of the keyring: a second call would open a second window
	ring ring
}

// Open returns the store in a configuration directory. It accesses neither the directory nor the keyring. Without a directory
// the store has the keys of the environment, and cannot store keys.
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

// Names returns the names of a provider's keys in the order of their use: "$VARIABLE" for each variable that is set, then the
// stored keys in the order of their addition. It does not call the keyring.
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

// List returns all stored keys in the order of their addition. It does not call the keyring.
func (s *Store) List() ([]Entry, error) {
	doc, err := s.file.load()
	entries := make([]Entry, len(doc.Keys))
	for i, r := range doc.Keys {
		entries[i] = r.Entry
	}
	return entries, err
}

// Known returns the keys in the file, so that the caller can hide them. It returns none if the file is invalid.
func (s *Store) Known() []string {
	doc, _ := s.file.load()
	var all []string
	for _, r := range doc.Keys {
		if r.Place == InFile {
			all = append(all, r.Secret)
		}
	}
	return all
}

// Get returns the key with a name from [Store.Names]. An empty name is [Default]. Get calls the keyring only for a key that is
// listed there; this may take as long as the timeout of the options. The error is an [ErrNotFound], an [ErrUnavailable], or a
// description of the mistake in the file or the key.
func (s *Store) Get(ctx context.Context, provider, name string) (Key, error) {
	name = cmp.Or(name, Default)
	key, err := s.get(ctx, provider, name)
	if err != nil {
		return Key{}, fmt.Errorf("key %s of %s: %w", name, provider, err)
	}
	return key, nil
}

// Reveal is Get for callers that need the secret itself.
func (s *Store) Reveal(ctx context.Context, provider, name string) (string, error) {
	key, err := s.Get(ctx, provider, name)
	return key.Reveal(), err
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
		return Key{}, fmt.Errorf("%w in the keyring, although keys.json lists it there; add it again", ErrNotFound)
	}
	if err != nil {
		return Key{}, err
	}
	return New(secret)
}

// Set stores a key in the keyring, or in the file if the keyring is off, absent or silent. It replaces a key of the same name
// and preserves its position in the order. The entry has the place of the key. An empty name is [Default].
func (s *Store) Set(ctx context.Context, provider, name string, key Key) (Entry, error) {
	name = cmp.Or(name, Default)
	if !isName(provider) || !isName(name) {
		return Entry{}, fmt.Errorf("keys: cannot store the key: %q and %q must be names of 1 to 64 characters from a-z A-Z 0-9 . _ -", provider, name)
	}
	if key.IsZero() {
		return Entry{}, errors.New("keys: cannot store the key: it is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := record{Entry: Entry{Provider: provider, Name: name, Place: InKeyring, Added: s.now().UTC().Truncate(time.Second), Hint: key.Hint()}}
	added := false // to the keyring
	err := s.file.change(ctx, func(doc *document) error {
		i := doc.index(provider, name)
		if i < 0 && len(doc.Keys) >= maxEntries {
			return fmt.Errorf("keys: cannot add a key: there are already %d; delete some", len(doc.Keys))
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
			_ = s.ring.delete(ctx, user(provider, name)) // the old key; if the deletion fails, no entry refers to the key
		}
		doc.Keys[i] = r
		return nil
	})
	if err != nil {
		if added {
			_ = s.ring.delete(ctx, user(provider, name)) // without its entry, no call could find or delete the key
		}
		return Entry{}, err
	}
	return r.Entry, nil
}

// Delete removes a key from its place. The error is an [ErrNotFound], or an [ErrUnavailable] if the key is in a keyring that
// does not answer. In that case the key remains.
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

// index returns the index of a key, or -1.
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
