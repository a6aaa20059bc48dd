package lsp_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if how := os.Getenv("TENON_LSP_FAKE"); how != "" {
		fake(how)
		return
	}
	goleak.VerifyTestMain(m)
}
