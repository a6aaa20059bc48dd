package tool_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// A complete tool: it counts the lines of a file.
func Example() {
	type arguments struct {
		Path  string `json:"path" jsonschema:"file to count" min:"1"`
		Match string `json:"match,omitempty" jsonschema:"count only lines that contain this text"`
	}
	count := tool.New("count_lines", "Counts the lines of a file.",
		func(_ context.Context, args arguments) (tool.Effects, error) {
			name, err := filepath.Abs(args.Path)
			return tool.Effects{Reads: []tool.Path{tool.File(name)}, Idempotent: true}, err
		},
		func(_ context.Context, args arguments, _ tool.Report) (tool.Result, error) {
			data, err := os.ReadFile(args.Path)
			if err != nil {
				return tool.Result{}, err
			}
			n := 0
			for line := range strings.Lines(string(data)) {
				if strings.Contains(line, args.Match) {
					n++
				}
			}
			result := tool.TextResult(fmt.Sprintf("%d lines", n))
			result.Details = map[string]int{"lines": n}
			return result, nil
		})

	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.ToSlash(filepath.Join(dir, "poem"))
	if err := os.WriteFile(name, []byte("rose\nis a rose\nis it\n"), 0o600); err != nil {
		panic(err)
	}

	// If the arguments are wrong, the model sees an error that it can act on.
	_, err = count.Prepare(context.Background(), `{"file_path": "poem"}`)
	fmt.Println(err)

	call, err := count.Prepare(context.Background(), fmt.Sprintf(`{"path": %q, "match": "rose"}`, name))
	if err != nil {
		panic(err)
	}
	fmt.Println("only looks:", call.Effects.ReadOnly())
	result, err := call.Run(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Content.Text())
	// Output:
	// count_lines: the arguments do not fit:
	// - path: missing, must be a string
	// - unknown field "file_path"; did you mean "path"?
	// only looks: true
	// 2 lines
}

func ExampleBound() {
	cut, lost := tool.Bound(strings.Repeat("all work and no play\n", 1000), 160)
	fmt.Printf("%s%d bytes lost", cut, lost)
	// Output:
	// all work and no play
	// all work and no play
	// [... 995 lines, 20895 bytes left out ...]
	// all work and no play
	// all work and no play
	// all work and no play
	// 20895 bytes lost
}
