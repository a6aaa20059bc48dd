package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if filepath.Base(os.Args[0]) == reachName {
		os.Exit(reach(os.Args[1]))
	}
	os.Exit(m.Run())
}
