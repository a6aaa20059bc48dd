package llmtest

import (
	"fmt"

	"github.com/tenon-agent/tenon/internal/spelling"
)

// unknown is the error for an unknown word, with the nearest known one.
func unknown(what, got string, known []string) error {
	best, least := "", len(got)/2+2
	for _, k := range known {
		if d := spelling.Distance(got, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return fmt.Errorf("unknown %s %.40q; known are %v", what, got, known)
	}
	return fmt.Errorf("unknown %s %.40q; did you mean %s?", what, got, best)
}
