package baseline_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/internal/baseline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func create(t *testing.T, parent string) *baseline.Baseline {
	t.Helper()
	b, err := baseline.Create(parent)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, b *baseline.Baseline, text string) contents.Kept {
	t.Helper()
	kept, _, err := b.Put(strings.NewReader(text), nil)
	if err != nil || kept.Lost != "" || kept.Size != int64(len(text)) {
		t.Fatal(kept, err)
	}
	return kept
}

func TestContents(t *testing.T) {
	parent := t.TempDir()
	b := create(t, parent)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			var buffer []byte
			for i := range 200 {
				kept, again, err := b.Put(strings.NewReader(fmt.Sprint(i)), buffer)
				if buffer = again; err != nil || kept.Lost != "" {
					t.Error(kept, err)
				}
			}
		})
	}
	workers.Wait()
	kept := put(t, b, "7")
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(b.Open(kept.Hash)); err != nil || string(data) != "7" || !b.Has(kept.Hash) {
		t.Errorf("%q, %v", data, err)
	}
	for _, hash := range []string{strings.Repeat("0", 64), "", "x"} {
		if _, err := io.ReadAll(b.Open(hash)); !errors.Is(err, contents.ErrNotKept) || b.Has(hash) {
			t.Errorf("%q: %v", hash, err)
		}
	}
	large, _, err := b.Put(io.LimitReader(zeros{}, 16<<20+1), nil)
	if err != nil || large.Lost != "it is larger than 16 MiB" || large.Size != 16<<20+1 || b.Has(large.Hash) {
		t.Errorf("a large content: %+v, %v", large, err)
	}
	if _, _, err := b.Put(iotest.ErrReader(fs.ErrPermission), nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a file that cannot be read: %v", err)
	}
	var none *baseline.Baseline
	if hashed := put(t, none, "7"); hashed != kept {
		t.Errorf("only hashed: %+v", hashed)
	}
	if err := b.Close(false); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// The baseline of a process that lives belongs to it. That of a dead one is there for each session with commands under way, once.
func TestLeft(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "a[b", "baselines")
	b := create(t, parent)
	for _, session := range []string{"one", "two"} {
		if err := b.Mark(session); err != nil {
			t.Fatal(err)
		}
	}
	kept := put(t, b, "content")
	if err := errors.Join(b.Begin([]byte("first")), b.Append([]byte("second"))); err != nil {
		t.Fatal(err)
	}
	calls := 0
	visit := func(session string, err error) {
		t.Helper()
		got := baseline.Each(parent, session, func(b *baseline.Baseline) error {
			calls++
			records, _, e := b.Log()
			if e != nil || len(records) != 2 || string(records[1]) != "second" {
				t.Errorf("%q, %v", records, e)
			}
			if data, e := io.ReadAll(b.Open(kept.Hash)); e != nil || string(data) != "content" {
				t.Errorf("%q, %v", data, e)
			}
			return err
		})
		if !errors.Is(got, err) {
			t.Errorf("%v, want %v", got, err)
		}
	}
	if visit("one", nil); calls != 0 || !baseline.Left(parent, "one") {
		t.Errorf("%d calls for a process that lives", calls)
	}
	if err := b.Close(true); err != nil {
		t.Fatal(err)
	}
	if visit("other", nil); calls != 0 || baseline.Left(parent, "other") {
		t.Errorf("%d calls for a session without commands", calls)
	}
	visit("one", fs.ErrPermission)
	visit("one", nil)
	if visit("one", nil); calls != 2 || baseline.Left(parent, "one") {
		t.Errorf("%d calls", calls)
	}
	if err := baseline.Forget(parent, "two"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := baseline.Forget(filepath.Join(parent, "none"), "one"); err != nil {
		t.Error(err)
	}
}

// Every cut or changed byte of the files is noticed, and whole records and contents before it are there.
func TestDamage(t *testing.T) {
	parent := t.TempDir()
	b := create(t, parent)
	if err := errors.Join(b.Mark("one"), b.Begin([]byte("first"))); err != nil {
		t.Fatal(err)
	}
	one, first, second := b.Size(), put(t, b, "the first content"), put(t, b, "the second content")
	if err := errors.Join(b.Append([]byte("second")), b.Close(true)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(parent, "*", "log"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	file := filepath.Join(filepath.Dir(names[0]), "contents")
	log, data := readFile(t, names[0]), readFile(t, file)
	again := errors.New("keep it")
	check := func(what string, records int, has ...string) {
		t.Helper()
		err := baseline.Each(parent, "one", func(b *baseline.Baseline) error {
			all, _, err := b.Log()
			if _, damaged := errors.AsType[*baseline.DamagedError](err); damaged != (records == 0) || len(all) != records {
				t.Errorf("%s: %q, %v", what, all, err)
			}
			for _, hash := range []string{first.Hash, second.Hash} {
				if _, err := io.ReadAll(b.Open(hash)); (err == nil) != slices.Contains(has, hash) {
					t.Errorf("%s: content %.6s: %v", what, hash, err)
				}
			}
			return again
		})
		if !errors.Is(err, again) {
			t.Fatal(err)
		}
	}
	for size := range len(log) {
		writeFile(t, names[0], log[:size])
		records := 1
		if int64(size) < one {
			records = 0
		}
		check("a log that is cut off", records, first.Hash, second.Hash)
	}
	turned := slices.Clone(log)
	turned[one-1] ^= 1
	writeFile(t, names[0], turned)
	check("a log with another byte", 0, first.Hash, second.Hash)
	writeFile(t, names[0], log)
	end := len("the first content") + 40
	for size := range len(data) {
		writeFile(t, file, data[:size])
		if size < end {
			check("contents that are cut off", 2)
		} else {
			check("contents that are cut off", 2, first.Hash)
		}
	}
	turned = slices.Clone(data)
	turned[end-1] ^= 1
	writeFile(t, file, turned)
	check("contents with another byte", 2, second.Hash)
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The log has the time at which the process was last alive.
func TestSignsOfLife(t *testing.T) {
	b := create(t, t.TempDir())
	if b.Append(nil) == nil || b.Beat() == nil || b.Size() != 0 {
		t.Error("there is no log, and it is written")
	}
	alive := func() time.Time {
		_, at, err := b.Log()
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	begin := time.Now()
	if err := b.Begin([]byte("first")); err != nil {
		t.Fatal(err)
	}
	early, size := alive(), b.Size()
	if err := b.Beat(); err != nil || b.Size() != size || early.Before(begin) || !alive().After(early) {
		t.Errorf("alive at %v, then at %v, %v", early, alive(), err)
	}
	if err := b.Begin([]byte("another")); err != nil {
		t.Fatal(err)
	}
	if records, _, err := b.Log(); err != nil || len(records) != 1 || string(records[0]) != "another" {
		t.Errorf("%q, %v", records, err)
	}
	if err := b.Close(false); err != nil {
		t.Fatal(err)
	}
}
