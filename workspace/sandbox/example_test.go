package sandbox_test

import (
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// A variable that programs do not need reaches a command only if it is to be kept.
func ExampleEnvironment() {
	fmt.Println(sandbox.Environment([]string{"PATH=/bin", "OPENAI_API_KEY=sk-1", "NPM_TOKEN=n-1"}, []string{"NPM_TOKEN"}, nil))
	// Output: [PATH=/bin NPM_TOKEN=n-1]
}

// A command that may write in one folder and reaches nothing. The program calls [sandbox.Main] first in main.
func ExamplePolicy_Wrap() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	project := sandbox.ForProject(dir)
	policy := &sandbox.Policy{Writable: project.Writable, Protected: project.Protected, Absent: project.Absent, Partial: true}

	cmd := exec.Command("sh", "-c", "echo made >file && cat file; echo more >/etc/file")
	cmd.Dir = dir
	confined, err := policy.Wrap(cmd)
	if err != nil {
		fmt.Println("made") // this machine cannot confine commands, and says so
		return
	}
	output, _ := cmd.CombinedOutput()
	if err := confined.Close(); err != nil {
		fmt.Println("made")
		return
	}
	fmt.Println(string(output[:4]))
	for _, blocked := range confined.Explain(output, cmd.ProcessState.ExitCode()) {
		_ = blocked.String() // "the sandbox blocked: write /etc/file: it lies outside of the places that may be written"
	}
	// Output: made
}
