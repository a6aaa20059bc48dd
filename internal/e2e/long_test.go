package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// TestAStallWithDefaultSettings stalls with nothing set: what every other test shortens. It takes two minutes.
func TestAStallWithDefaultSettings(t *testing.T) {
	if !sample.All() {
		t.Skip("it takes two minutes: set TENON_TEST_ALL=1 to run it")
	}
	for _, w := range ways() {
		for _, c := range []struct {
			fault modelserver.Fault
			after string        // the text about the silence
			twice time.Duration // its time with two stalls, which must not happen
		}{
			{modelserver.StallInStream, "nothing came for 1m0s", 2 * time.Minute},
			{modelserver.StallBeforeHeaders, "no byte of an answer came for 2m0s", 4 * time.Minute},
		} {
			t.Run(w.name+", "+string(c.fault), func(t *testing.T) {
				t.Parallel()
				p := newProject(t)
				srv := w.serve(p, modelserver.Steps(wrong().Fault(c.fault), say()))
				start := time.Now()
				r := p.tenon("run", "--model", w.ref(), "How many keys?")
				took := time.Since(start)
				t.Logf("answered after %.1f s", took.Seconds())
				if r.code != 0 || r.stdout != answer+"\n" || !strings.Contains(r.stderr, c.after) || took >= c.twice {
					t.Errorf("exit code %d after %s, answer %q, says %s", r.code, took, r.stdout, r.stderr)
				}
				if len(srv.Violations()) > 0 || srv.Left() > 0 {
					t.Errorf("violations %v, %d steps left", srv.Violations(), srv.Left())
				}
			})
		}
	}
}
