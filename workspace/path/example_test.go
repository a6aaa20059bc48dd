package path_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/workspace/path"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	bounds := path.Bounds{Root: dir, Hidden: []string{".env"}}.Resolve()

	if err := os.Symlink(".env", filepath.Join(dir, "innocent")); err != nil {
		panic(err)
	}
	name, err := path.Resolve(filepath.Join(bounds.Root, "innocent"))
	_, secret := bounds.Secret(name, false)
	fmt.Println(path.Show(bounds.Root, name), bounds.Inside(name), secret, err)
	// Output: .env true true <nil>
}
