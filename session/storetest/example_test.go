package storetest_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/storetest"
)

// In the test file of a store this is the whole test.
func testStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) index.Store { return memory.New() })
}

func Example() {
	fmt.Println("passed:", runs(testStore))
	// Output:
	// passed: true
}

// runs does what go test would.
func runs(test func(*testing.T)) bool {
	verbose := flag.Lookup("test.v").Value.String()
	_ = flag.Set("test.v", "false") // its lines would be part of the example's output
	defer func() { _ = flag.Set("test.v", verbose) }()
	all := func(string, string) (bool, error) { return true, nil }
	return testing.RunTests(all, []testing.InternalTest{{Name: "TestStore", F: test}})
}
