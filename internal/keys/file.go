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

// fileName is the name of the file in the configuration directory.
const fileName = "keys.json"

// The limits of the file.
const (
	maxFile    = 8 << 20
	maxEntries = 200
	version    = 1
)

// record is a key in the file. Secret is set only if the place is the file.
type record struct {
	Entry
	Secret string `json:"key,omitzero"`
}

// document is the content of the file.
type document struct {
	Version int      `json:"version"`
	Keys    []record `json:"keys"`
}

// file is keys.json. A writer holds the lock, and writes a complete new file next to the old one. Without a directory there is
// no file, because a relative path would lead into the project, and its author may be anyone.
type file struct{ dir string }

var errNoPlace = errors.New("keys: cannot store keys: there is no configuration directory; set TENON_CONFIG_DIR to a directory")

func (f file) path() string { return filepath.Join(f.dir, fileName) }

// load reads the file. A missing file is no error.
func (f file) load() (document, error) {
	if f.dir == "" {
		return document{Version: version}, nil
	}
	in, err := os.OpenFile(f.path(), os.O_RDONLY|syscall.O_NONBLOCK, 0) // with O_NONBLOCK, open does not wait for the writer of a pipe
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
		return document{}, fmt.Errorf("keys: cannot read %s: %w", f.path(), err)
	}
	return f.decode(data)
}

// private refuses a file that others can read or change. Windows stores permissions elsewhere, and by default only the owner has access.
func (f file) private(info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case !mode.IsRegular():
		return fmt.Errorf("keys: cannot use %s: it is not a file; move it away", f.path())
	case runtime.GOOS != "windows" && mode.Perm()&0o077 != 0:
		return fmt.Errorf("keys: cannot use %s: others can read or change it (mode %#o), and it may contain keys; run: chmod 600 %q", f.path(), mode.Perm(), f.path())
	}
	return nil
}

// decode decodes the file. Its errors do not quote the file, which may contain keys.
func (f file) decode(data []byte) (document, error) {
	corrupt := func(why string) (document, error) {
		return document{}, fmt.Errorf("keys: %s is damaged: %s; fix it, or move it away and add the keys again", f.path(), why)
	}
	if len(data) > maxFile {
		return corrupt("it is too large")
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			return corrupt(fmt.Sprintf("it is not valid JSON at byte %d", e.Offset))
		}
		return corrupt("its JSON has an unexpected structure")
	}
	if doc.Version != version {
		return corrupt(fmt.Sprintf("its version is %d, and this program supports version %d", doc.Version, version))
	}
	seen := map[[2]string]bool{}
	for i, r := range doc.Keys {
		id := [2]string{r.Provider, r.Name}
		if !isName(r.Provider) || !isName(r.Name) || seen[id] {
			return corrupt(fmt.Sprintf("key number %d has no valid name, or the name of another key", i+1))
		}
		seen[id] = true
		switch _, err := New(r.Secret); {
		case r.Place == InFile && err != nil:
			return corrupt(fmt.Sprintf("key %s/%s: %v", r.Provider, r.Name, err))
		case r.Place != InFile && r.Place != InKeyring:
			return corrupt(fmt.Sprintf("key %s/%s is in an unknown place", r.Provider, r.Name))
		}
	}
	return doc, nil
}

// change locks the file, calls edit and writes the document. If edit fails, change writes nothing.
func (f file) change(ctx context.Context, edit func(*document) error) error {
	if f.dir == "" {
		return errNoPlace
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("keys: cannot create the directory: %w", err)
	}
	lock := flock.New(f.path()+".lock", flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("keys: cannot lock the file: %w", err)
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

// save replaces the file atomically. The caller holds the lock. So an unfinished new file comes from a process that died, and save
// removes it, because it may contain deleted keys.
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
