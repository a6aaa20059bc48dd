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
	"runtime"
	"runtime/debug"

	"github.com/tenon-agent/tenon/internal/cli"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	sandbox.Main() // in the process that confines a command it does not return
	delayGarbage()
	env := cli.System()
	env.Version = version
	os.Exit(cli.Main(context.Background(), os.Args[1:], env))
}

// delayGarbage lets the first garbage collection begin at a heap of 8 MB instead of 4. A run with one answer then needs none, which saves a sixth
// of its processor time. After the first collection the usual rule holds.
func delayGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(200)
	runtime.AddCleanup(new([16]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
