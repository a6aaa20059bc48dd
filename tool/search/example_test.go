package search_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/workspace"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"poem": "a rose\nis a rose\n", "prose": "once upon a time\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			panic(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()

	for i, arguments := range []string{`{"pattern": "p*"}`, `{"pattern": "^is|upon"}`} {
		call, err := search.New(ws)[i].Prepare(context.Background(), arguments)
		if err != nil {
			panic(err)
		}
		result, err := call.Run(context.Background(), nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Content.Text())
		fmt.Println()
	}
	// Output:
	// poem
	// prose
	//
	// poem
	// 2:is a rose
	//
	// prose
	// 1:once upon a time
}
