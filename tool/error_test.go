package tool_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

type paths struct {
	similar []string
	covered string
}

func (p paths) Similar(context.Context, string, int) []string { return p.similar }
func (p paths) Covered(string) string                         { return p.covered }

func TestNotFound(t *testing.T) {
	for want, ws := range map[string]paths{
		`"a" not found`:                         {},
		`"a" not found; did you mean "b", "c"?`: {similar: []string{"b", "c"}},
		`"a" not found: commands and file tools see the /tmp of this session, not that of the machine, which has such a file; ` +
			`the user can list the path in sandbox.readable`: {similar: []string{"b"}, covered: "/tmp"},
	} {
		if err := tool.NotFound(t.Context(), ws, "a", strconv.Quote); err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
