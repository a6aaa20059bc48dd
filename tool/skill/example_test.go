package skill_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/tool/skill"
)

func Example() {
	folder, err := os.MkdirTemp("", "skills")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if err := os.Mkdir(filepath.Join(folder, "release"), 0o700); err != nil {
		panic(err)
	}
	text := "---\nname: release\ndescription: How a release is made.\n---\nTag it, then run make release.\n"
	if err := os.WriteFile(filepath.Join(folder, "release", skill.FileName), []byte(text), 0o600); err != nil {
		panic(err)
	}

	found := skill.Find([]skill.Folder{{Dir: folder}})
	fmt.Print(skill.Index(found.Skills))
	call, err := skill.New(skill.Options{Skills: found.Skills})[0].Prepare(context.Background(), `{"name": "release"}`)
	if err != nil {
		panic(err)
	}
	result, err := call.Run(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Details.(skill.Details).Bytes, "bytes, nothing cut:", result.Details.(skill.Details).Cut == 0)
	// Output:
	// - release: How a release is made.
	// 89 bytes, nothing cut: true
}
