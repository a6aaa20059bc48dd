package shell_test

import (
	"context"
	"fmt"
	"os"

	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()

	call, err := shell.New(ws, shell.Options{})[0].Prepare(context.Background(), `{"command": "echo tests failed; exit 1"}`)
	if err != nil {
		panic(err)
	}
	fmt.Println("runs:", call.Effects.Command)
	result, err := call.Run(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Content.Text())
	fmt.Println("failed call:", result.IsError, "exit code:", result.Details.(shell.Ran).ExitCode)
	// Output:
	// runs: echo tests failed; exit 1
	// tests failed
	// [exit code 1]
	// failed call: false exit code: 1
}

// A command that is to live on is a job.
func Example_job() {
	ws, err := workspace.Open(os.TempDir(), workspace.Options{})
	if err != nil {
		panic(err)
	}
	defer ws.Close()
	tools := shell.New(ws, shell.Options{})
	for i, arguments := range []string{`{"command": "echo listening; exit 1", "background": true}`, `{"action": "wait", "id": "job1"}`} {
		call, err := tools[i].Prepare(context.Background(), arguments)
		if err != nil {
			panic(err)
		}
		result, err := call.Run(context.Background(), nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(result.Content.Text())
	}
	// Output:
	// [started as job1; job shows its output, and you get a message when it ends]
	// listening
	// [job1 has ended: exit code 1; cursor 10]
}
