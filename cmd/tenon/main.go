// Command tenon is a coding agent for the terminal.
//
// Usage:
//
//	tenon run [flags] PROMPT...
//	tenon sessions list|show|export|delete|rename
//	tenon version
//	tenon completion bash|zsh|fish|powershell
//
// "tenon help" tells more.
package main

import (
	"context"
	"os"

	"github.com/tenon-agent/tenon/internal/cli"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	env := cli.System()
	env.Version = version
	os.Exit(cli.Main(context.Background(), os.Args[1:], env))
}
