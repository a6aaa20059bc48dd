package permission

import (
	"strings"

	"github.com/tenon-agent/tenon/internal/spelling"
)

// nearest suggests the nearest of the names: `; did you mean "shell"?`.
func nearest(word string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if d := spelling.Distance(strings.ToLower(word), n); d < least && 2*d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return `; did you mean "` + best + `"?`
}

func list(names []string) string { return strings.Join(names, ", ") }
