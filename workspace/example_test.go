package workspace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/workspace"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer w.Close()

	for name, text := range map[string]string{"main.go": "package main\n", "out/x.o": "", ".gitignore": "*.o\n"} {
		if err := w.WriteFile(context.Background(), name, []byte(text), nil); err != nil {
			panic(err)
		}
	}
	for entry, err := range w.Walk(context.Background(), ".", workspace.WalkOptions{}) {
		fmt.Println(entry.Path, err)
	}

	_, err = w.ReadFile("../elsewhere", 1<<20)
	_, isOutside := err.(*workspace.OutsideError)
	fmt.Println("outside:", isOutside)

	name, err := w.Resolve("out/../main.go")
	fmt.Println(name == filepath.Join(w.Dir(), "main.go"), err)

	done, err := w.Run(context.Background(), workspace.Command{Line: "echo done; exit 3"})
	fmt.Printf("%q %d %v\n", done.Head, done.ExitCode, err)
	// Output:
	// .gitignore <nil>
	// main.go <nil>
	// out <nil>
	// outside: true
	// true <nil>
	// "done\n" 3 <nil>
}

// A server runs as a job while something else goes on.
func ExampleWorkspace_Start() {
	ctx := context.Background()
	w, err := workspace.Open(os.TempDir(), workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer w.Close()

	job, err := w.Start(ctx, workspace.Command{Line: "echo started; exit 3"})
	if err != nil {
		panic(err)
	}
	status, err := job.Wait(ctx)
	fmt.Println(status.ID, status.ExitCode, err)

	output := job.Output(0, 1<<10)
	fmt.Printf("%q, the next is at %d\n", output.Head, output.Size)
	// Output:
	// job1 3 <nil>
	// "started\n", the next is at 8
}
