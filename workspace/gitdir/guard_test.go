package gitdir_test

import (
	"os"
	"testing"

	"github.com/tenon-agent/tenon/workspace/gitdir"
)

// note tells a guard of a directory, as a scan does.
func note(t testing.TB, g *gitdir.Guard, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	g.Note(dir, entries)
}
