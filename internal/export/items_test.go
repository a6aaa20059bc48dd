package export

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

// The files of an undo have the paths that people know, and the entry keeps its own.
func TestPathsOfAnUndo(t *testing.T) {
	o := &overview{Summary: index.Summary{Dir: "/home/me/mill"}}
	b := session.FilesChanged{Cause: session.ByUndo, Files: []session.FileChange{{Path: "/home/me/mill/sub/a.go"}, {Path: "/etc/mill"}}}
	n := o.note(&transcript.Item{Body: b})
	if got := strings.Fields(n.Plain); len(got) != 2 || got[0] != "sub/a.go" || got[1] != "/etc/mill" {
		t.Errorf("paths %q", got)
	}
	if b.Files[0].Path != "/home/me/mill/sub/a.go" {
		t.Errorf("the entry has %q", b.Files[0].Path)
	}
}
