package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// Of a link that cannot be read it is not said that it leads nowhere: its target is unknown, and the next look reads it again.
func TestLinksThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	link, gone := filepath.Join(dir, "link"), filepath.Join(dir, "gone")
	if err := os.Symlink("target", link); err != nil {
		t.Skip(err) // Windows gives links to few
	}
	if s, known := workspace.ReadLink(link); !known || s.Link != "target" || s.Lost != "" {
		t.Errorf("a link is %+v, known %v", s, known)
	}
	if s, known := workspace.ReadLink(gone); known || s.Link != "" || s.Lost == "" {
		t.Errorf("a link that is gone is %+v, known %v", s, known)
	}
}
