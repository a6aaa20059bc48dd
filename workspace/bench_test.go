//go:build unix

package workspace_test

import (
	"os/exec"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// BenchmarkBareProcess is what the shell costs by itself; the others are to be seen against it.
func BenchmarkBareProcess(b *testing.B) {
	for b.Loop() {
		if _, err := exec.Command("bash", "-c", "true").CombinedOutput(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	w := open(b, b.TempDir())
	run(b, w, "true") // the guard
	for b.Loop() {
		run(b, w, "true")
	}
}

func BenchmarkRunConfined(b *testing.B) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		b.Skip("no sandbox here")
	}
	dir := b.TempDir()
	w := openConfined(b, dir, &sandbox.Policy{Writable: []string{dir}})
	run(b, w, "true") // what the machine can do
	for b.Loop() {
		run(b, w, "true")
	}
}

// BenchmarkEightSleeps is eight commands of a second each, side by side.
func BenchmarkEightSleeps(b *testing.B) {
	w := open(b, b.TempDir())
	for b.Loop() {
		var jobs []*workspace.Job
		for range 8 {
			jobs = append(jobs, start(b, w, workspace.Command{Line: "sleep 1"}))
		}
		for _, job := range jobs {
			if _, err := job.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
