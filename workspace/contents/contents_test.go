package contents_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/workspace/contents"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CONTENTS_TEST_WRITER"); dir != "" {
		d := contents.NewDir(dir, contents.Options{})
		for i := range 30 {
			if _, err := contents.Put(context.Background(), d, strings.NewReader(fmt.Sprint(i))); err != nil {
				panic(err)
			}
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// open is a store that can be opened again.
type open func(contents.Options) contents.Store

// blobs are the contents of a session in its store.
func blobs(t *testing.T, log session.Log) open {
	t.Helper()
	id, err := log.Create(t.Context(), session.Created{Dir: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(o contents.Options) contents.Store {
		return &contents.Blobs{
			PutBlob: func(ctx context.Context, data []byte) (string, error) { return log.PutBlob(ctx, id, data) },
			GetBlob: log.Blob, Missing: session.ErrNotFound, Damaged: session.ErrCorrupt, Options: o,
		}
	}
}

// TestContract holds for every store.
func TestContract(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) open{
		"directory": func(t *testing.T) open {
			dir := filepath.Join(t.TempDir(), "a", "store")
			return func(o contents.Options) contents.Store { return contents.NewDir(dir, o) }
		},
		"blobs in memory": func(t *testing.T) open { return blobs(t, memory.New()) },
		"blobs in SQLite": func(t *testing.T) open {
			store, err := sqlite.Open(filepath.Join(t.TempDir(), "sessions.db"))
			if err != nil {
				t.Fatal(err)
			}
			return blobs(t, store)
		},
	} {
		t.Run(name, func(t *testing.T) { contract(t, start(t)) })
	}
}

func contract(t *testing.T, open open) {
	s := open(contents.Options{MaxFile: 100 << 10})
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(i * i >> 3 * 7)
	}
	texts := []string{"", "short", strings.Repeat("long ", 20_000), string(noise), "short"}
	var all []io.Reader
	for _, text := range texts {
		all = append(all, iotest.OneByteReader(strings.NewReader(text)))
	}
	kept, err := s.Put(t.Context(), all...)
	if err != nil || len(kept) != len(texts) {
		t.Fatalf("%+v, %v", kept, err)
	}
	for i, text := range texts {
		if want := (contents.Kept{Hash: hashOf(text), Size: int64(len(text))}); kept[i] != want {
			t.Errorf("kept %+v, want %+v", kept[i], want)
		}
		has(t, s, text)
		has(t, open(contents.Options{}), text)
	}
	for _, hash := range []string{"../../etc/passwd", "", strings.Repeat("g", 64), hashOf("x")[:63]} {
		if _, err := s.Open(t.Context(), hash); err == nil || errors.Is(err, contents.ErrNotKept) {
			t.Errorf("%q is taken for a hash: %v", hash, err)
		}
	}
	if _, err := contents.Get(t.Context(), s, hashOf("never")); !errors.Is(err, contents.ErrNotKept) {
		t.Errorf("a content that was never put: %v", err)
	}

	large := strings.Repeat("x", 100<<10+1)
	k, err := contents.Put(t.Context(), s, strings.NewReader(large))
	if want := (contents.Kept{Hash: hashOf(large), Size: int64(len(large)), Lost: "it is larger than 100 KiB"}); err != nil || k != want {
		t.Errorf("a large content: %+v, %v", k, err)
	}
	if _, err := s.Open(t.Context(), hashOf(large)); !errors.Is(err, contents.ErrNotKept) {
		t.Errorf("a large content: %v", err)
	}
	if k, err := contents.Put(t.Context(), s, strings.NewReader(large[1:])); err != nil || k.Lost != "" {
		t.Errorf("a content of the largest size: %+v, %v", k, err)
	}

	if _, err := s.Put(t.Context(), strings.NewReader("before"), iotest.ErrReader(fs.ErrPermission)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a reader that fails: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := contents.Put(ended, s, strings.NewReader("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	if none, err := s.Put(t.Context()); err != nil || len(none) != 0 {
		t.Errorf("nothing: %v, %v", none, err)
	}

	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range 20 {
				if k, err := contents.Put(t.Context(), s, strings.NewReader(fmt.Sprint(i))); err != nil || k.Lost != "" {
					t.Error(k, err)
				}
			}
		})
	}
	workers.Wait()
	for i := range 20 {
		has(t, s, fmt.Sprint(i))
	}

	// A file for programs that open files.
	dir := filepath.Join(t.TempDir(), "files")
	for range 2 {
		name, err := contents.File(t.Context(), s, hashOf("short"), dir)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(name); err != nil || string(data) != "short" || !filepath.IsAbs(name) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := contents.File(t.Context(), s, hashOf("never"), dir); !errors.Is(err, contents.ErrNotKept) {
		t.Errorf("the file of a content that was never put: %v", err)
	}
}

func has(t testing.TB, s contents.Store, text string) {
	t.Helper()
	if data, err := contents.Get(t.Context(), s, hashOf(text)); err != nil || string(data) != text {
		t.Errorf("%.40q, %v; want %.40q", data, err, text)
	}
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, filepath.Join(dir, e.Name()))
	}
	return out
}

// Only this user can read a directory of contents. It holds the contents, and nothing else.
func TestDirIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := contents.NewDir(dir, contents.Options{MaxFile: 10})
	if _, err := s.Open(t.Context(), hashOf("x")); !errors.Is(err, contents.ErrNotKept) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made the directory: %v", err)
	}
	many := make([]io.Reader, 100)
	for i := range many {
		many[i] = strings.NewReader(fmt.Sprint(i % 90))
	}
	if _, err := s.Put(t.Context(), many...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), strings.NewReader("larger than ten bytes")); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, dir)); n != 90 {
		t.Errorf("%d files", n)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, name := range append(files(t, dir), dir) {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v; others can read it", name, info.Mode(), err)
		}
	}
}

// A full directory keeps no more.
func TestBoundOfAll(t *testing.T) {
	text := func(i int) string { return strings.Repeat(string(rune('a'+i)), 90<<10) }
	dir := t.TempDir()
	o := contents.Options{MaxTotal: 1 << 20}
	s := contents.NewDir(dir, o)
	for i := range 20 {
		if i == 15 {
			s = contents.NewDir(dir, o)
		}
		kept, err := contents.Put(t.Context(), s, strings.NewReader(text(i)))
		if err != nil {
			t.Fatal(err)
		}
		if want := i >= 11; (kept.Lost == "1024 KiB are kept already") != want {
			t.Errorf("content %d: %q", i, kept.Lost)
		}
	}
	if n := len(files(t, dir)); n != 11 {
		t.Errorf("%d files", n)
	}
	has(t, s, text(0))
}

// Open or Read reports every change of a file, and no other content is lost by it.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := contents.NewDir(dir, contents.Options{})
	if _, err := s.Put(t.Context(), strings.NewReader("the first content"), strings.NewReader("the second content")); err != nil {
		t.Fatal(err)
	}
	name, err := contents.File(t.Context(), s, hashOf("the first content"), "")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		for _, data := range [][]byte{damaged, whole[:i]} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := contents.Get(t.Context(), s, hashOf("the first content"))
			if _, ok := errors.AsType[*contents.DamagedError](err); !ok {
				t.Errorf("byte %d: %v", i, err)
			}
		}
		has(t, s, "the second content")
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := contents.Get(t.Context(), s, hashOf("the first content")); err == nil || errors.Is(err, contents.ErrNotKept) {
		t.Errorf("a directory: %v", err)
	}
}

// A blob that the session store reports as damaged is a damaged content.
func TestDamagedBlob(t *testing.T) {
	s := &contents.Blobs{
		GetBlob: func(context.Context, string) ([]byte, error) { return []byte("other"), nil },
	}
	if _, err := contents.Get(t.Context(), s, hashOf("x")); !isDamaged(err) {
		t.Errorf("another content: %v", err)
	}
	s.Damaged, s.GetBlob = session.ErrCorrupt, func(context.Context, string) ([]byte, error) { return nil, session.ErrCorrupt }
	if _, err := contents.Get(t.Context(), s, hashOf("x")); !isDamaged(err) || !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("a damaged blob: %v", err)
	}
}

func isDamaged(err error) bool {
	_, ok := errors.AsType[*contents.DamagedError](err)
	return ok
}

// Several processes fill one directory, and every content is there in the end.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	var running []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CONTENTS_TEST_WRITER="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := contents.NewDir(dir, contents.Options{})
	for i := range 30 {
		has(t, s, fmt.Sprint(i))
	}
	if n := len(files(t, dir)); n != 30 {
		t.Errorf("%d files", n)
	}
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := contents.NewDir(filepath.Join(file, "dir"), contents.Options{})
	if _, err := contents.Put(t.Context(), s, strings.NewReader("x")); err == nil || !strings.Contains(err.Error(), "contents: ") {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Open(t.Context(), hashOf("x")); err == nil {
		t.Errorf("open: %v", err)
	}
}
