//go:build unix

package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// BenchmarkCommand is what a command that does nothing costs, in the sandbox of a person without a configuration: in an empty directory, and in a
// git repository of 50 000 files with the first command and the later ones. The medians are to be compared with those without a sandbox.
func BenchmarkCommand(b *testing.B) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		b.Skip("no sandbox here")
	}
	base, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	open := func(dir string, confined bool) *workspace.Workspace {
		s, err := NewSetup(vars("HOME", os.Getenv("HOME"), "PATH", os.Getenv("PATH"), "XDG_CACHE_HOME", filepath.Join(base, "cache")), dir, "test")
		if err != nil {
			b.Fatal(err)
		}
		bounds := s.Bounds(dir)
		o := workspace.Options{
			Hidden: bounds.Hidden, Protected: bounds.Protected, Shared: &workspace.Shared{Baselines: filepath.Join(base, "baselines")}, Checkpoints: contents.NewDir(filepath.Join(base, "kept"), contents.Options{}),
			Changed: func(context.Context, []workspace.Change) error { return nil },
		}
		if confined {
			o.Sandbox = bounds.Sandbox
		}
		w, err := workspace.Open(dir, o)
		if err != nil {
			b.Fatal(err)
		}
		return w
	}
	run := func(w *workspace.Workspace) {
		if done, err := w.Run(b.Context(), workspace.Command{Line: "true"}); err != nil || done.ExitCode != 0 || done.Trouble != nil {
			b.Fatal(err, done)
		}
	}
	median := func(b *testing.B, what func() func()) {
		var all []time.Duration
		for b.Loop() {
			do := what()
			start := time.Now()
			do()
			all = append(all, time.Since(start))
		}
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms/median")
	}
	empty, large := filepath.Join(base, "empty"), filepath.Join(base, "large")
	for i := range 500 {
		dir := filepath.Join(large, fmt.Sprintf("d%d/e%d", i%20, i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range 100 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d", j)), fmt.Appendf(nil, "%d %d\n", i, j), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	git := exec.Command("sh", "-c", "git init -q && git add . && git -c user.name=T -c user.email=t@example.com commit -qm one")
	git.Dir = large
	if out, err := git.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	if err := os.Mkdir(empty, 0o755); err != nil {
		b.Fatal(err)
	}
	for _, dir := range []string{empty, large} {
		for _, confined := range []bool{false, true} {
			name := fmt.Sprintf("%s/sandbox=%t", filepath.Base(dir), confined)
			b.Run(name+"/first", func(b *testing.B) {
				var w *workspace.Workspace
				median(b, func() func() {
					if w != nil {
						w.Close()
					}
					w = open(dir, confined)
					return func() { run(w) }
				})
				w.Close()
			})
			b.Run(name+"/later", func(b *testing.B) {
				w := open(dir, confined)
				defer w.Close()
				run(w)
				median(b, func() func() { return func() { run(w) } })
			})
		}
	}
}
