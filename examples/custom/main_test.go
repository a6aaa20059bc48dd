package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/llm/llmtest"
)

// The person says no to the payment. The second start continues the session.
func Example() {
	dir, err := os.MkdirTemp("", "custom")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	answers, err := os.Create(filepath.Join(dir, "answers"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answers.Close()
	os.Stdin = answers // no answer is a no
	script := llmtest.Must("call balance\n---\ncall pay {\"to\":\"Ann\",\"amount\":5}\n---\ntext Not paid.\n---\ntext Still here.")
	for _, prompt := range []string{"Pay Ann 5.", "Are you there?"} {
		if err := run(context.Background(), script, filepath.Join(dir, "sessions.db"), prompt); err != nil {
			fmt.Println(err)
		}
		fmt.Println()
	}
	// Output:
	// pay {"to":"Ann","amount":5}? (y/n) Not paid.
	// Still here.
}
