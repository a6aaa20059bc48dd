//go:build unix

package cli

import (
	"os"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// An interrupt ends a request that gets no answer.
func TestModelsTestIsInterrupted(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say("x").Fault(modelserver.StallBeforeHeaders)))
	env := []string{"ANTHROPIC_API_KEY=sk-planted-0123456789", "ANTHROPIC_BASE_URL=" + srv.URL}
	c := start(t, t.TempDir(), env, "models", "test")
	for deadline := time.Now().Add(time.Minute); len(srv.Requests()) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("no request comes")
		}
		<-time.After(time.Millisecond)
	}
	c.signal(os.Interrupt)
	if code, out, told := c.end(); code != command.ExitInterrupted || out != "" || told != "interrupted\n" {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
}
