//go:build unix

package workspace_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

// Kill ends what runs and what was left running, also what is deaf to the request to end.
func TestKillEndsCommandsAtOnce(t *testing.T) {
	w := open(t, t.TempDir())
	left := run(t, w, `trap '' TERM; sleep 1000 >/dev/null 2>&1 & echo $!`)
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
	for _, head := range []string{left.Head, done.Head} {
		line, _, _ := strings.Cut(head, "\n")
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		gone(t, pid)
	}
	w.Kill() // there is nothing any more
}
