package keys

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// fileName is the file in the configuration directory.
const fileName = "keys.json"

// Bounds of the file.
const (
	maxFile    = 8 << 20
	maxEntries = 200
	version    = 1
)

// record is a key as the file has it. Secret is there only when the place is the file.
type record struct {
	Entry
	Secret string `json:"key,omitzero"`
}

// document is the file.
type document struct {
	Version int      `json:"version"`
	Keys    []record `json:"keys"`
}

// file is keys.json. Whoever changes it holds the lock, and writes it whole beside the old one. Without a directory there is
// none: a relative path would be that of the project, which may be anybody's.
type file struct{ dir string }

var errNoPlace = errors.New("keys: there is no place for keys: set TENON_CONFIG_DIR to a directory")

func (f file) path() string { return filepath.Join(f.dir, fileName) }

// load reads the file. That there is none is no error.
func (f file) load() (document, error) {
	if f.dir == "" {
		return document{Version: version}, nil
	}
	in, err := os.OpenFile(f.path(), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is refused, not waited for
	if errors.Is(err, fs.ErrNotExist) {
		return document{Version: version}, nil
	}
	if err != nil {
		return document{}, fmt.Errorf("keys: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return document{}, fmt.Errorf("keys: %w", err)
	}
	if err := f.private(info); err != nil {
		return document{}, err
	}
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return document{}, fmt.Errorf("keys: read %s: %w", f.path(), err)
	}
	return f.decode(data)
}

// private refuses a file that others can read. Windows keeps that elsewhere, and by default to its owner.
func (f file) private(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return fmt.Errorf("keys: %s is not a file; move it away", f.path())
	case runtime.GOOS != "windows" && mode.Perm()&0o077 != 0:
		return fmt.Errorf("keys: %s can be read or changed by others (its mode is %#o), and may hold keys; run: chmod 600 %q", f.path(), mode.Perm(), f.path())
	}
	return nil
}

// decode reads the bytes of the file. Its errors show none of them: there may be keys among them.
func (f file) decode(data []byte) (document, error) {
	corrupt := func(why string) (document, error) {
		return document{}, fmt.Errorf("keys: %s is damaged: %s; mend it or move it away, then add the keys again", f.path(), why)
	}
	if len(data) > maxFile {
		return corrupt("it is too large")
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return corrupt(fmt.Sprintf("it is not JSON from byte %d on", e.Offset))
		}
		return corrupt("it is not the JSON that it should be")
	}
	if doc.Version != version {
		return corrupt(fmt.Sprintf("its version is %d, and this program knows version %d", doc.Version, version))
	}
	seen := map[[2]string]bool{}
	for i, r := range doc.Keys {
		id := [2]string{r.Provider, r.Name}
		if !isName(r.Provider) || !isName(r.Name) || seen[id] {
			return corrupt(fmt.Sprintf("key number %d has no name, or that of another one", i+1))
		}
		seen[id] = true
		switch _, err := New(r.Secret); {
		case r.Place == InFile && err != nil:
			return corrupt(fmt.Sprintf("key %s/%s: %v", r.Provider, r.Name, err))
		case r.Place != InFile && r.Place != InKeyring:
			return corrupt(fmt.Sprintf("key %s/%s is in a place that this program does not know", r.Provider, r.Name))
		}
	}
	return doc, nil
}

// change lets edit change the document and writes it, while no other process does. It is written only if edit has no error.
func (f file) change(ctx context.Context, edit func(*document) error) error {
	if f.dir == "" {
		return errNoPlace
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("keys: make the directory: %w", err)
	}
	lock := flock.New(f.path()+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("keys: lock the file: %w", err)
	}
	defer lock.Close()
	doc, err := f.load()
	if err != nil {
		return err
	}
	if err := edit(&doc); err != nil {
		return err
	}
	if err := f.save(doc); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	return nil
}

// save writes the file whole or not at all. The caller holds the lock: a file that is being written is that of a process that died,
// and may have keys in it that are to be forgotten.
func (f file) save(doc document) (err error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	next := f.path() + ".tmp"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = out.Close()
			_ = os.Remove(next)
		}
	}()
	if _, err := out.Write(b.Bytes()); err != nil {
		return err
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(next, f.path())
}
