// Command tenon is a coding agent for the terminal.
//
// Usage:
//
//	tenon [flags]
//	tenon attach [SESSION]
//	tenon run [flags] PROMPT...
//	tenon init
//	tenon undo|redo|diff [SESSION]
//	tenon sessions list|show|search|fork|rewind|export|import|...
//	tenon stats
//	tenon models|auth|config|trust|permissions|sandbox|doctor
//	tenon version
//	tenon completion bash|zsh|fish|powershell
//
// See "tenon help" for details.
package main

import (
	"context"
	"os"

	"github.com/tenon-agent/tenon/internal/cli"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	sandbox.Main() // in the process that confines a command it does not return
	env := cli.System()
	env.Version = version
	os.Exit(cli.Main(context.Background(), os.Args[1:], env))
}
