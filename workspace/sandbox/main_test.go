package sandbox_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	if name := os.Getenv("ATTEMPT"); name != "" {
		attempt(name, os.Getenv("TARGET")) // inside a sandbox; it does not return
	}
	if user := os.Getenv("ELSEWHERE"); user != "" {
		panic(inElsewhere(user)) // it does not return otherwise
	}
	goleak.VerifyTestMain(m)
}
