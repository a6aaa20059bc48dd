package gitdir_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/workspace/gitdir"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		panic(err)
	}
	guard := gitdir.New([]string{dir}, nil)
	guard.Begin()

	// This is what a command does that wants to have a program run by the next git status.
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		panic(err)
	}
	config := filepath.Join(dir, ".git", "config")
	if err := os.WriteFile(config, []byte("[core]\n\tbare = false\n\tfsmonitor = ./program\n"), 0o600); err != nil {
		panic(err)
	}

	disarmed, err := guard.End()
	if err != nil {
		panic(err)
	}
	for _, d := range disarmed {
		d.Why = strings.ReplaceAll(d.Why, ". ", ".\n")
		fmt.Println(strings.ReplaceAll(d.Path+": "+d.Why, dir+string(filepath.Separator), ""))
	}
	rest, err := os.ReadFile(config)
	if err != nil {
		panic(err)
	}
	fmt.Print(string(rest))
	// Output:
	// .git: what git runs there, outside the sandbox too, was changed: config: core.fsmonitor="./program".
	// That is now in .git/tenon-disarmed/config; a person can bring it back
	// [core]
	// 	bare = "false"
}
