package lsp_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/lsp"
	"github.com/tenon-agent/tenon/workspace"
)

// The servers of a directory report what is wrong after a change of a file. Here no server for the file is installed, so nothing starts.
func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer ws.Close()

	servers := lsp.New(lsp.Options{Root: ws.Dir(), Servers: []lsp.Spec{{Name: "zls", Command: "zls-that-is-not-installed", Files: []string{".zig"}}}})
	defer servers.Close()
	name := filepath.Join(ws.Dir(), "main.zig")
	edit := servers.Edit(ws, []string{name})
	if err := ws.WriteFile(context.Background(), name, []byte("const x = 1;\n"), nil); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q, %d servers\n", edit.After(context.Background(), []tool.FileDiff{{Path: "main.zig", Created: true}}), len(servers.Status()))
	// Output:
	// "", 0 servers
}
