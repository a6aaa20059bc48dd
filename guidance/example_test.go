package guidance_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/guidance"
)

// A model gets the context files of the project before its first request.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("Run make test.\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	dir, _ = filepath.EvalSymlinks(dir)
	for _, b := range guidance.New(guidance.Options{Dir: dir}).Blocks(nil, 10_000) {
		fmt.Println(b.Name+":", b.Text)
	}
	// Output: AGENTS.md: Run make test.
}
