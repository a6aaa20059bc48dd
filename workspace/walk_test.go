package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/workspace"
)

// However many directories are read ahead, the order is that of reading them one after the other.
func TestWalkIsInOrder(t *testing.T) {
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 2))
		dir := t.TempDir()
		w := open(t, dir)
		var fill func(rel string, depth int)
		fill = func(rel string, depth int) {
			for i := range random.IntN(12) {
				name := filepath.Join(rel, fmt.Sprintf("%c%d", 'a'+random.IntN(26), i))
				if depth < 4 && random.IntN(2) == 0 {
					if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
						t.Fatal(err)
					}
					fill(name, depth+1)
				} else {
					write(t, dir, map[string]string{name: name})
				}
			}
		}
		fill("", 0)
		var want []string
		if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if rel, _ := filepath.Rel(dir, name); rel != "." {
				want = append(want, filepath.ToSlash(rel))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var got []string
		var files []workspace.Entry
		for entry, err := range w.Walk(t.Context(), ".", workspace.WalkOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Depth != 1+strings.Count(entry.Path, "/") {
				t.Errorf("%s has the depth %d", entry.Path, entry.Depth)
			}
			got = append(got, entry.Path)
			if entry.Type.IsRegular() {
				files = append(files, entry)
				opens(t, w, entry)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("\n got %q\nwant %q", got, want)
		}
		for _, entry := range files { // the walk is over
			opens(t, w, entry)
		}
	}
}

// opens expects the path in a file.
func opens(t *testing.T, w *workspace.Workspace, entry workspace.Entry) {
	t.Helper()
	f, size, err := w.OpenEntry(entry)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || int64(len(data)) != size || filepath.ToSlash(string(data)) != entry.Path {
		t.Errorf("%s: %q, %v", entry.Path, data, err)
	}
}

// An entry of a walk may be something else when it is opened.
func TestOpenEntryOfWhatWasExchanged(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege here")
	}
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, map[string]string{"f": "secret"})
	write(t, dir, map[string]string{"a/f": "", "b/f": "", "c/f": ""})
	w := open(t, dir)
	for entry, err := range w.Walk(t.Context(), ".", workspace.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !entry.Type.IsRegular() {
			continue
		}
		full := filepath.Join(dir, entry.Path)
		switch entry.Path {
		case "a/f": // the file
			err = errors.Join(os.Remove(full), os.Symlink(filepath.Join(outside, "f"), full))
		case "b/f": // the directory
			err = errors.Join(os.RemoveAll(filepath.Dir(full)), os.Symlink(outside, filepath.Dir(full)))
		default:
			err = errors.Join(os.Remove(full), os.Mkdir(full, 0o777))
		}
		if err != nil {
			t.Fatal(err)
		}
		if f, _, err := w.OpenEntry(entry); err == nil {
			f.Close()
			t.Errorf("%s is opened", entry.Path)
		}
	}
}

func TestWalkTellsWhatCannotBeRead(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/x": "", "b/c/x": "", "d/x": ""})
	closed := filepath.Join(dir, "b", "c")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o777) })
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("modes close no directory here")
	}
	var got []string
	for entry, err := range open(t, dir).Walk(t.Context(), ".", workspace.WalkOptions{}) {
		if err != nil {
			entry.Path += fmt.Sprint(": ", errors.Is(err, fs.ErrPermission))
		}
		got = append(got, entry.Path)
	}
	if want := []string{"a", "a/x", "b", "b/c", "b/c: true", "d", "d/x"}; !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// When its caller leaves at any place, a walk stops reading.
func TestWalkIsLeft(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		write(t, dir, map[string]string{fmt.Sprintf("%d/%d/x", i%10, i): ""})
	}
	w := open(t, dir)
	for leave := range 30 {
		ctx, cancel := context.WithCancelCause(t.Context())
		n, last := 0, error(nil)
		for _, err := range w.Walk(ctx, ".", workspace.WalkOptions{}) {
			if n++; n == leave {
				cancel(nil)
			}
			last = err
		}
		cancel(nil)
		if leave > 0 && (n > leave+1 || !errors.Is(last, context.Canceled)) {
			t.Errorf("left after %d: %d entries, then %v", leave, n, last)
		}
		n = 0
		for range w.Walk(t.Context(), ".", workspace.WalkOptions{}) {
			if n++; n > leave {
				break
			}
		}
	}
}
