package sandbox_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}
