package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "greeting"), []byte("hello\nworld\n"), 0o666); err != nil {
		panic(err)
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()

	tools := files.New(ws)
	read, write := tools[2], tools[3]
	change := `{"path": "greeting", "content": "hello\ngophers\n"}`

	call, err := write.Prepare(ctx, change)
	if err != nil {
		panic(err)
	}
	_, err = call.Run(ctx, nil)
	fmt.Println(err)

	look, err := read.Prepare(ctx, `{"path": "greeting"}`)
	if err != nil {
		panic(err)
	}
	result, err := look.Run(ctx, nil)
	fmt.Println(result.Content.Text(), err)

	result, err = call.Run(ctx, nil)
	fmt.Println(result.Content.Text(), err)
	fmt.Print(result.Diffs[0].Text)
	// Output:
	// greeting exists and was not read yet; read it first, then change it
	// 1	hello
	// 2	world
	// [lines 1-2 of 2] <nil>
	// replaced greeting: 1 line added, 1 removed <nil>
	// --- a/greeting
	// +++ b/greeting
	// @@ -1,2 +1,2 @@
	//  hello
	// -world
	// +gophers
}

// A model that writes patches gets one tool for all changes. A person who is asked for approval sees its effects.
func ExampleSet() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()

	set := files.NewSet(ws)
	for _, one := range set.Tools() {
		if one.Spec().Name != "patch" {
			continue
		}
		call, err := one.Prepare(ctx, `{"patch": "*** Begin Patch\n*** Add File: greeting\n+hello\n*** End Patch"}`)
		if err != nil {
			panic(err)
		}
		diff, err := call.Preview(ctx)
		fmt.Print(diff)
		if err != nil {
			panic(err)
		}
		result, err := call.Run(ctx, nil)
		fmt.Println(result.Content.Text(), err)
	}
	// Output:
	// --- /dev/null
	// +++ b/greeting
	// @@ -0,0 +1 @@
	// +hello
	// created greeting: 1 line added, 0 removed <nil>
}
