package compact_test

import (
	"fmt"

	"github.com/tenon-agent/tenon/window/compact"
)

// Lacking names the sections that a summary misses.
func ExampleLacking() {
	fmt.Println(compact.Lacking("## Goal\nA mill.\n\n## State\nThe wheel turns.\n\n## Open\n"))
	// Output: [Decisions Files Errors Open Next step]
}
