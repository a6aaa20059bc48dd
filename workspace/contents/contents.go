// Package contents keeps bytes by their SHA-256: the files that undo restores, and artifacts. [Dir] keeps them as files
// of a directory, [Blobs] in the blobs of a session store. Both are bounded.
package contents

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// Store keeps contents. It is safe for concurrent use.
type Store interface {
	// Put keeps contents, and returns when they are durable. It reads each reader to its end, one after the other, also if it does
	// not keep the content: then there is no error, and Kept.Lost has the reason. After an error the store may have some of them.
	Put(ctx context.Context, from ...io.Reader) ([]Kept, error)

	// Open opens a content. The caller closes it. The error is [ErrNotKept] if the store does not have it. If the content is not what
	// it was, Open or Read returns a [*DamagedError].
	Open(ctx context.Context, hash string) (io.ReadCloser, error)
}

// Kept is the outcome of putting one content into a store.
type Kept struct {
	Hash string // SHA-256 in lower-case hexadecimal
	Size int64
	Lost string // the reason why the store does not have it; empty if it has
}

// Options bound a store. The zero value of each field is its default.
type Options struct {
	MaxFile  int64 // bytes of one content; default 16 MiB
	MaxTotal int64 // bytes of all contents, about; default 512 MiB
}

func (o Options) withDefaults() Options {
	if o.MaxFile <= 0 {
		o.MaxFile = 16 << 20
	}
	if o.MaxTotal <= 0 {
		o.MaxTotal = 512 << 20
	}
	return o
}

// ErrNotKept reports that a store does not have a content.
var ErrNotKept = errors.New("the content is not kept")

// DamagedError reports that a content is no longer what it was.
type DamagedError struct {
	Hash string
	Err  error // the cause, if it is known
}

// Error implements [error].
func (e *DamagedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("the content %.12s is damaged: %v", e.Hash, e.Err)
	}
	return fmt.Sprintf("the content %.12s is damaged", e.Hash)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// Code returns "contents.damaged".
func (e *DamagedError) Code() string { return "contents.damaged" }

// Put keeps one content in a store.
func Put(ctx context.Context, s Store, r io.Reader) (Kept, error) {
	kept, err := s.Put(ctx, r)
	if err != nil {
		return Kept{}, err
	}
	return kept[0], nil
}

// Get returns a whole content of a store, which may be as large as the bound of the store.
func Get(ctx context.Context, s Store, hash string) ([]byte, error) {
	r, err := s.Open(ctx, hash)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return data, nil
}

// File returns the path of a file with a content, for programs that open files. For a [Dir] it is the file of the store, which must not
// be changed. For another store File writes a copy into dir, unless it is there, and makes dir for this user alone.
func File(ctx context.Context, s Store, hash, dir string) (string, error) {
	if d, ok := s.(*Dir); ok {
		return d.file(hash)
	}
	r, err := s.Open(ctx, hash)
	if err != nil {
		return "", err
	}
	defer r.Close()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(dir, nameOf(hash))
	if _, err := os.Lstat(name); err == nil {
		return name, nil
	}
	temp, err := writeTemp(dir, r)
	if err == nil {
		err = os.Rename(temp, name)
	}
	if err != nil {
		return "", errors.Join(err, removeTemp(temp))
	}
	return name, nil
}

// tempPrefix begins the names of files that are not complete.
const tempPrefix = "tmp-"

// writeTemp writes to a new file with a temporary name, and returns that name, also with an error if there is such a file.
func writeTemp(dir string, r io.Reader) (string, error) {
	f, err := os.OpenFile(filepath.Join(dir, tempPrefix+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, r)
	return f.Name(), errors.Join(err, f.Close())
}

func removeTemp(name string) error {
	if name == "" {
		return nil
	}
	return os.Remove(name)
}

// nameOf returns the name of the file of a content: half of the hash is unique enough, and the whole is compared when it is read.
func nameOf(hash string) string { return hash[:hashSize/2] + ".txt" }

const hashSize = 2 * sha256.Size

// check refuses a text that is not a hash.
func check(hash string) error {
	if b, err := hex.DecodeString(hash); err != nil || len(b) != sha256.Size {
		return fmt.Errorf("contents: %q is not a SHA-256 in hexadecimal", hash)
	}
	return nil
}

// limit reads a content up to a size that a store keeps. The rest it reads for the hash alone.
type limit struct {
	r    io.Reader
	hash hash.Hash
	size int64 // read so far
	most int64
}

func newLimit(r io.Reader, most int64) *limit { return &limit{r: r, hash: sha256.New(), most: most} }

// Read implements [io.Reader]. It ends after one byte more than the limit.
func (l *limit) Read(p []byte) (int, error) {
	if l.size > l.most {
		return 0, io.EOF
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.most+1-l.size)])
	l.hash.Write(p[:n])
	l.size += int64(n)
	return n, err
}

// kept reads the rest, and returns the hash and size of all.
func (l *limit) kept() (Kept, error) {
	k := Kept{}
	if l.size > l.most {
		n, err := io.Copy(struct{ io.Writer }{l.hash}, l.r) // the struct hides methods, so that Copy takes a small buffer
		if l.size += n; err != nil {
			return k, err
		}
		k.Lost = fmt.Sprintf("it is larger than %s", bytesInWords(l.most))
	}
	k.Hash, k.Size = hex.EncodeToString(l.hash.Sum(nil)), l.size
	return k, nil
}

// full is the reason why a full store does not keep a content.
func full(most int64) string { return fmt.Sprintf("%s are kept already", bytesInWords(most)) }

func bytesInWords(n int64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB"} {
		if n < 10<<10 || n%1024 != 0 && n < 10<<20 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n /= 1024
	}
	return fmt.Sprintf("%d GiB", n)
}

// verified reads a content and compares its hash at the end.
type verified struct {
	io.ReadCloser
	want string
	hash hash.Hash
}

func verify(r io.ReadCloser, hash string) io.ReadCloser { return &verified{r, hash, sha256.New()} }

// Read implements [io.Reader].
func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(v.hash.Sum(nil)) != v.want {
		return n, &DamagedError{Hash: v.want}
	}
	return n, err
}

// Blobs is a [Store] in the blobs of a session store. PutBlob and GetBlob are those of one session, such as session.Log has them. They may be
// called concurrently.
type Blobs struct {
	PutBlob func(ctx context.Context, data []byte) (hash string, err error)
	GetBlob func(ctx context.Context, hash string) ([]byte, error)
	Missing error // GetBlob wraps it if there is no such blob
	Damaged error // GetBlob wraps it if the blob is not what it was

	Options Options
}

// Put implements [Store]. The bound of all contents is that of the session store.
func (b *Blobs) Put(ctx context.Context, from ...io.Reader) ([]Kept, error) {
	all := make([]Kept, 0, len(from))
	for _, r := range from {
		l := newLimit(r, b.Options.withDefaults().MaxFile)
		data, err := io.ReadAll(l)
		if err != nil {
			return nil, err
		}
		k, err := l.kept()
		if err == nil && k.Lost == "" {
			_, err = b.PutBlob(ctx, data)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	return all, nil
}

// Open implements [Store].
func (b *Blobs) Open(ctx context.Context, hash string) (io.ReadCloser, error) {
	if err := check(hash); err != nil {
		return nil, err
	}
	data, err := b.GetBlob(ctx, hash)
	switch {
	case err == nil:
		return verify(io.NopCloser(bytes.NewReader(data)), hash), nil
	case b.Missing != nil && errors.Is(err, b.Missing):
		return nil, fmt.Errorf("%w: %w", ErrNotKept, err)
	case b.Damaged != nil && errors.Is(err, b.Damaged):
		return nil, &DamagedError{hash, err}
	}
	return nil, err
}
