package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/workspace"
)

// Calls of one answer run side by side. Those that write into one directory that does not exist yet all succeed, and the changes name
// each directory once: undo knows which call made it.
func TestParallelWritesIntoANewDirectory(t *testing.T) {
	for round := range 100 {
		if !sample.Takes(round, 4, 10) {
			continue
		}
		dir := t.TempDir()
		var mu sync.Mutex
		made := map[string]int{}
		w := openWith(t, dir, workspace.Options{Changed: func(_ context.Context, changes []workspace.Change) error {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range changes {
				made[c.Path]++
			}
			return nil
		}})
		writeAtOnce(t, round, w, w)
		root := w.Dir()
		for _, name := range []string{"new", "new/deep"} {
			if n := made[filepath.Join(root, name)]; n != 1 {
				t.Fatalf("%s was announced %d times", name, n)
			}
		}
	}
}

// Two processes may do the same in one directory.
func TestTwoWorkspacesMakeOneDirectory(t *testing.T) {
	for round := range 100 {
		if !sample.Takes(round, 4, 10) {
			continue
		}
		dir := t.TempDir()
		writeAtOnce(t, round, openWith(t, dir, workspace.Options{}), openWith(t, dir, workspace.Options{}))
	}
}

// writeAtOnce writes eight files below one new directory.
func writeAtOnce(t *testing.T, round int, workspaces ...*workspace.Workspace) {
	t.Helper()
	var all sync.WaitGroup
	start := make(chan struct{})
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			<-start
			errs[i] = workspaces[i%len(workspaces)].WriteFile(t.Context(), fmt.Sprintf("new/deep/%d", i), []byte("x"), nil)
		})
	}
	close(start)
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
	for i := range errs {
		if _, err := os.Stat(filepath.Join(workspaces[0].Dir(), fmt.Sprintf("new/deep/%d", i))); err != nil {
			t.Fatal(err)
		}
	}
}

// A change that fails takes its directory back, unless another one has put a file there.
func TestDirectoryOfAFailedChange(t *testing.T) {
	w := openWith(t, t.TempDir(), workspace.Options{})
	failure := errors.New("no room")
	_ = w.FailAt(2, failure) // after mkdir
	if err := w.WriteFile(t.Context(), "new/a", []byte("x"), nil); !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Dir(), "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of the failed change: %v", err)
	}
	if err := w.WriteFile(t.Context(), "new/a", []byte("x"), nil); err != nil {
		t.Error(err)
	}
}
