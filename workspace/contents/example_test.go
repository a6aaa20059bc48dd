package contents_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/tenon-agent/tenon/workspace/contents"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var s contents.Store = contents.NewDir(dir, contents.Options{MaxFile: 20})

	kept, err := contents.Put(ctx, s, strings.NewReader("before"))
	if err != nil {
		panic(err)
	}
	data, err := contents.Get(ctx, s, kept.Hash)
	fmt.Printf("%.12s: %s %v\n", kept.Hash, data, err)

	large, err := contents.Put(ctx, s, strings.NewReader("this is more than twenty bytes"))
	fmt.Println(large.Lost, err)
	// Output:
	// 6db7d803e74f: before <nil>
	// it is larger than 20 bytes <nil>
}
