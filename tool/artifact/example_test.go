package artifact_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/workspace/contents"
)

func Example() {
	ctx := context.Background()
	data, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(data)

	keep := artifact.New(artifact.Options{Store: contents.NewDir(data, contents.Options{}), Dir: filepath.Join(data, "artifacts")})
	for _, arguments := range []string{
		`{"name": "findings.md", "content": "# Findings\n\nThe cache is never emptied."}`,
		`{}`,
		`{"name": "findings.md"}`,
		`{"name": "../findings.md"}`,
	} {
		call, err := keep.Prepare(ctx, arguments)
		if err != nil {
			fmt.Println(err)
			continue
		}
		result, err := call.Run(ctx, nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Content.Text())
	}
	// Output:
	// saved findings.md: 39 bytes
	// findings.md (39 bytes)
	// # Findings
	//
	// The cache is never emptied.
	// the name "../findings.md" is not plain; use letters, digits, and "-_.+ "
}
