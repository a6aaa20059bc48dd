//go:build unix

package workspace_test

import (
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
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
	for name, network := range map[string]*sandbox.Loopback{"alone": nil, "session": new(sandbox.Loopback)} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			w := openConfined(b, dir, &sandbox.Policy{Writable: []string{dir}, Loopback: network})
			if network != nil {
				defer network.Close()
			}
			run(b, w, "true") // the cost of the machine alone
			for b.Loop() {
				run(b, w, "true")
			}
		})
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

// BenchmarkBringBack is an undo of a removal of many files, each in a directory of its own. Links are brought back: files would wait
// for the disk.
func BenchmarkBringBack(b *testing.B) {
	for _, n := range []int{1000, 4000, 16_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				w := open(b, b.TempDir())
				var edits []workspace.Edit
				for i := range n {
					dir := filepath.Join(w.Dir(), strconv.Itoa(i))
					edits = append(edits,
						workspace.Edit{Path: dir, State: &workspace.State{Mode: fs.ModeDir | 0o755}},
						workspace.Edit{Path: filepath.Join(dir, "link"), State: &workspace.State{Mode: fs.ModeSymlink | 0o777, Link: "x"}})
				}
				if err := w.Apply(b.Context(), edits); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
