//go:build unix

package program_test

import (
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/program"
)

// A program that was just written can run at once, also while other goroutines start programs.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		group.Go(func() {
			path := filepath.Join(dir, name)
			for range 25 {
				if err := program.Write(path, []byte("#!/bin/sh\nexit 0\n")); err != nil {
					t.Error(err)
				} else if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
