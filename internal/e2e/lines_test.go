//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// Bash and dash read these lines in another way than a parser that looks at less: each has a part that looks like a comment, like a text or like
// the beginning of something else, and makes a file. With a rule for git status outside the sandbox, none makes a file outside; with a rule
// against touch, none makes one inside.
func TestLinesThatAParserReadsInAnotherWay(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a comment that ends in a backslash": "git status # \\\ntouch FILE",
		"a quoted delimiter with a #":        "git status <<'E'# ; touch FILE\nhi\nE",
		"let and a pipe":                     "git status; let x=1|touch FILE",
		"let and the background":             "git status; let x=1&touch FILE",
		"a cut substitution":                 "git status \"$\\\n(touch FILE)\"",
		"a cut one in a here-document":       "git status <<E\n$\\\n(touch FILE)\nE",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			p.env = append(p.env, "PATH="+os.Getenv("PATH"))
			w := wayOf(t, "anthropic")
			inside, outside := filepath.Join(p.dir, "made"), filepath.Join(p.home, "made")
			call := func(file, more string) string {
				text := strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ReplaceAll(line, "FILE", file))
				return `{"command":"` + text + `"` + more + `}`
			}
			srv := w.serve(p, modelserver.Steps(
				modelserver.Call("shell", call(outside, `,"unconfined":true,"reason":"a test"`)),
				modelserver.Call("shell", call(inside, "")),
				modelserver.Say("Done."),
			))
			r := p.tenon("run", "--model", w.ref(), "--mode", "auto", "--allow", "unconfined(git status *)", "--deny", "shell(touch *)", "Go.")
			for _, file := range []string{inside, outside} {
				if _, err := os.Lstat(file); err == nil {
					t.Errorf("%s was made: %+v", file, r)
				}
			}
			if n := len(srv.Requests()); n != 3 {
				t.Errorf("the model was asked %d times: %+v", n, r)
			}
		})
	}
}
