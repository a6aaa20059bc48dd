package cli

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// TestMain lets the test binary be the program too: scripts and tests that start "tenon" start it.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"tenon": tenon})
}

// raceOptions is the value of GORACE for programs that tests start: those that look for races wait a second before they
// end, unless they are told not to.
const raceOptions = "atexit_sleep_ms=0"

// tenon is cmd/tenon, but for the model: a script in TENON_TEST_SCRIPT answers, or with TENON_TEST_STUCK a model that
// does not even heed the end of its context.
func tenon() {
	env := System()
	env.Version = "v0.0.0-test"
	if name := os.Getenv("TENON_TEST_SCRIPT"); name != "" {
		script, err := os.ReadFile(name)
		if err == nil {
			env.Client, err = llmtest.Parse(string(script), llmtest.ByHistory())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
	}
	if os.Getenv("TENON_TEST_STUCK") != "" {
		env.Client = llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) { select {} })
	}
	os.Exit(Main(context.Background(), os.Args[1:], env))
}

// leakChecked fails the tests when goroutines are left behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
