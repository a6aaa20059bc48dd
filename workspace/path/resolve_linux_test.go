package path_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/workspace/path"
)

// The system is asked about random names in random trees of directories, files and links, and every answer is that of this package:
// which file a name leads to, which one it would create, and which error it ends with.
func TestResolveIsTheKernel(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		root := filepath.Join(base, fmt.Sprint(round))
		defer os.RemoveAll(root)
		plant(t, root)
		for range 12 {
			name := root + "/" + relative(root).Draw(t, "name")
			compare(t, root, name)
		}
	})
}

// plant makes a tree below a directory.
func plant(t *rapid.T, root string) {
	dirs := []string{root}
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(2, 14).Draw(t, "entries") {
		at := filepath.Join(rapid.SampledFrom(dirs).Draw(t, "in"), rapid.SampledFrom(names()).Draw(t, "entry"))
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			if os.Mkdir(at, 0o755) == nil {
				dirs = append(dirs, at)
			}
		case 1:
			_ = os.WriteFile(at, []byte(at), 0o600)
		default:
			target := relative(root).Draw(t, "target")
			if rapid.IntRange(0, 3).Draw(t, "absolute") == 0 {
				target = root + "/" + target
			}
			_ = os.Symlink(target, at)
		}
	}
}

func names() []string { return []string{"a", "b", "c", "d"} }

// relative is a name with all that a name can have: "..", ".", doubled separators, separators at the end.
func relative(root string) *rapid.Generator[string] {
	parts := rapid.SliceOfN(rapid.SampledFrom(append(names(), "a", "b", "..", "..", ".", "", "missing")), 1, 6)
	return rapid.Custom(func(t *rapid.T) string {
		name := strings.TrimLeft(strings.Join(parts.Draw(t, "parts"), "/"), "/")
		if name == "" {
			return "."
		}
		return name
	})
}

func compare(t *rapid.T, root, name string) {
	r := &path.Resolver{}
	if rapid.Bool().Draw(t, "from the root") {
		r.Bases = []string{root}
	}
	got, err := r.Resolve(name)
	once, onceErr := path.Once().Resolve(name)
	if once != got || fmt.Sprint(onceErr) != fmt.Sprint(err) {
		t.Fatalf("%s: %+v, %v; asked once %+v, %v", name, got, err, once, onceErr)
	}
	opened, failed := kernel(name)
	switch {
	case failed == nil:
		if err != nil || got.Path != opened || !got.Exists {
			t.Fatalf("%s: the kernel opens %s; got %+v, %v", name, opened, got, err)
		}
		info, err := os.Lstat(opened)
		if err != nil || info.IsDir() != got.Dir {
			t.Fatalf("%s: %+v, but %v, %v", name, got, info, err)
		}
	case errors.Is(failed, syscall.ELOOP):
		if !errors.Is(err, syscall.ELOOP) {
			t.Fatalf("%s: the kernel finds a loop; got %+v, %v", name, got, err)
		}
	case err == nil:
		if _, still := kernel(got.Path); !errors.Is(still, failed) || got.Exists {
			t.Fatalf("%s: the kernel says %v; got %+v, of which it says %v", name, failed, got, still)
		}
	case !errors.Is(err, failed):
		t.Fatalf("%s: the kernel says %v; got %v", name, failed, err)
	}
	if guess := r.Guess(name); failed == nil && guess.Path != opened {
		t.Fatalf("%s: the kernel opens %s; guessed %+v", name, opened, guess)
	}
	entry(t, r, name)
	create(t, name, got, err)
}

// kernel returns the path that the kernel opens for a name.
func kernel(name string) (string, error) {
	fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	return os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
}

// entry compares names that are not followed.
func entry(t *rapid.T, r *path.Resolver, name string) {
	got, err := r.Entry(name)
	want, failed := os.Lstat(name)
	if failed != nil {
		if err == nil && got.Exists {
			t.Fatalf("%s: the kernel says %v; got %+v", name, failed, got)
		}
		return
	}
	info, statErr := os.Lstat(got.Path)
	if err != nil || statErr != nil || !os.SameFile(info, want) || !got.Exists {
		t.Fatalf("%s itself: got %+v, %v, %v", name, got, err, statErr)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(got.Path))
	if err != nil || dir != filepath.Dir(got.Path) {
		t.Fatalf("%s itself: %s goes through links: %s, %v", name, got.Path, dir, err)
	}
}

// create lets the kernel make a file where the name leads, and removes it.
func create(t *rapid.T, name string, got path.Target, err error) {
	fd, failed := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC|unix.O_WRONLY, 0o600)
	if errors.Is(failed, syscall.EEXIST) { // O_EXCL follows no link at the end
		if _, missing := kernel(name); missing == nil {
			return
		}
		fd, failed = unix.Open(name, unix.O_CREAT|unix.O_CLOEXEC|unix.O_WRONLY, 0o600)
	}
	if failed != nil {
		return
	}
	made, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	unix.Close(fd)
	_ = os.Remove(made)
	if err != nil || got.Path != made || got.Exists {
		t.Fatalf("%s: the kernel makes %s; got %+v, %v", name, made, got, err)
	}
}

// The kernel follows forty links for one name, and no more.
func TestManyLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	last := "file"
	if err := os.WriteFile(filepath.Join(dir, last), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 45 {
		next := fmt.Sprintf("link%d", i+1)
		if err := os.Symlink(last, filepath.Join(dir, next)); err != nil {
			t.Fatal(err)
		}
		last = next
		_, failed := kernel(filepath.Join(dir, next))
		to, err := path.Resolve(filepath.Join(dir, next))
		if (failed == nil) != (err == nil) || err == nil && to != filepath.Join(dir, "file") {
			t.Errorf("%d links: the kernel says %v; got %s, %v", i+1, failed, to, err)
		}
	}
}
