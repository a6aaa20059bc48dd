package frontmatter_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/frontmatter"
)

// The front matter of every file is texts by plain keys, or an error. The body is the rest of the file.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		"---\nname: a\ndescription: b\n---\nbody", "---\n---\n", "---\na: |\n b\n---", "---\n: x\n- y\n\"z\": 1\n---\n", "--- \n", "---\na: '\n---\n",
		"---\na: [b, 'c, d', [e]]\nb:\n- x\n- y(1, 2)\n---\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		front, body, err := frontmatter.Split(text)
		if err != nil {
			return
		}
		for _, value := range front {
			frontmatter.Items(value)
		}
		if !strings.HasSuffix(strings.ReplaceAll(text, "\r\n", "\n"), body) {
			t.Errorf("the body %q is no end of %q", body, text)
		}
		if front == nil || len(front) > strings.Count(text, "\n") {
			t.Errorf("%d keys", len(front))
		}
	})
}
