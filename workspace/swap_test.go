package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// While another process keeps replacing a directory with a link inside the workspace, no write reaches a protected file and no read
// reaches a hidden one.
func TestSwapInsideReachesNothingProtected(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"at/file": "free", "keep/file": "kept", "secret/file": "secret", "to/file": "free"})
	w, err := workspace.Open(dir, workspace.Options{Protected: []string{"keep"}, Hidden: []string{"secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	for link, at := range map[string]string{"keep": "at", "secret": "to"} {
		swapping.Go(func() {
			at, parked := filepath.Join(dir, at), filepath.Join(dir, at+".parked")
			for {
				_ = os.Rename(at, parked)
				_ = os.Symlink(link, at)
				_ = os.Remove(at)
				_ = os.RemoveAll(at) // a write may have made it
				_ = os.Rename(parked, at)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	wrote, read := 0, 0
	for i := 0; i < 3000 || (wrote == 0 || read == 0) && i < 30_000; i++ {
		if i%3 == 0 && w.WriteFile(t.Context(), "at/file", []byte("changed"), nil) == nil {
			wrote++
		}
		if i%5 == 0 {
			_ = w.WriteFile(t.Context(), "at/new/hook", []byte("changed"), nil)
			_ = w.Remove(t.Context(), "at/gone", nil)
		}
		if data, err := w.ReadFile("to/file", 100); err == nil {
			if read++; string(data) == "secret" {
				t.Error("what is hidden was read")
			}
		}
	}
	close(stop)
	swapping.Wait()
	if wrote == 0 || read == 0 {
		t.Errorf("%d writes, %d reads: nothing was tried", wrote, read)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "keep"))
	if err != nil || len(entries) != 1 {
		t.Errorf("what is protected has %v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "keep", "file")); err != nil || string(data) != "kept" {
		t.Errorf("what is protected is %q, %v", data, err)
	}
}

// While another process keeps replacing a directory with a link to a hidden one, no walk shows a hidden name, even if it starts there.
func TestSwapInsideShowsNothingHidden(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"at/deep/free": "", "secret/planted": "", "secret/deep/planted": "", "other": ""})
	w := openWith(t, dir, workspace.Options{Hidden: []string{"secret"}})
	at, parked := filepath.Join(dir, "at"), filepath.Join(dir, "parked")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			_ = os.Rename(at, parked)
			_ = os.Symlink("secret", at)
			_ = os.Remove(at)
			_ = os.Rename(parked, at)
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	free := 0
	seen := func(name string) {
		switch filepath.Base(name) {
		case "planted":
			t.Errorf("%s was shown", name)
		case "free":
			free++
		}
	}
	for i := 0; i < 2000 || free == 0 && i < 20_000; i++ {
		for _, start := range []string{".", "at", "at/deep"} {
			for entry := range w.Walk(t.Context(), start, workspace.WalkOptions{}) {
				seen(entry.Path)
			}
		}
		for _, start := range []string{"at", "at/deep"} {
			names, _ := w.ListSlowly(start)
			for _, name := range names {
				seen(name)
			}
		}
	}
	close(stop)
	swapping.Wait()
	if free == 0 {
		t.Error("nothing was shown at all")
	}
}

// A hidden path stays hidden if it is created after the workspace was opened.
func TestHiddenPlacesThatComeLater(t *testing.T) {
	dir, home := realDir(t), realDir(t)
	later := filepath.Join(home, ".later")
	w := openWith(t, dir, workspace.Options{Hidden: []string{"keys", later}, Outside: workspace.ReadOutside})
	write(t, dir, map[string]string{"keys/one": "x"})
	write(t, later, map[string]string{"two": "x"})
	for _, name := range []string{"keys/one", filepath.Join(later, "two")} {
		_, err := w.ReadFile(name, 100)
		if _, hidden := errors.AsType[*workspace.HiddenError](err); !hidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, start := range []string{".", home} {
		for entry, err := range w.Walk(t.Context(), start, workspace.WalkOptions{Ignored: true}) {
			if err != nil || entry.Name() != filepath.Base(home) {
				t.Errorf("in %s is %q, %v", start, entry.Path, err)
			}
		}
	}
}
