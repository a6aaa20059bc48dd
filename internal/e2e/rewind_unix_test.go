//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
)

// Undo and redo across a summary, a fork, and a fork of that fork restore the same state to the byte, in the next request and in the
// files.
func TestRewindAndRedoAcrossForks(t *testing.T) {
	t.Parallel()
	p := newStudio(t)
	type state struct {
		view string
		tree map[string]string
	}
	now := func(id string) state { return state{p.view(id), trees.Of(t, p.dir)} }
	same := func(what, id string, s state) {
		t.Helper()
		p.sees(what, id, s.view, s.tree)
	}
	compact := func(id string) { p.must("sessions", "compact", id, "--model", wayOf(t, "anthropic").ref()) }
	fork := func(id string) string { return strings.TrimSpace(p.must("sessions", "fork", id)) }

	a := p.works("", "mkdir d; echo one >a; printf '\\000\\377' >d/b; "+longOutput)
	a1 := now(a)
	p.works(a, "echo two >a; chmod 600 d/b; "+longOutput)
	a2 := now(a)
	p.works(a, "ln -s a link; "+longOutput)
	p.works(a, "echo three >a")
	compact(a)
	p.works(a, "echo four >a; rm -r d")
	a5 := now(a)

	b := fork(a)
	same("a fork", b, a5)
	p.works(b, "mkdir d; echo five >d/b; "+longOutput)
	p.works(b, "rm link; "+longOutput)
	compact(b)
	p.works(b, "mv a z")
	b3 := now(b)

	c := fork(b)
	same("a fork of a fork", c, b3)
	p.works(c, "echo six >d/c")
	c1 := now(c)

	p.must("sessions", "rewind", c, "--turns", "1")
	same("within the fork of the fork", c, b3)
	p.must("redo", c)
	same("and again", c, c1)
	p.must("sessions", "rewind", c, "--turns", "1")

	p.must("sessions", "rewind", b, "--turns", "3")
	same("a fork, behind its summary", b, a5)
	p.must("redo", b)
	same("a fork, again", b, b3)
	p.must("sessions", "rewind", b, "--turns", "3")

	p.must("sessions", "rewind", a, "--turns", "3")
	same("behind a summary", a, a2)
	p.must("sessions", "rewind", a, "--turns", "1")
	same("and further", a, a1)
	p.must("redo", a)
	same("back by one", a, a2)
	p.must("redo", a)
	same("back by all", a, a5)
	p.must("redo", b)
	same("the fork after its origin", b, b3)
	p.must("redo", c)
	same("the fork of the fork after both", c, c1)
	for _, id := range []string{a, b, c} {
		p.works(id, "echo on")
	}
	p.must("sessions", "check")
}
