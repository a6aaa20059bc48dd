package workspace_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// The empty directory that a sandbox makes in a project does not count as a change, even if a kill has left it there. A directory with
// contents does.
func TestWhatTheSandboxPutsThereIsNoChange(t *testing.T) {
	const empty, filled = "echo x >made; mkdir -m 1755 .tenon", "echo x >.tenon/x"
	dir := realDir(t)
	r := record(t, dir, workspace.Options{})
	if got := r.sh(t, empty); !strings.HasPrefix(got, "made: ") || strings.Contains(got, ".tenon") {
		t.Errorf("reported %q", got)
	}
	if got := r.sh(t, filled); !strings.Contains(got, ".tenon: nothing") || !strings.Contains(got, ".tenon/x: nothing") {
		t.Errorf("reported %q", got)
	}
	if got := r.sh(t, "rm -r made .tenon"); !strings.Contains(got, ".tenon/x: ") {
		t.Errorf("reported %q", got)
	}
	r.unreported(t, empty, false)
	if found := r.found(t, nil); len(found) != 1 || len(found[0].Changes) != 1 || !strings.HasSuffix(found[0].Changes[0].Path, "made") {
		t.Errorf("found %+v", found)
	}
	r.unreported(t, filled, false)
	if found := r.found(t, nil); len(found) != 1 || len(found[0].Changes) != 2 {
		t.Errorf("found %+v", found)
	}
}
