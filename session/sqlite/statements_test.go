package sqlite

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// If the limit of a statement is a bare parameter, SQLite prepares the statement again at each run, to plan for the value.
func TestLimitsAreNoBareParameters(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	bare, limit := regexp.MustCompile(`LIMIT [?:@$]`), 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		limit += strings.Count(string(text), "LIMIT 0 + ?")
		if found := bare.Find(text); found != nil && name != "statements_test.go" {
			t.Errorf("%s: %s: write LIMIT 0 + ?", name, found)
		}
	}
	if limit < 5 {
		t.Errorf("there are %d limits: look for them in another way", limit)
	}
}
