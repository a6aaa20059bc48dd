package checkpoint_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

func records(t *testing.T, s *checkpoint.Store) (texts []string, alive time.Time) {
	t.Helper()
	all, alive, err := s.ReadLog()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		texts = append(texts, string(r))
	}
	return texts, alive
}

func TestLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir, checkpoint.Options{})
	if _, _, err := s.ReadLog(); !errors.Is(err, fs.ErrNotExist) || s.HasLog() || s.RemoveLog() != nil {
		t.Errorf("no log: %v", err)
	}
	begin := time.Now()
	l, err := s.CreateLog([]byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte("second")); err != nil {
		t.Fatal(err)
	}
	size := l.Size()
	other := open(t, dir, checkpoint.Options{})
	texts, alive := records(t, other)
	if !slices.Equal(texts, []string{"first", "second"}) || alive.Before(begin) || alive.After(time.Now()) || !other.HasLog() {
		t.Errorf("%q, alive at %v", texts, alive)
	}
	if err := l.Beat(); err != nil || l.Size() != size {
		t.Error(err)
	}
	if _, later := records(t, other); !later.After(alive) {
		t.Errorf("alive at %v, then at %v", alive, later)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l.Append(nil) == nil || l.Beat() == nil {
		t.Error("a closed log is written")
	}
	if l, err = s.CreateLog([]byte("another")); err != nil || l.Close() != nil {
		t.Fatal(err)
	}
	if texts, _ := records(t, other); !slices.Equal(texts, []string{"another"}) {
		t.Errorf("%q", texts)
	}
	if err := s.Sweep(func(string) bool { return false }); err != nil || !s.HasLog() {
		t.Errorf("after a sweep: %v", err)
	}
	if err := s.RemoveLog(); err != nil || s.HasLog() {
		t.Errorf("removed: %v", err)
	}
}

// Whatever is cut off or turned over in a log: what is whole before it is there, and nothing else.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, checkpoint.Options{})
	l, err := s.CreateLog([]byte("first"))
	if err != nil {
		t.Fatal(err)
	}
	one := l.Size()
	if err := errors.Join(l.Append([]byte("second")), l.Close()); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "baseline")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, data []byte, want []string) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		all, _, err := s.ReadLog()
		if _, damaged := errors.AsType[*checkpoint.DamagedLogError](err); damaged != (len(want) == 0) || len(all) != len(want) {
			t.Errorf("%s: %q, %v", what, all, err)
		}
	}
	for size := range len(whole) {
		want := []string{"first"}
		if int64(size) < one {
			want = nil
		}
		check("cut off", whole[:size], want)
	}
	turned := slices.Clone(whole)
	turned[len(turned)-1] ^= 1
	check("turned over at the end", turned, []string{"first"})
	turned[one-1] ^= 1
	check("turned over", turned, nil)
	turned = slices.Clone(whole)
	turned[0] ^= 1
	check("another file", turned, nil)
}
