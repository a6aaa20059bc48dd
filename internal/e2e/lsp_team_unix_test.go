//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// A sub-agent in the directory of its owner and one in a worktree see what their edits broke: the worktree has a server of its own, because a
// server reports only about files below its root.
func TestLanguageServersOfSubAgents(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := newRepository(t)
	p.config(fmt.Sprintf(`{"lsp": {"servers": {"fake": {"command": %q, "args": [%q], "files": [".txt"]}}}}`, self, languageServer))
	c := crew{
		"OWNER": {
			modelserver.Say("Two tasks.").Call("agent", `{"task": "SHARED: write", "name": "shared"}`).
				Call("agent", `{"task": "COPIED: write", "name": "copied", "worktree": true}`),
			modelserver.Say("Both are done."),
		},
		"SHARED": {modelserver.Call("write", `{"path": "shared.txt", "content": "bad\n"}`), modelserver.Call("complete", `{"summary": "wrote it"}`)},
		"COPIED": {modelserver.Call("write", `{"path": "copied.txt", "content": "bad\n"}`), modelserver.Call("complete", `{"summary": "wrote it"}`)},
	}
	srv := c.serve(p)
	if r := p.tenon("run", "--model", wayOf(t, "anthropic").ref(), "--mode", "edits", "--allow", "agent", "OWNER: do both"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, name := range []string{"shared.txt", "copied.txt"} {
		found := 0
		for _, r := range srv.Requests() {
			for _, m := range r.Results() {
				found += strings.Count(m.Text(), "fake: 1 problem in "+name+":\n1:1 error: it is bad")
			}
		}
		if found == 0 {
			t.Errorf("no result reports the problem in %s", name)
		}
	}
}
