package worktree_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/workspace/worktree"
)

// A copy of a project changes, and a plan brings the change back.
func Example() {
	ctx := context.Background()
	base, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(base)
	project := filepath.Join(base, "project")
	if err := os.CopyFS(project, os.DirFS("testdata/project")); err != nil {
		log.Fatal(err)
	}
	store := worktree.Store{Private: filepath.Join(base, "private"), Files: filepath.Join(base, "copies")}
	w, err := store.Create(ctx, project, "task-1", "")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Dir(), "hello.txt"), []byte("Good evening.\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	plan, err := w.Merge(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range plan.Files {
		fmt.Print(f.Path, ": ", string(f.Data))
	}
	// Output: hello.txt: Good evening.
}
