package checkpoint_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("CHECKPOINT_TEST_WRITER"); dir != "" {
		writeMany(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, dir string, o checkpoint.Options) *checkpoint.Store {
	t.Helper()
	s, err := checkpoint.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t testing.TB, s *checkpoint.Store, text string) checkpoint.Kept {
	t.Helper()
	kept, err := s.Put(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

func has(t testing.TB, s *checkpoint.Store, hash, want string) {
	t.Helper()
	if data, err := s.Get(hash); err != nil || string(data) != want {
		t.Errorf("%.12s is %.40q, %v; want %.40q", hash, data, err, want)
	}
}

func hashOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func TestContentsComeBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "store")
	s := open(t, dir, checkpoint.Options{})
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(i * i >> 3 * 7)
	}
	texts := []string{"", "short", strings.Repeat("long ", 100_000), string(noise)}
	for _, text := range texts {
		kept := put(t, s, text)
		if want := (checkpoint.Kept{Hash: hashOf(text), Size: int64(len(text))}); kept != want {
			t.Errorf("kept %+v, want %+v", kept, want)
		}
		has(t, s, kept.Hash, text)
		if put(t, s, text) != kept {
			t.Error("twice is not the same")
		}
	}
	again := open(t, dir, checkpoint.Options{})
	for _, text := range texts {
		has(t, again, hashOf(text), text)
	}
	if _, err := s.Get(hashOf("never")); !errors.Is(err, checkpoint.ErrNotKept) {
		t.Errorf("what was never put: %v", err)
	}
	if _, err := s.Get("../../etc/passwd"); err == nil {
		t.Error("a path is taken for a hash")
	}
	if runtime.GOOS != "windows" {
		for _, name := range append(files(t, dir), dir) {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v, %v; others can read it", name, info.Mode(), err)
			}
		}
	}
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

// What one store puts, another that is open finds.
func TestAnotherStoreFindsIt(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, checkpoint.Options{}), open(t, dir, checkpoint.Options{})
	has(t, b, put(t, a, "one").Hash, "one")
	has(t, a, put(t, b, "two").Hash, "two")
}

func TestCaps(t *testing.T) {
	s := open(t, t.TempDir(), checkpoint.Options{MaxFile: 100 << 10, MaxTotal: 1 << 20})
	large := strings.Repeat("x", 200<<10)
	if kept := put(t, s, large); kept.Hash != hashOf(large) || kept.Size != 200<<10 || kept.Lost != "it is larger than 100 KiB" {
		t.Errorf("a large content: %+v", kept)
	}
	if _, err := s.Get(hashOf(large)); !errors.Is(err, checkpoint.ErrNotKept) {
		t.Errorf("it can be had: %v", err)
	}
	exact := strings.Repeat("x", 100<<10)
	has(t, s, put(t, s, exact).Hash, exact)

	batch := s.Batch()
	var buffer []byte
	lost := 0
	for i := range 20 {
		kept, b, err := batch.Put(bytes.NewReader(bytes.Repeat([]byte{byte(i)}, 90<<10)), buffer)
		if err != nil {
			t.Fatal(err)
		}
		if buffer = b; kept.Lost == "the session has kept 1024 KiB already" {
			lost++
		} else if kept.Lost != "" {
			t.Fatal(kept.Lost)
		}
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if lost < 14 || lost == 20 {
		t.Errorf("%d of 20 did not fit into half of the room", lost)
	}
	if kept := put(t, s, "small"); kept.Lost != "" {
		t.Errorf("a batch took all of the room: %s", kept.Lost)
	}
	r := uint32(1)
	for i := range 20 {
		data := make([]byte, 90<<10)
		for i := range data {
			r = r*1664525 + 1013904223
			data[i] = byte(r >> 24)
		}
		kept, err := s.Put(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if i == 19 && kept.Lost == "" {
			t.Error("there is no bound")
		}
	}
}

func TestBatch(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, checkpoint.Options{})
	put(t, s, "0")
	batch := s.Batch()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			var buffer []byte
			for i := range 200 {
				text := fmt.Sprint(i)
				kept, b, err := batch.Put(strings.NewReader(text), buffer)
				if buffer = b; err != nil || kept.Hash != hashOf(text) || kept.Lost != "" {
					t.Error(kept, err)
				}
			}
		})
	}
	workers.Wait()
	if s.Has(hashOf("7")) {
		t.Error("it can be had before Commit")
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		has(t, s, hashOf(fmt.Sprint(i)), fmt.Sprint(i))
	}
	if n := len(files(t, dir)); n != 3 {
		t.Errorf("%d files for a batch, another content and the lock", n)
	}
	empty := s.Batch()
	if _, _, err := empty.Put(iotest.ErrReader(fs.ErrPermission), nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	if err := empty.Commit(); err != nil || len(files(t, dir)) != 3 {
		t.Errorf("an empty batch: %v, %d files", err, len(files(t, dir)))
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, checkpoint.Options{})
	long := strings.Repeat("a long text\n", 10_000)
	put(t, s, "kept")
	put(t, s, "dropped")
	batch := s.Batch()
	for _, text := range []string{long, long + "!", "dropped too"} {
		if _, _, err := batch.Put(strings.NewReader(text), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tmp-left"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	keep := map[string]bool{hashOf("kept"): true, hashOf(long): true}
	other := open(t, dir, checkpoint.Options{})
	if err := s.Sweep(func(hash string) bool { return keep[hash] }); err != nil {
		t.Fatal(err)
	}
	has(t, s, hashOf("dropped"), "dropped") // others have it open
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Sweep(func(hash string) bool { return keep[hash] }); err != nil {
			t.Fatal(err)
		}
		has(t, s, hashOf("kept"), "kept")
		has(t, s, hashOf(long), long)
		for _, text := range []string{"dropped", "dropped too", long + "!"} {
			if _, err := s.Get(hashOf(text)); !errors.Is(err, checkpoint.ErrNotKept) {
				t.Errorf("%.12q: %v", text, err)
			}
		}
		size := int64(0)
		for _, name := range files(t, dir) {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if n := len(files(t, dir)); n != 3 || size > 2000 {
			t.Errorf("%d files with %d bytes are left: %q", n, size, files(t, dir))
		}
	}
	has(t, open(t, dir, checkpoint.Options{}), hashOf(long), long)
}

// A byte that changed is noticed, wherever it is, and nothing else is lost by it.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, checkpoint.Options{})
	one := put(t, s, "the first content")
	two := put(t, s, "the second content")
	name := filepath.Join(dir, one.Hash+".pack")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		again := open(t, dir, checkpoint.Options{})
		data, err := again.Get(one.Hash)
		_, isDamaged := errors.AsType[*checkpoint.DamagedError](err)
		if string(data) != "the first content" && !isDamaged && !errors.Is(err, checkpoint.ErrNotKept) {
			t.Errorf("byte %d: %q, %v", i, data, err)
		}
		has(t, again, two.Hash, "the second content")
	}
	for i := range whole {
		if err := os.WriteFile(name, whole[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if data, err := open(t, dir, checkpoint.Options{}).Get(one.Hash); err == nil {
			t.Errorf("cut at %d: %q", i, data)
		}
	}
}

// Several processes fill one store, and every content is there in the end.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	var running []*exec.Cmd
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CHECKPOINT_TEST_WRITER="+dir)
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
	s := open(t, dir, checkpoint.Options{})
	for i := range 30 {
		has(t, s, hashOf(fmt.Sprint(i)), fmt.Sprint(i))
	}
	if n := len(files(t, dir)); n != 31 {
		t.Errorf("%d files", n)
	}
}

func writeMany(dir string) {
	s, err := checkpoint.Open(dir, checkpoint.Options{})
	if err != nil {
		panic(err)
	}
	for i := range 30 {
		if _, err := s.Put(strings.NewReader(fmt.Sprint(i))); err != nil {
			panic(err)
		}
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
}

func FuzzPack(f *testing.F) {
	dir := f.TempDir()
	s := open(f, dir, checkpoint.Options{})
	kept := put(f, s, strings.Repeat("content ", 20))
	name := filepath.Join(dir, kept.Hash+".pack")
	data, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.pack"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := checkpoint.Open(dir, checkpoint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if data, err := s.Get(kept.Hash); err == nil && hashOf(string(data)) != kept.Hash {
			t.Errorf("%q passes for another content", data)
		}
	})
}

// A store that keeps nothing makes no directory, and one finds what another has made meanwhile.
func TestNoDirectoryBeforeThereIsContent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions", "one")
	s := open(t, dir, checkpoint.Options{})
	if err := s.Sweep(func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(hashOf("x")); !errors.Is(err, checkpoint.ErrNotKept) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a directory: %v", err)
	}
	if !s.Empty() {
		t.Error("it is not empty")
	}
	put(t, open(t, dir, checkpoint.Options{}), "x")
	has(t, s, hashOf("x"), "x")
	if s.Empty() {
		t.Error("it is empty")
	}
	put(t, s, "y")
	if got := len(files(t, dir)); got != 3 { // with the lock
		t.Errorf("%d files: %q", got, files(t, dir))
	}
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(filepath.Dir(file), "dir"), checkpoint.Options{})
	if err := os.Rename(file, filepath.Join(filepath.Dir(file), "dir")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(strings.NewReader("x")); err == nil || !strings.Contains(err.Error(), "checkpoints: ") {
		t.Errorf("put: %v", err)
	}
	if _, err := s.Get(hashOf("x")); err == nil || errors.Is(err, checkpoint.ErrNotKept) {
		t.Errorf("get: %v", err)
	}
	if _, err := checkpoint.Open(filepath.Join(filepath.Dir(file), "dir"), checkpoint.Options{}); err == nil {
		t.Error("a file was opened as a store")
	}
}
