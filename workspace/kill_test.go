//go:build unix

package workspace_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

// Kill ends what runs, also what is deaf to the request to end.
func TestKillEndsCommandsAtOnce(t *testing.T) {
	w := open(t, t.TempDir())
	job, err := w.Start(t.Context(), workspace.Command{Line: `trap '' TERM; sleep 1000`, Grace: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	done, err := w.Run(t.Context(), workspace.Command{
		Line: `trap '' TERM; sleep 1000 & echo $!; echo ready; wait`, Grace: time.Hour,
		Report: func(b []byte) {
			if text.Write(b); strings.Contains(text.String(), "ready") {
				w.Kill()
			}
		},
	})
	if err != nil || done.Signal == "" {
		t.Errorf("%+v, %v", done, err)
	}
	line, _, _ := strings.Cut(done.Head, "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	gone(t, pid)
	if status, err := job.Wait(t.Context()); err != nil || status.Signal == "" || status.Killed {
		t.Errorf("%+v, %v", status, err)
	}
	w.Kill() // there is nothing any more
	for range 2 {
		if _, err := w.Run(t.Context(), workspace.Command{Line: "touch started"}); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a command after the end: %v", err)
		}
	}
	if _, err := os.Lstat(filepath.Join(w.Dir(), "started")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it ran: %v", err)
	}
}
